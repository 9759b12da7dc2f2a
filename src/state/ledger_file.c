/*
 * ledger_file.c
 *		Reads and writes the ledger's file.  Launcher only.
 *
 * The file has a header, then blocks.  The first blocks have a few sums of
 * the history each, the later ones a few runs each.  Each block also has what
 * else is kept, and a CRC-32C over both.  What is new is appended as one
 * block more and flushed.  A crash may leave a last block that is not whole,
 * which is cut off when the file is read.  Now and then the file is written
 * anew.  It is written to a temporary name, flushed and renamed durably, so a
 * crash leaves the old file or the new one.
 *
 * The header carries the system identifier, so that the file of another
 * cluster is not taken for ours.  Each block carries the timeline.  One
 * beyond our own comes from another history of this cluster (a restore to an
 * earlier point), while an older one is ours before a promotion.
 */
#include "state/ledger_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "access/xlog.h"
#include "common/file_utils.h"
#include "lib/qunique.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/pg_crc32c.h"
#include "storage/fd.h"
#include "utils/wait_event.h"

#include "state/history.h"

#define LEDGER_FILE				PGSTAT_STAT_PERMANENT_DIRECTORY "/pg_sweep.runs"
#define LEDGER_FILE_TMP			LEDGER_FILE ".tmp"
#define LEDGER_FILE_BAD			LEDGER_FILE ".bad"
#define LEDGER_FILE_MAGIC		0x53574550	/* SWEP */
#define LEDGER_BLOCK_MAGIC		0x53574242	/* SWBB */
#define LEDGER_FILE_VERSION		6
#define LEDGER_FILE_RUNS_LIMIT	INT64CONST(10000000)

typedef struct LedgerFileHeader
{
	uint32		magic;
	uint32		version;
	uint32		record_size;	/* of a run */
	uint32		sum_size;		/* of a HistoryRecord */
	uint64		system_identifier;
} LedgerFileHeader;

typedef enum LedgerBlockKind
{
	BLOCK_RUNS,
	BLOCK_SUMS,
	BLOCK_KIND_COUNT
} LedgerBlockKind;

static const struct
{
	Size		size;
	uint32		limit;
}			blocks[] = {
	[BLOCK_RUNS] = {sizeof(RunRecord), LEDGER_FILE_BLOCK},
	[BLOCK_SUMS] = {sizeof(HistoryRecord), LEDGER_FILE_SUMS},
};

typedef struct LedgerBlockHeader
{
	uint32		magic;
	uint32		count;
	TimeLineID	timeline;
	uint32		kind;			/* LedgerBlockKind */
	LedgerFileRest rest;
} LedgerBlockHeader;

/* Up to here the file is known to be good, or -1: it must be written anew. */
static off_t good_end = -1;

/* What is being written. */
static int	fd = -1;
static bool writing_anew;
static off_t writing_end;

static off_t
block_size(LedgerBlockKind kind, int64 count)
{
	return sizeof(LedgerBlockHeader) + (off_t) blocks[kind].size * count + sizeof(pg_crc32c);
}

static pg_crc32c
block_crc(const LedgerBlockHeader *header, const void *records)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, header, sizeof(*header));
	COMP_CRC32C(crc, records, blocks[header->kind].size * header->count);
	FIN_CRC32C(crc);
	return crc;
}

/* ----
 * Reading
 * ----
 */

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

static bool
record_is_whole(LedgerBlockKind kind, const void *record, const LedgerFileRest *rest)
{
	const RunRecord *run = record;

	if (kind == BLOCK_SUMS)
		return history_is_sane(record);
	return record_is_sane(run) && run->run_id < rest->next_run_id;
}

/*
 * Reads one block.  room[kind] tells how many records of that kind still fit.
 * Is the block whole and sane?
 */
static bool
read_block(int file, LedgerBlockHeader *header, char *const to[], const int64 room[])
{
	const LedgerFileRest *rest = &header->rest;
	pg_crc32c	stored;
	Size		size;
	char	   *records;

	if (read(file, header, sizeof(*header)) != sizeof(*header) ||
		header->magic != LEDGER_BLOCK_MAGIC || header->kind >= BLOCK_KIND_COUNT ||
		header->count > blocks[header->kind].limit || header->count > room[header->kind])
		return false;
	size = blocks[header->kind].size * header->count;
	records = to[header->kind];
	if (read(file, records, size) != (ssize_t) size ||
		read(file, &stored, sizeof(stored)) != sizeof(stored) ||
		!EQ_CRC32C(block_crc(header, records), stored) ||
		rest->next_run_id < 1 || rest->held_until < 0 || rest->complete_since < 0 ||
		rest->counted_run_id < 0 || rest->counted_run_id > rest->next_run_id)
		return false;
	for (uint32 i = 0; i < header->count; i++)
	{
		if (!record_is_whole(header->kind, records + i * blocks[header->kind].size, rest))
			return false;
	}
	return true;
}

static const char *
check_header(int file)
{
	LedgerFileHeader header;

	if (read(file, &header, sizeof(header)) != sizeof(header) ||
		header.magic != LEDGER_FILE_MAGIC)
		return "it is damaged";
	if (header.version != LEDGER_FILE_VERSION || header.record_size != sizeof(RunRecord) ||
		header.sum_size != sizeof(HistoryRecord))
		return "it was written by another version";
	if (header.system_identifier != GetSystemIdentifier())
		return "it belongs to another database system";
	return NULL;
}

static void *
room_for(Size size, int64 count)
{
	return palloc_extended(Max(size * (Size) count, 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
}

/*
 * Why the file cannot be taken, or NULL and the records, in the order in which
 * they were written.  end: so far it is good.
 */
static const char *
read_and_check(int file, off_t size, LedgerFileContents *contents, off_t *end)
{
	const char *reason = check_header(file);
	int64		room[BLOCK_KIND_COUNT];
	char	   *to[BLOCK_KIND_COUNT];
	bool		some = false;

	if (reason != NULL)
		return reason;
	for (int kind = 0; kind < BLOCK_KIND_COUNT; kind++)
		room[kind] = (int64) (size / blocks[kind].size);
	if (room[BLOCK_RUNS] > LEDGER_FILE_RUNS_LIMIT)
		return "it is damaged";
	contents->runs = room_for(sizeof(RunRecord), room[BLOCK_RUNS]);
	contents->sums = room_for(sizeof(HistoryRecord), room[BLOCK_SUMS]);
	if (contents->runs == NULL || contents->sums == NULL)
		return "it is larger than the memory";
	to[BLOCK_RUNS] = (char *) contents->runs;
	to[BLOCK_SUMS] = (char *) contents->sums;

	*end = sizeof(LedgerFileHeader);
	while (*end < size)
	{
		LedgerBlockHeader header;

		CHECK_FOR_INTERRUPTS();
		if (!read_block(file, &header, to, room))
			break;
		if (header.timeline > GetWALInsertionTimeLine())
			return "it belongs to another timeline";
		*end += block_size(header.kind, header.count);
		to[header.kind] += blocks[header.kind].size * header.count;
		room[header.kind] -= header.count;
		some |= header.kind == BLOCK_RUNS;
		contents->rest = header.rest;
	}
	contents->run_count = (int) ((RunRecord *) to[BLOCK_RUNS] - contents->runs);
	contents->sum_count = (int) ((HistoryRecord *) to[BLOCK_SUMS] - contents->sums);
	/* behind all sums is at least one block of runs, which may hold none */
	return some ? NULL : "it is damaged";
}

static int
newer_first(const void *a, const void *b)
{
	int64		x = ((const RunRecord *) a)->run_id;
	int64		y = ((const RunRecord *) b)->run_id;

	return x < y ? 1 : (x > y ? -1 : 0);
}

static void
nothing(LedgerFileContents *contents)
{
	memset(contents, 0, sizeof(*contents));
	contents->rest.next_run_id = 1;
}

void
ledger_file_read(LedgerFileContents *contents)
{
	const char *reason;
	struct stat st;
	off_t		end = 0;
	int			file;

	nothing(contents);
	good_end = -1;
	file = OpenTransientFile(LEDGER_FILE, O_RDONLY | PG_BINARY);
	if (file < 0)
	{
		if (errno != ENOENT)
			ereport(WARNING,
					(errcode_for_file_access(),
					 errmsg("pg_sweep: could not open file \"%s\": %m", LEDGER_FILE)));
		return;
	}

	reason = fstat(file, &st) != 0 ? "it is damaged" :
		read_and_check(file, st.st_size, contents, &end);
	CloseTransientFile(file);
	if (reason == NULL)
	{
		int			count = contents->run_count;

		qsort(contents->runs, count, sizeof(RunRecord), newer_first);
		count = (int) qunique(contents->runs, count, sizeof(RunRecord), newer_first);
		contents->run_count = count;
		if (end < st.st_size)
			ereport(WARNING,
					(errmsg("pg_sweep: the last %lld bytes of file \"%s\" are damaged",
							(long long) (st.st_size - end), LEDGER_FILE),
					 errdetail("They are cut off; the %d runs before them are kept.", count)));
		else
			good_end = end;
		return;
	}

	if (contents->runs)
		pfree(contents->runs);
	if (contents->sums)
		pfree(contents->sums);
	nothing(contents);
	set_aside(reason);
}

/* ----
 * Writing
 * ----
 */

/* write() that says ENOSPC where it wrote less than asked for. */
static bool
write_all(const void *data, Size size)
{
	errno = 0;
	if (write(fd, data, size) == (ssize_t) size)
	{
		writing_end += size;
		return true;
	}
	if (errno == 0)
		errno = ENOSPC;
	return false;
}

bool
ledger_file_can_append(void)
{
	struct stat st;

	return good_end >= 0 && stat(LEDGER_FILE, &st) == 0 && S_ISREG(st.st_mode) &&
		st.st_size == good_end;
}

bool
ledger_file_begin(bool anew)
{
	LedgerFileHeader header = {0};

	writing_anew = anew;
	writing_end = anew ? 0 : good_end;
	if (!anew)
	{
		fd = OpenTransientFile(LEDGER_FILE, O_WRONLY | O_APPEND | PG_BINARY);
		return fd >= 0;
	}

	fd = OpenTransientFile(LEDGER_FILE_TMP, O_CREAT | O_TRUNC | O_WRONLY | PG_BINARY);
	if (fd < 0)
		return false;
	header.magic = LEDGER_FILE_MAGIC;
	header.version = LEDGER_FILE_VERSION;
	header.record_size = sizeof(RunRecord);
	header.sum_size = sizeof(HistoryRecord);
	header.system_identifier = GetSystemIdentifier();
	if (write_all(&header, sizeof(header)))
		return true;
	return ledger_file_end(false);
}

static bool
write_block(LedgerBlockKind kind, const void *records, int count, const LedgerFileRest *rest)
{
	LedgerBlockHeader header = {0};
	pg_crc32c	crc;

	Assert(count <= blocks[kind].limit);
	header.magic = LEDGER_BLOCK_MAGIC;
	header.count = count;
	header.timeline = GetWALInsertionTimeLine();
	header.kind = kind;
	header.rest = *rest;
	crc = block_crc(&header, records);
	return write_all(&header, sizeof(header)) &&
		write_all(records, blocks[kind].size * (Size) count) &&
		write_all(&crc, sizeof(crc));
}

bool
ledger_file_write(const RunRecord *runs, int count, const LedgerFileRest *rest)
{
	return write_block(BLOCK_RUNS, runs, count, rest);
}

bool
ledger_file_write_sums(const HistoryRecord *sums, int count, const LedgerFileRest *rest)
{
	return write_block(BLOCK_SUMS, sums, count, rest);
}

bool
ledger_file_end(bool ok)
{
	int			save_errno = errno;

	if (ok && pg_fsync(fd) != 0)
	{
		ok = false;
		save_errno = errno;
	}
	/* what was not written whole is taken back, or the file is written anew */
	if (!ok && !writing_anew && ftruncate(fd, good_end) != 0)
		good_end = -1;
	if (CloseTransientFile(fd) != 0 && ok)
	{
		ok = false;
		save_errno = errno;
		good_end = writing_anew ? good_end : -1;
	}
	fd = -1;
	if (ok && writing_anew && durable_rename(LEDGER_FILE_TMP, LEDGER_FILE, LOG) != 0)
	{
		ok = false;
		save_errno = errno;
	}
	if (ok)
		good_end = writing_end;
	else if (writing_anew)
		(void) unlink(LEDGER_FILE_TMP);
	errno = save_errno;
	return ok;
}

int64
ledger_file_size(void)
{
	return Max(good_end, 0);
}

int64
ledger_file_size_of(int64 runs, int64 sums)
{
	return sizeof(LedgerFileHeader) +
		block_size(BLOCK_RUNS, 0) * (runs / LEDGER_FILE_BLOCK + 1) + (int64) sizeof(RunRecord) * runs +
		block_size(BLOCK_SUMS, 0) * (sums / LEDGER_FILE_SUMS + 1) + (int64) sizeof(HistoryRecord) * sums;
}
