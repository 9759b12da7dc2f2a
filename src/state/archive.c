/*
 * archive.c
 *		The hours that are over, in a file: what vacuums came to, and what users
 *		did.
 *
 * The file has a header, then one block for each hour, in order of time.  A
 * block has a header, the hour's sums and activity, packed, and a CRC-32C over
 * both.  The header has the system identifier, and each block the timeline, as
 * in ledger_file.c.
 *
 * The launcher alone writes it.  Once an hour it appends a block.  Now and
 * then it writes the file anew, without the hours that are too old.  Anybody
 * reads it, without a lock: a block that is being appended has no good
 * checksum yet and ends the reading, and a file that is replaced is read to
 * its end as it was.
 */
#include "state/archive.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xlog.h"
#include "common/pg_lzcompress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "utils/timestamp.h"

#include "settings.h"
#include "state/block_file.h"

#define ARCHIVE_FILE			PGSTAT_STAT_PERMANENT_DIRECTORY "/pg_sweep.history"
#define ARCHIVE_MAGIC			0x53574853	/* SWHS */
#define ARCHIVE_BLOCK_MAGIC		0x53574842	/* SWHB */
#define ARCHIVE_VERSION			1
#define ARCHIVE_SUMS			(HISTORY_SORTS + ARCHIVE_TABLE_SUMS)
#define ARCHIVE_ENTRIES			(ARCHIVE_TABLES + 1)

typedef struct ArchiveHeader
{
	uint32		magic;
	uint32		version;
	uint32		sum_size;		/* of a HistoryRecord */
	uint32		table_size;		/* of an ActivityHour */
	uint64		system_identifier;
} ArchiveHeader;

typedef struct ArchiveBlock
{
	uint32		magic;
	uint32		size;			/* in bytes, of what follows, without the
								 * checksum */
	uint32		sum_count;
	uint32		table_count;
	TimeLineID	timeline;
	uint32		padding;
	TimestampTz begin;
	TimestampTz since;
	int64		span_us;
	int64		xids;
} ArchiveBlock;

#define LARGEST		(sizeof(HistoryRecord) * ARCHIVE_SUMS + sizeof(ActivityHour) * ARCHIVE_ENTRIES)

static BlockFile archive_file = BLOCK_FILE(ARCHIVE_FILE);
static ArchiveSpan span;		/* of the file */
static ArchiveSpan writing;		/* of the file, when all is written */

TimestampTz
archive_oldest(TimestampTz now)
{
	return now - sweep_history_days * USECS_PER_DAY;
}

/* What follows a block's header, before it is packed. */
static Size
unpacked_size(const ArchiveBlock *block)
{
	return sizeof(HistoryRecord) * block->sum_count + sizeof(ActivityHour) * block->table_count;
}

/* ----
 * Reading
 * ----
 */

typedef struct ArchiveReader
{
	int			file;
	off_t		next;			/* where the next block begins */
	off_t		good_end;		/* of the last good one */
	bool		damaged;		/* one before that is not good */
	TimestampTz last;			/* when the last one begins (0: there is none) */
	ArchiveBlock block;
	char	   *stored;			/* as it is in the file */
	char	   *unpacked;
} ArchiveReader;

static const char *
check_header(int file)
{
	ArchiveHeader header;

	if (read(file, &header, sizeof(header)) != sizeof(header) || header.magic != ARCHIVE_MAGIC)
		return "it is damaged";
	if (header.version != ARCHIVE_VERSION || header.sum_size != sizeof(HistoryRecord) ||
		header.table_size != sizeof(ActivityHour))
		return "it was written by another version";
	if (header.system_identifier != GetSystemIdentifier())
		return "it belongs to another database system";
	return NULL;
}

/* Reads the header of the next block.  There is none where that makes no sense. */
static bool
read_block_header(ArchiveReader *reader)
{
	ArchiveBlock *block = &reader->block;

	return lseek(reader->file, reader->next, SEEK_SET) == reader->next &&
		read(reader->file, block, sizeof(*block)) == sizeof(*block) &&
		block->magic == ARCHIVE_BLOCK_MAGIC &&
		block->sum_count <= ARCHIVE_SUMS && block->table_count <= ARCHIVE_ENTRIES &&
		block->size <= unpacked_size(block);
}

static bool
is_sane(const ArchiveReader *reader)
{
	const HistoryRecord *sums = (const HistoryRecord *) reader->unpacked;

	for (uint32 i = 0; i < reader->block.sum_count; i++)
	{
		if (!history_is_sane(&sums[i]))
			return false;
	}
	return reader->block.begin > reader->last && reader->block.span_us >= 0;
}

/* Reads what follows the block's header, and unpacks it.  Is it whole and sane? */
static bool
read_block(ArchiveReader *reader)
{
	const ArchiveBlock *block = &reader->block;
	Size		size = unpacked_size(block);
	pg_crc32c	stored;

	if (read(reader->file, reader->stored, block->size) != (ssize_t) block->size ||
		read(reader->file, &stored, sizeof(stored)) != sizeof(stored) ||
		!EQ_CRC32C(block_file_crc(block, sizeof(*block), reader->stored, block->size), stored))
		return false;
	if (block->size == size)
		memcpy(reader->unpacked, reader->stored, size);
	else if (pglz_decompress(reader->stored, block->size, reader->unpacked, size, true) != (int32) size)
		return false;
	return is_sane(reader);
}

/* Goes to the next good block that begins at that time or later. */
static bool
next_block(ArchiveReader *reader, TimestampTz since)
{
	while (read_block_header(reader))
	{
		bool		wanted = reader->block.begin >= since;
		bool		good = !wanted || read_block(reader);

		CHECK_FOR_INTERRUPTS();
		reader->next += sizeof(ArchiveBlock) + reader->block.size + sizeof(pg_crc32c);
		if (!good)
			continue;
		/* were there others that are not good? */
		reader->damaged |= reader->good_end + (off_t) (sizeof(ArchiveBlock) + reader->block.size + sizeof(pg_crc32c)) != reader->next;
		reader->good_end = reader->next;
		reader->last = reader->block.begin;
		if (wanted)
			return true;
	}
	return false;
}

/* The block as others see it.  It points into the reader. */
static ArchivedHour
hour_of(ArchiveReader *reader)
{
	const ArchiveBlock *block = &reader->block;
	ArchivedHour hour = {
		.begin = block->begin,
		.since = block->since,
		.span_us = block->span_us,
		.xids = block->xids,
		.sum_count = block->sum_count,
		.table_count = block->table_count,
		.sums = (HistoryRecord *) reader->unpacked,
		.tables = (ActivityHour *) (reader->unpacked + sizeof(HistoryRecord) * block->sum_count),
	};

	return hour;
}

/* false: errno tells. */
static bool
reader_open(ArchiveReader *reader)
{
	memset(reader, 0, sizeof(*reader));
	reader->file = OpenTransientFile(ARCHIVE_FILE, O_RDONLY | PG_BINARY);
	if (reader->file < 0)
		return false;
	reader->next = reader->good_end = sizeof(ArchiveHeader);
	reader->stored = palloc(LARGEST);
	reader->unpacked = palloc(LARGEST);
	return true;
}

/* One that is not there is as an empty one. */
static void
say_not_opened(void)
{
	if (errno != ENOENT)
		ereport(WARNING,
				(errcode_for_file_access(),
				 errmsg("pg_sweep: could not open file \"%s\": %m", ARCHIVE_FILE)));
}

static void
reader_close(ArchiveReader *reader)
{
	CloseTransientFile(reader->file);
	pfree(reader->stored);
	pfree(reader->unpacked);
}

void
archive_read(TimestampTz since, ArchiveVisit visit, void *arg)
{
	ArchiveReader reader;

	/* what a base backup brought is about the primary */
	if (RecoveryInProgress())
		return;
	if (!reader_open(&reader))
	{
		say_not_opened();
		return;
	}
	if (check_header(reader.file) == NULL)
	{
		while (next_block(&reader, since))
		{
			ArchivedHour hour = hour_of(&reader);

			visit(&hour, arg);
		}
	}
	reader_close(&reader);
}

/* ----
 * Looking at the file, at the launcher's start
 * ----
 */

static void
span_add(ArchiveSpan *to, TimestampTz begin)
{
	if (to->count++ == 0)
		to->first = begin;
	to->last = begin;
}

static void
set_aside(const char *reason)
{
	block_file_set_aside(&archive_file, archive_file.bad_path, reason, "hours are remembered from now on");
}

/* Why the file cannot be taken, or NULL. */
static const char *
check_blocks(ArchiveReader *reader)
{
	while (next_block(reader, PG_INT64_MIN))
	{
		if (reader->block.timeline > GetWALInsertionTimeLine())
			return "it belongs to another timeline";
		span_add(&span, reader->block.begin);
	}
	return NULL;
}

void
archive_load(void)
{
	ArchiveReader reader;
	const char *reason;
	struct stat st;

	memset(&span, 0, sizeof(span));
	archive_file.good_end = -1;
	if (!reader_open(&reader))
	{
		say_not_opened();
		return;
	}
	reason = fstat(reader.file, &st) != 0 || !S_ISREG(st.st_mode) ? "it is damaged" :
		check_header(reader.file);
	if (reason == NULL)
		reason = check_blocks(&reader);
	reader_close(&reader);

	if (reason != NULL)
	{
		memset(&span, 0, sizeof(span));
		set_aside(reason);
		return;
	}
	if (reader.good_end == st.st_size && !reader.damaged)
	{
		archive_file.good_end = reader.good_end;
		return;
	}
	if (reader.damaged)
		ereport(WARNING,
				(errmsg("pg_sweep: some hours in file \"%s\" are damaged", ARCHIVE_FILE),
				 errdetail("They are left out; the %d other hours are kept.", span.count)));
	if (reader.good_end < st.st_size)
		ereport(WARNING,
				(errmsg("pg_sweep: the last %lld bytes of file \"%s\" are damaged",
						(long long) (st.st_size - reader.good_end), ARCHIVE_FILE),
				 errdetail("They are cut off; the %d hours before them are kept.", span.count)));
}

const ArchiveSpan *
archive_span(void)
{
	return archive_file.fd >= 0 ? &writing : &span;
}

typedef struct BeginList
{
	TimestampTz *begins;
	int			count;
	int			room;
} BeginList;

static void
note_begin(const ArchivedHour *hour, void *arg)
{
	BeginList  *list = arg;

	if (list->count == list->room)
		list->begins = repalloc(list->begins, sizeof(TimestampTz) * (list->room *= 2));
	list->begins[list->count++] = hour->begin;
}

TimestampTz *
archive_begins(int *count)
{
	BeginList	list = {.room = 1024};

	list.begins = palloc(sizeof(TimestampTz) * list.room);
	archive_read(PG_INT64_MIN, note_begin, &list);
	*count = list.count;
	return list.begins;
}

/* ----
 * Writing
 * ----
 */

static bool
write_block(ArchiveBlock *block, const char *stored)
{
	pg_crc32c	crc = block_file_crc(block, sizeof(*block), stored, block->size);

	span_add(&writing, block->begin);
	return block_file_write(&archive_file, block, sizeof(*block)) &&
		block_file_write(&archive_file, stored, block->size) &&
		block_file_write(&archive_file, &crc, sizeof(crc));
}

bool
archive_add(const ArchivedHour *hour)
{
	ArchiveBlock block = {0};
	Size		sums = sizeof(HistoryRecord) * hour->sum_count;
	Size		tables = sizeof(ActivityHour) * hour->table_count;
	char	   *data = palloc(LARGEST);
	char	   *packed = palloc(PGLZ_MAX_OUTPUT(LARGEST));
	int32		size;
	bool		ok;

	Assert(hour->sum_count <= ARCHIVE_SUMS && hour->table_count <= ARCHIVE_ENTRIES);
	Assert(hour->begin > writing.last || writing.count == 0);
	block.magic = ARCHIVE_BLOCK_MAGIC;
	block.sum_count = hour->sum_count;
	block.table_count = hour->table_count;
	block.timeline = GetWALInsertionTimeLine();
	block.begin = hour->begin;
	block.since = hour->since;
	block.span_us = hour->span_us;
	block.xids = hour->xids;
	if (sums > 0)
		memcpy(data, hour->sums, sums);
	if (tables > 0)
		memcpy(data + sums, hour->tables, tables);
	size = pglz_compress(data, sums + tables, packed, PGLZ_strategy_always);
	block.size = size < 0 || size >= sums + tables ? sums + tables : size;
	ok = write_block(&block, block.size == sums + tables ? data : packed);
	pfree(data);
	pfree(packed);
	return ok;
}

/* The block with the change, which it needs to be unpacked for. */
static bool
add_changed(ArchiveReader *reader, const ArchiveChange *change)
{
	ArchivedHour hour = hour_of(reader);
	HistoryRecord *sums = (HistoryRecord *) reader->unpacked;
	ActivityHour *tables = (ActivityHour *) (reader->unpacked + sizeof(HistoryRecord) * hour.sum_count);

	if (hour.begin < change->forget_before)
		hour.sum_count = 0;
	if (change->move_us != 0 && hour.begin >= change->move_from)
	{
		/* the hour in which the clock was set forward is there twice */
		hour.begin = Max(hour.begin - change->move_us, writing.last + 1);
		if (hour.since != 0)
			hour.since -= change->move_us;
		for (int i = 0; i < hour.sum_count; i++)
		{
			sums[i].sum.begin = hour.begin;
			if (sums[i].sum.last_at != 0)
				sums[i].sum.last_at -= change->move_us;
		}
		for (int i = 0; i < hour.table_count; i++)
			tables[i].begin = hour.begin;
	}
	return archive_add(&hour);
}

/* Takes over what the file has, with the change.  What cannot be read is not overwritten. */
static bool
copy_blocks(const ArchiveChange *change)
{
	ArchiveReader reader;
	const char *reason;
	bool		ok = true;

	if (!reader_open(&reader))
		return errno == ENOENT;
	reason = check_header(reader.file);
	if (reason != NULL)
		set_aside(reason);
	while (reason == NULL && ok && next_block(&reader, change->expire_before))
	{
		TimestampTz begin = reader.block.begin;

		ok = begin < change->forget_before || (change->move_us != 0 && begin >= change->move_from) ?
			add_changed(&reader, change) : write_block(&reader.block, reader.stored);
	}
	reader_close(&reader);
	return ok;
}

bool
archive_begin(const ArchiveChange *change)
{
	static const ArchiveChange none = {0};
	ArchiveHeader header = {0};

	writing = span;
	if (change == NULL && block_file_can_append(&archive_file) &&
		block_file_begin(&archive_file, false))
		return true;

	memset(&writing, 0, sizeof(writing));
	if (!block_file_begin(&archive_file, true))
		return false;
	header.magic = ARCHIVE_MAGIC;
	header.version = ARCHIVE_VERSION;
	header.sum_size = sizeof(HistoryRecord);
	header.table_size = sizeof(ActivityHour);
	header.system_identifier = GetSystemIdentifier();
	if (block_file_write(&archive_file, &header, sizeof(header)) &&
		copy_blocks(change ? change : &none))
		return true;
	return archive_end(false);
}

bool
archive_end(bool ok)
{
	ok = block_file_end(&archive_file, ok);
	if (ok)
		span = writing;
	return ok;
}

void
archive_abandon(void)
{
	if (archive_file.fd >= 0)
		(void) archive_end(false);
}
