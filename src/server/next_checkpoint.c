/*
 * next_checkpoint.c
 *		When the next checkpoint begins.
 *
 * The launcher watches the redo pointer.  When that has moved, a checkpoint
 * has begun.  The checkpointer's own clock counts whole seconds.  By that
 * clock, pg_control tells when exactly the checkpoint began, as soon as it
 * has ended.
 */
#include "server/next_checkpoint.h"

#include <sys/stat.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "catalog/pg_control.h"
#include "common/controldata_utils.h"
#include "miscadmin.h"
#include "postmaster/bgwriter.h"
#include "utils/timestamp.h"

#include "policy/checkpoint.h"
#include "server/clock.h"
#include "server/compat.h"
#include "shmem.h"

/*
 * A nudge comes a little less than a second before the checkpoint may begin.
 * The checkpointer then wakes 50 ms after that moment, which leaves time for
 * what comes before the checkpoint.
 */
#define NUDGE_MS	950

/* WAL per second is an average over about this time. */
#define WAL_RATE_MS		5000.0

static XLogRecPtr redo = InvalidXLogRecPtr;
static TimestampTz began_at;
static bool exact;				/* began_at is from pg_control */
static TimestampTz nudged_for = 0;	/* see earliest() */
static XLogRecPtr wal_at;
static TimestampTz wal_read_at = 0;
static double wal_per_ms = 0;

/*
 * Takes began_at from pg_control, if that is about this checkpoint already.
 *
 * The checkpointer counts whole seconds, starting at the part of a second at
 * which it last went to sleep.  After that checkpoint this was when it had
 * written this file.  Right after a start it counts from there.
 */
static void
read_control_file(void)
{
	bool		crc_ok;
	ControlFileData *control = get_controlfile(DataDir, &crc_ok);
	struct stat st;

	/* it may be being written just now: then the next look reads it */
	if (crc_ok && control->checkPointCopy.redo == redo && stat(XLOG_CONTROL_FILE, &st) == 0)
	{
		began_at = time_t_to_timestamptz(control->checkPointCopy.time) +
			st.st_mtim.tv_nsec / 1000;
		began_at = Max(began_at, PgStartTime);
		exact = true;
	}
	pfree(control);
}

/*
 * Loading the configuration wakes the checkpointer.  It counts whole seconds
 * on its clock and sleeps that many, from the moment when it was last awake.
 */
void
next_checkpoint_woken(TimestampTz now)
{
	began_at += now % USECS_PER_SEC - began_at % USECS_PER_SEC;
}

/*
 * The second from which on a checkpoint by time may begin, or 0 if that is
 * not known.  It begins within that second.  Nothing more exact is known,
 * because every process that reports a file to be synced may have woken the
 * checkpointer meanwhile.
 */
static TimestampTz
earliest(void)
{
	TimestampTz second = began_at - began_at % USECS_PER_SEC;

	return exact ? TimestampTzPlusMilliseconds(second, (int64) CheckPointTimeout * 1000) : 0;
}

TimestampTz
next_checkpoint_round_at(TimestampTz now, bool wanted)
{
	TimestampTz at = earliest();

	if (!wanted || at == 0 || nudged_for == at)
		return 0;
	return TimestampTzPlusMilliseconds(at, -NUDGE_MS);
}

/* From where does the checkpointer count, or will once it has been woken? */
static TimestampTz
counts_from(void)
{
	if (!exact || !sweep_checkpoint_aware || sweep_mode != SWEEP_ACT || nudged_for == earliest())
		return began_at;
	return TimestampTzPlusMilliseconds(began_at - began_at % USECS_PER_SEC, 1000 - NUDGE_MS);
}

/*
 * Wakes the checkpointer shortly before its time, once.  Then it is known at
 * which part of a second its sleep begins.  The checkpointer looks at the
 * clock and sleeps on, as when ForwardSyncRequest() wakes it.
 */
static void
nudge(TimestampTz now)
{
	TimestampTz at = earliest();

	if (at == 0 || nudged_for == at || now < TimestampTzPlusMilliseconds(at, -NUDGE_MS) ||
		now > TimestampTzPlusMilliseconds(at, -NUDGE_MS / 2))
		return;
	compat_wake_checkpointer();
	nudged_for = at;
	next_checkpoint_woken(now);
}

static void
measure_wal(XLogRecPtr end, TimestampTz now)
{
	double		ms = (double) (now - wal_read_at) / 1000;

	if (wal_read_at != 0 && ms > 0 && end >= wal_at)
	{
		double		weight = Min(ms / WAL_RATE_MS, 1);

		wal_per_ms += weight * ((double) (end - wal_at) / ms - wal_per_ms);
	}
	wal_at = end;
	wal_read_at = now;
}

void
next_checkpoint_watch(TimestampTz now, bool wanted)
{
	CheckpointState s;
	XLogRecPtr	redo_now = GetRedoRecPtr();
	int64		ahead_ms;

	if (redo_now != redo)
	{
		/*
		 * it began just now, or when pg_control says if this process has just
		 * begun
		 */
		began_at = now;
		redo = redo_now;
		exact = false;
	}
	if (!exact)
		read_control_file();
	if (wanted)
		nudge(now);
	measure_wal(GetXLogInsertRecPtr(), now);

	s.since_ms = (now - counts_from()) / 1000;
	s.timeout_ms = (int64) CheckPointTimeout * 1000;

	/*
	 * a checkpoint is asked for when that segment is full: see
	 * XLogCheckpointNeeded()
	 */
	s.wal_since = (double) (wal_at - (redo - XLogSegmentOffset(redo, wal_segment_size)));
	s.wal_limit = (double) CheckPointSegments * wal_segment_size;
	s.wal_per_ms = wal_per_ms;
	ahead_ms = checkpoint_ms_ahead(&s);
	pg_atomic_write_u64(&sweep_shared->next_checkpoint_at,
						(uint64) TimestampTzPlusMilliseconds(now, ahead_ms));
}

int64
next_checkpoint_ms(TimestampTz now)
{
	TimestampTz at = (TimestampTz) pg_atomic_read_u64(&sweep_shared->next_checkpoint_at);

	return at == 0 ? PG_INT64_MAX : (at - now) / 1000;
}
