/*
 * meter_slot.h
 *		A running vacuum as its process publishes it.
 */
#ifndef SWEEP_METER_SLOT_H
#define SWEEP_METER_SLOT_H

#include "postgres.h"

#include "port/atomics.h"
#include "utils/backend_progress.h"

#include "state/run.h"

#define METER_WINDOW	16		/* samples over which rates are taken */

typedef enum MeterWait
{
	METER_WAIT_NONE,			/* on the processor, or ready for it */
	METER_WAIT_DELAY,
	METER_WAIT_IO,
	METER_WAIT_LOCK,
	METER_WAIT_OTHER
} MeterWait;

typedef struct MeterSample
{
	TimestampTz at;
	RunCounters used;
	int64		units;			/* pages that this phase is done with */
	uint8		wait;			/* MeterWait at that moment */
} MeterSample;

/*
 * One per backend, by backend index.  That process writes it, from mainline
 * code or from its tick, never both (see meter_slot_busy).  Readers copy the
 * slot, and retry if `change` is odd or has moved.
 */
typedef struct MeterSlot
{
	pg_atomic_uint32 change;

	int			pid;			/* 0: not in use */
	int			leader_pid;		/* of a parallel vacuum worker, else 0 */
	Oid			dboid;
	Oid			relid;			/* invalid: none yet */
	uint8		command;		/* RunCommand */
	uint8		starter;		/* RunStarter */
	uint8		mode;			/* RunMode */
	int			tables;			/* done by this statement before this run */
	TimestampTz started_at;
	RunCounters used;
	RunCosts	costs;
	uint32		ticks;			/* samples of this run */
	uint32		delay_ticks;	/* how many of them were in the cost delay */
	int64		delay_us;		/* naps, timed (18+) or counted (-1: only
								 * sampled) */
	TimestampTz phase_at;		/* when this phase was first seen */
	int			phase;
	RunCounters phase_used;		/* counters before this phase */
	int64		to_revisit;		/* pages that the scan has dirtied since the
								 * second heap pass */
	int64		params[PGSTAT_NUM_PROGRESS_PARAM];
	int64		dead_peak;		/* highest COMPAT_PROGRESS_DEAD of this run */
	int			nsamples;		/* in all, while the ring holds the last ones */
	MeterSample samples[METER_WINDOW];
	char		schemaname[NAMEDATALEN];
	char		relname[NAMEDATALEN];

	/*
	 * What parallel workers of this leader had done when they ended, until it
	 * counts as the leader's own.  The workers add to it, and the leader
	 * clears it.
	 */
	pg_atomic_uint64 ended_workers[RUN_COUNTERS];
} MeterSlot;

#endif							/* SWEEP_METER_SLOT_H */
