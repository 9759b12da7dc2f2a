/*
 * next_checkpoint.c
 *		When the next checkpoint begins.
 *
 * The launcher watches the redo pointer: when it has moved, a checkpoint has
 * begun.  When that was exactly, by the checkpointer's own clock of whole
 * seconds, pg_control tells once it has ended.
 */
#include "next_checkpoint.h"

#include <sys/stat.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "catalog/pg_control.h"
#include "common/controldata_utils.h"
#include "miscadmin.h"
#include "postmaster/bgwriter.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "compat.h"
#include "policy/checkpoint.h"
#include "shmem.h"

/* Less than a second before it may begin; the rest is for what comes before it. */
#define NUDGE_MS	950

/* WAL per second is an average over about so long. */
#define WAL_RATE_MS		5000.0

static XLogRecPtr redo = InvalidXLogRecPtr;
static TimestampTz began_at;
static bool exact;				/* began_at is from pg_control */
static TimestampTz nudged_for = 0;	/* see earliest() */
static XLogRecPtr wal_at;
static TimestampTz wal_read_at = 0;
static double wal_per_ms = 0;

/*
 * began_at from pg_control, if it is about this checkpoint already.
 *
 * The checkpointer counts in whole seconds, but from where in a second it last
 * went to sleep: after that checkpoint, when it had written this file.  Right
 * after a start it counts from there.
 */
static void
read_control_file(void)
{
	bool		crc_ok;
	ControlFileData *control = get_controlfile(DataDir, &crc_ok);
	struct stat st;

	/* it may be being written: then next time */
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
 * That wakes the checkpointer: it counts whole seconds on its clock and sleeps
 * so many, from the moment when it was last awake.
 */
void
next_checkpoint_woken(TimestampTz now)
{
	began_at += now % USECS_PER_SEC - began_at % USECS_PER_SEC;
}

/*
 * The second from which on a checkpoint by time may begin, 0 if that is not
 * known.  It begins within that second: every process that reports a file to
 * be synced may have woken the checkpointer meanwhile.
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

/* Where the checkpointer counts from, or will once it has been woken. */
static TimestampTz
counts_from(void)
{
	if (!exact || !sweep_checkpoint_aware || sweep_mode != SWEEP_ACT || nudged_for == earliest())
		return began_at;
	return TimestampTzPlusMilliseconds(began_at - began_at % USECS_PER_SEC, 1000 - NUDGE_MS);
}

/*
 * Wakes the checkpointer shortly before its time, once, so that it is known
 * where in a second it sleeps from.  It looks at the clock and sleeps on, as
 * when it is woken by ForwardSyncRequest().
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
		/* when this process begins, pg_control tells; else it was just now */
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

	/* asked for when that segment is full; XLogCheckpointNeeded() */
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
