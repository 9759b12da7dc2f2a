/*
 * ledger_file.c
 *		Reads and writes the ledger's file.  Launcher only.
 *
 * The file has a header, then blocks.  The first blocks have a few sums of
 * the history each, the later ones a few runs each.  Each block also has what
 * else is kept, and a CRC-32C over both.  What is new is appended as one
 * block more.  Now and then the file is written anew.  block_file.c says how
 * either survives a crash.
 *
 * The header carries the system identifier, so that the file of another
 * cluster is not taken for ours.  Each block carries the timeline.  One
 * beyond our own comes from another history of this cluster (a restore to an
 * earlier point), while an older one is ours before a promotion.
 *
 * A file in the format of another version is set aside under the number of
 * that format.  A library that has it takes the file again, so that going back
 * to an older library brings the older runs back.
 */
#include "state/ledger_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "access/xlog.h"
#include "lib/qunique.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "utils/wait_event.h"

#include "state/block_file.h"
#include "state/history.h"

#define LEDGER_FILE				PGSTAT_STAT_PERMANENT_DIRECTORY "/pg_sweep.runs"
#define LEDGER_FILE_MAGIC		0x53574550	/* SWEP */
#define LEDGER_BLOCK_MAGIC		0x53574242	/* SWBB */
#define LEDGER_FILE_VERSION		6
/* where a library of another version has put it */
#define LEDGER_FILE_OURS		LEDGER_FILE "." CppAsString2(LEDGER_FILE_VERSION)
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

static BlockFile ledger_file = BLOCK_FILE(LEDGER_FILE);

static off_t
block_size(LedgerBlockKind kind, int64 count)
{
	return sizeof(LedgerBlockHeader) + (off_t) blocks[kind].size * count + sizeof(pg_crc32c);
}

static pg_crc32c
block_crc(const LedgerBlockHeader *header, const void *records)
{
	return block_file_crc(header, sizeof(*header), records,
						  blocks[header->kind].size * header->count);
}

/* ----
 * Reading
 * ----
 */

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

/* version: that of a format which is not ours, else 0 */
static const char *
check_header(int file, uint32 *version)
{
	LedgerFileHeader header;

	*version = 0;
	if (read(file, &header, sizeof(header)) != sizeof(header) ||
		header.magic != LEDGER_FILE_MAGIC)
		return "it is damaged";
	if (header.version != LEDGER_FILE_VERSION)
		*version = header.version;
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
 * they were written.  end: so far it is good.  version: see check_header().
 */
static const char *
read_and_check(int file, off_t size, LedgerFileContents *contents, off_t *end, uint32 *version)
{
	const char *reason = check_header(file, version);
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

static void
read_file(LedgerFileContents *contents)
{
	const char *reason;
	struct stat st;
	off_t		end = 0;
	uint32		version = 0;
	char		name[MAXPGPATH];
	int			file;

	nothing(contents);
	ledger_file.good_end = -1;
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
		read_and_check(file, st.st_size, contents, &end, &version);
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
			ledger_file.good_end = end;
		return;
	}

	if (contents->runs)
		pfree(contents->runs);
	if (contents->sums)
		pfree(contents->sums);
	nothing(contents);
	snprintf(name, sizeof(name), "%s.%u", LEDGER_FILE, version);
	block_file_set_aside(&ledger_file, version != 0 ? name : ledger_file.bad_path, reason,
						 "finished runs are remembered from now on");
}

void
ledger_file_read(LedgerFileContents *contents)
{
	struct stat st;

	read_file(contents);
	if (contents->runs != NULL || lstat(LEDGER_FILE, &st) == 0 ||
		rename(LEDGER_FILE_OURS, LEDGER_FILE) != 0)
		return;
	ereport(LOG,
			(errmsg("pg_sweep: file \"%s\" is used again", LEDGER_FILE_OURS),
			 errdetail("A library of another version had set it aside; runs that ended since are not in it.")));
	read_file(contents);
	/* something is missing at its end, so it is like one that was cut off */
	ledger_file.good_end = -1;
}

/* ----
 * Writing
 * ----
 */

bool
ledger_file_can_append(void)
{
	return block_file_can_append(&ledger_file);
}

bool
ledger_file_begin(bool anew)
{
	LedgerFileHeader header = {0};

	if (!block_file_begin(&ledger_file, anew))
		return false;
	if (!anew)
		return true;
	header.magic = LEDGER_FILE_MAGIC;
	header.version = LEDGER_FILE_VERSION;
	header.record_size = sizeof(RunRecord);
	header.sum_size = sizeof(HistoryRecord);
	header.system_identifier = GetSystemIdentifier();
	if (block_file_write(&ledger_file, &header, sizeof(header)))
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
	return block_file_write(&ledger_file, &header, sizeof(header)) &&
		block_file_write(&ledger_file, records, blocks[kind].size * (Size) count) &&
		block_file_write(&ledger_file, &crc, sizeof(crc));
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
	return block_file_end(&ledger_file, ok);
}

int64
ledger_file_size(void)
{
	return Max(ledger_file.good_end, 0);
}

int64
ledger_file_size_of(int64 runs, int64 sums)
{
	return sizeof(LedgerFileHeader) +
		block_size(BLOCK_RUNS, 0) * (runs / LEDGER_FILE_BLOCK + 1) + (int64) sizeof(RunRecord) * runs +
		block_size(BLOCK_SUMS, 0) * (sums / LEDGER_FILE_SUMS + 1) + (int64) sizeof(HistoryRecord) * sums;
}
