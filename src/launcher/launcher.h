/*
 * launcher.h
 *		What the launcher tells of itself and of its rounds.
 */
#ifndef SWEEP_LAUNCHER_H
#define SWEEP_LAUNCHER_H

#include "postgres.h"

#include "datatype/timestamp.h"

/*
 * Writer: launcher, and worker_pool_start() in it.  Protection:
 * SweepShared.mutex.
 */
typedef struct LauncherState
{
	int			pid;			/* 0: not there */
	TimestampTz started_at;
	struct Latch *latch;
	int64		rounds;
	TimestampTz last_round_at;
	double		last_round_ms;
	double		max_round_ms;
	double		last_lock_ms;	/* the longest time that one partition of the
								 * statistics was locked */
	double		max_lock_ms;
	double		naptime_ms;		/* between two rounds, as it is now */
	int64		relations;
	int64		due;
	int64		worker_starts;
	int64		worker_start_failures;
	TimestampTz slots_short_at; /* when a worker was last not begun, because
								 * too few background workers are left (0:
								 * never) */
	int			slots_free;		/* these two were how many then */
	int			slots_wanted;	/* by others */
	int64		databases_dropped;
	TimestampTz runs_saved_at;
	int			runs_save_errno;
} LauncherState;

#endif							/* SWEEP_LAUNCHER_H */
