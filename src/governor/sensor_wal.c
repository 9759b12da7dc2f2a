/*
 * sensor_wal.c
 *		How fast WAL is written, and whether there is room for it.
 *
 * It tells whether WAL is archived, whether its file system runs full, and
 * how much more the slots may keep.
 */
#include "postgres.h"

#include <sys/statvfs.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "miscadmin.h"
#include "replication/slot.h"
#include "storage/lwlock.h"
#include "utils/pgstat_internal.h"
#include "utils/timestamp.h"

#include "governor/sensors.h"
#include "server/compat.h"

/* Between two steps.  A shorter step repeats the last answer. */
#define SHORTEST_STEP_MS	20.0

static XLogRecPtr before;
static TimestampTz before_at = 0;
static double bytes_per_s = 0;

/*
 * The segment that was archived last, by name.  What the archiver did before
 * the statistics were lost is not known.  Then only what has been written
 * since the first step counts as not archived.
 */
static XLogSegNo archived = 0;
static TimestampTz archive_known_at = 0;

/* of the last step, for one in which the lock is taken */
static double slot_left_bytes = -1;
static char slot_name[NAMEDATALEN];

static void
measure_rate(XLogRecPtr end, TimestampTz now)
{
	double		ms = (double) (now - before_at) / 1000;

	if (before_at != 0 && ms >= 0 && ms < SHORTEST_STEP_MS)
		return;
	if (before_at != 0 && ms > 0 && ms <= SENSOR_STALE_MS && end >= before)
		bytes_per_s = (double) (end - before) * 1000 / ms;
	else
		bytes_per_s = 0;
	before = end;
	before_at = now;
}

/* The segment of a file that was archived.  A .backup belongs to it, too. */
static bool
segment_of(const char *name, XLogSegNo *segment)
{
	char		file[XLOG_FNAME_LEN + 1];
	TimeLineID	timeline;

	strlcpy(file, name, sizeof(file));
	if (!IsXLogFileName(file))
		return false;
	XLogFromFileName(file, &timeline, segment, wal_segment_size);
	return true;
}

/*
 * The statistics themselves, not pg_stat_archiver: a reset of the view does not
 * archive anything.
 */
static void
look_at_archiver(WalReading *out, XLogRecPtr end, TimestampTz now)
{
	PgStatShared_Archiver *shared = &pgStatLocal.shmem->archiver;
	PgStat_ArchiverStats stats;
	XLogSegNo	current;
	XLogSegNo	segment;

	if (!XLogArchivingActive())
	{
		archive_known_at = 0;
		return;
	}
	XLByteToSeg(end, current, wal_segment_size);
	if (archive_known_at == 0)
	{
		archived = current > 0 ? current - 1 : 0;
		archive_known_at = now;
	}
	pgstat_copy_changecounted_stats(&stats, &shared->stats, sizeof(stats), &shared->changecount);
	if (segment_of(stats.last_archived_wal, &segment) && segment <= current)
		archived = segment;
	out->archiver_behind_bytes = current > archived + 1 ?
		(double) (current - archived - 1) * wal_segment_size : 0;
	out->archiver_failing = stats.last_failed_timestamp > stats.last_archived_timestamp;
	if (out->archiver_failing)
		snprintf(out->why, sizeof(out->why), "archiving of WAL file \"%s\" fails", stats.last_failed_wal);
}

/* As df counts it: what is kept for root is not there for the server. */
static bool
look_at_file_system(WalReading *out)
{
	char		path[MAXPGPATH];
	struct statvfs fs;
	double		used;

	snprintf(path, sizeof(path), "%s/pg_wal", DataDir);
	if (statvfs(path, &fs) != 0)
	{
		snprintf(out->why, sizeof(out->why), "the file system of pg_wal: %s", strerror(errno));
		return false;
	}
	used = (double) fs.f_blocks - (double) fs.f_bfree;
	if (used + fs.f_bavail > 0)
		out->disk_used_pct = used * 100 / (used + fs.f_bavail);
	return true;
}

/*
 * How much WAL may still be written until the slot loses what it needs.  It
 * is computed as safe_wal_size in pg_get_replication_slots(), slotfuncs.c.
 */
static double
left_of(XLogRecPtr restart, XLogRecPtr end)
{
	XLogSegNo	segment;
	XLogSegNo	keep = Max(XLogMBVarToSegs(max_slot_wal_keep_size_mb, wal_segment_size),
						   XLogMBVarToSegs(wal_keep_size_mb, wal_segment_size));
	XLogRecPtr	fails_at;

	XLByteToSeg(restart, segment, wal_segment_size);
	XLogSegNoOffsetToRecPtr(segment + keep + 1, 0, wal_segment_size, fails_at);
	return fails_at > end ? (double) (fails_at - end) : 0;
}

static void
look_at_slots(WalReading *out, XLogRecPtr end)
{
	double		least = -1;

	/* whoever makes or drops a slot has it, and the next step comes soon */
	if (!LWLockConditionalAcquire(ReplicationSlotControlLock, LW_SHARED))
	{
		out->slot_left_bytes = slot_left_bytes;
		strlcpy(out->slot, slot_name, sizeof(out->slot));
		return;
	}
	for (int i = 0; max_slot_wal_keep_size_mb >= 0 && i < compat_slot_count(); i++)
	{
		ReplicationSlot *slot = &ReplicationSlotCtl->replication_slots[i];
		XLogRecPtr	restart;
		bool		gone;
		double		left;

		if (!slot->in_use)
			continue;
		SpinLockAcquire(&slot->mutex);
		restart = slot->data.restart_lsn;
		gone = compat_slot_is_invalid(slot);
		SpinLockRelease(&slot->mutex);
		if (gone || restart == InvalidXLogRecPtr)
			continue;
		left = left_of(restart, end);
		if (least >= 0 && left >= least)
			continue;
		least = left;
		strlcpy(slot_name, NameStr(slot->data.name), sizeof(slot_name));
	}
	LWLockRelease(ReplicationSlotControlLock);
	if (least < 0)
		slot_name[0] = '\0';
	slot_left_bytes = least;
	out->slot_left_bytes = least;
	strlcpy(out->slot, slot_name, sizeof(out->slot));
}

void
sensor_wal_read(WalReading *out, TimestampTz now)
{
	XLogRecPtr	end;

	if (RecoveryInProgress())
	{
		out->state = SENSOR_ABSENT;
		strlcpy(out->why, "the server is a standby and writes no WAL", sizeof(out->why));
		before_at = 0;
		return;
	}
	end = GetXLogInsertRecPtr();
	measure_rate(end, now);
	out->wal_bytes_s = bytes_per_s;
	look_at_archiver(out, end, now);
	look_at_slots(out, GetXLogWriteRecPtr());
	out->state = look_at_file_system(out) ? SENSOR_OK : SENSOR_BROKEN;
}
