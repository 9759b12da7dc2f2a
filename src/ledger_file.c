/*
 * ledger_file.c
 *		Reads and writes the ledger's file.  Launcher only.
 *
 * A header, the records, a CRC-32C over both.  The header carries the system
 * identifier, so that the file of another cluster is not taken for ours, and
 * the timeline: one beyond our own comes from another history of this cluster
 * (a restore to an earlier point), while an older one is ours before a
 * promotion.  Written to a temporary name, flushed and renamed durably, so a
 * crash leaves the old file or the new one.
 */
#include "ledger_file.h"

#include <unistd.h>

#include "access/xlog.h"
#include "common/file_utils.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/pg_crc32c.h"
#include "storage/fd.h"
#include "utils/wait_event.h"

#define LEDGER_FILE				PGSTAT_STAT_PERMANENT_DIRECTORY "/pg_sweep.runs"
#define LEDGER_FILE_TMP			LEDGER_FILE ".tmp"
#define LEDGER_FILE_BAD			LEDGER_FILE ".bad"
#define LEDGER_FILE_MAGIC		0x53574550	/* SWEP */
#define LEDGER_FILE_VERSION		3
#define LEDGER_FILE_RUNS_LIMIT	4000000

typedef struct LedgerFileHeader
{
	uint32		magic;
	uint32		version;
	uint32		record_size;
	uint32		count;
	uint64		system_identifier;
	TimeLineID	timeline;
	uint32		unused;
	LedgerFileRest rest;
} LedgerFileHeader;

static void
set_aside(const char *reason)
{
	ereport(WARNING,
			(errmsg("pg_sweep: file \"%s\" is not used: %s", LEDGER_FILE, reason),
			 errdetail("It is set aside as \"%s\"; finished runs are remembered from now on.",
					   LEDGER_FILE_BAD)));
	if (rename(LEDGER_FILE, LEDGER_FILE_BAD) != 0)
		ereport(WARNING,
				(errcode_for_file_access(),
				 errmsg("pg_sweep: could not rename file \"%s\": %m", LEDGER_FILE)));
}

/* A string that is not terminated would be read beyond its end. */
static bool
record_is_sane(const RunRecord *run)
{
	return run->run_id > 0 &&
		run->command > RUN_NONE && run->command < RUN_COMMAND_COUNT &&
		run->starter < RUN_STARTER_COUNT &&
		run->mode < RUN_MODE_COUNT &&
		run->outcome < RUN_OUTCOME_COUNT &&
		run->ended_at >= run->started_at &&
		memchr(run->schemaname, '\0', sizeof(run->schemaname)) &&
		memchr(run->relname, '\0', sizeof(run->relname)) &&
		memchr(run->reason, '\0', sizeof(run->reason));
}

/* Why the file cannot be taken, or NULL and the records. */
static const char *
read_and_check(int fd, RunRecord **runs, int *count, LedgerFileRest *rest)
{
	LedgerFileHeader header;
	pg_crc32c	crc;
	pg_crc32c	stored;
	Size		size;

	if (read(fd, &header, sizeof(header)) != sizeof(header) ||
		header.magic != LEDGER_FILE_MAGIC)
		return "it is damaged";
	if (header.version != LEDGER_FILE_VERSION || header.record_size != sizeof(RunRecord))
		return "it was written by another version";
	if (header.count > LEDGER_FILE_RUNS_LIMIT || header.rest.next_run_id < 1 ||
		header.rest.held_until < 0)
		return "it is damaged";

	size = sizeof(RunRecord) * (Size) header.count;
	*runs = palloc_extended(Max(size, 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
	if (*runs == NULL)
		return "it is larger than the memory";
	if (read(fd, *runs, size) != (ssize_t) size ||
		read(fd, &stored, sizeof(stored)) != sizeof(stored))
		return "it is damaged";

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, &header, sizeof(header));
	COMP_CRC32C(crc, *runs, size);
	FIN_CRC32C(crc);
	if (!EQ_CRC32C(crc, stored))
		return "it is damaged";

	if (header.system_identifier != GetSystemIdentifier())
		return "it belongs to another database system";
	if (header.timeline > GetWALInsertionTimeLine())
		return "it belongs to another timeline";

	for (uint32 i = 0; i < header.count; i++)
	{
		if (!record_is_sane(&(*runs)[i]) || (*runs)[i].run_id >= header.rest.next_run_id)
			return "it is damaged";
	}
	*count = (int) header.count;
	*rest = header.rest;
	return NULL;
}

RunRecord *
ledger_file_read(int *count, LedgerFileRest *rest)
{
	RunRecord  *runs = NULL;
	const char *reason;
	int			fd;

	*count = 0;
	memset(rest, 0, sizeof(*rest));
	rest->next_run_id = 1;
	fd = OpenTransientFile(LEDGER_FILE, O_RDONLY | PG_BINARY);
	if (fd < 0)
	{
		if (errno != ENOENT)
			ereport(WARNING,
					(errcode_for_file_access(),
					 errmsg("pg_sweep: could not open file \"%s\": %m", LEDGER_FILE)));
		return NULL;
	}

	reason = read_and_check(fd, &runs, count, rest);
	CloseTransientFile(fd);
	if (reason == NULL)
		return runs;

	if (runs)
		pfree(runs);
	*count = 0;
	set_aside(reason);
	return NULL;
}

/* write() that says ENOSPC where it wrote less than asked for. */
static bool
write_all(int fd, const void *data, Size size)
{
	errno = 0;
	if (write(fd, data, size) == (ssize_t) size)
		return true;
	if (errno == 0)
		errno = ENOSPC;
	return false;
}

static bool
write_contents(int fd, const RunRecord *runs, int count, const LedgerFileRest *rest)
{
	LedgerFileHeader header = {0};
	pg_crc32c	crc;

	header.magic = LEDGER_FILE_MAGIC;
	header.version = LEDGER_FILE_VERSION;
	header.record_size = sizeof(RunRecord);
	header.count = count;
	header.system_identifier = GetSystemIdentifier();
	header.timeline = GetWALInsertionTimeLine();
	header.rest = *rest;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, &header, sizeof(header));
	COMP_CRC32C(crc, runs, sizeof(RunRecord) * (Size) count);
	FIN_CRC32C(crc);
	return write_all(fd, &header, sizeof(header)) &&
		write_all(fd, runs, sizeof(RunRecord) * (Size) count) &&
		write_all(fd, &crc, sizeof(crc)) &&
		pg_fsync(fd) == 0;
}

bool
ledger_file_write(const RunRecord *runs, int count, const LedgerFileRest *rest)
{
	int			fd;
	int			save_errno;
	bool		ok;

	fd = OpenTransientFile(LEDGER_FILE_TMP, O_CREAT | O_TRUNC | O_WRONLY | PG_BINARY);
	if (fd < 0)
		return false;

	ok = write_contents(fd, runs, count, rest);
	save_errno = errno;
	if (CloseTransientFile(fd) != 0 && ok)
	{
		ok = false;
		save_errno = errno;
	}
	if (ok && durable_rename(LEDGER_FILE_TMP, LEDGER_FILE, LOG) != 0)
	{
		ok = false;
		save_errno = errno;
	}
	if (!ok)
	{
		(void) unlink(LEDGER_FILE_TMP);
		errno = save_errno;
	}
	return ok;
}
