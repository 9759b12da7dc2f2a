/*
 * stats_scan.h
 *		Walks the shared statistics of all databases, and holds none of their
 *		locks for long.
 */
#ifndef SWEEP_STATS_SCAN_H
#define SWEEP_STATS_SCAN_H

#include "postgres.h"

#include "lib/dshash.h"
#include "portability/instr_time.h"
#include "utils/pgstat_internal.h"

typedef struct StatsScan
{
	dshash_seq_status status;
	int			partition;		/* the one that is locked */
	int			bucket;			/* of the entry returned last */
	int			buckets;		/* begun since it last let go */
	instr_time	begun;			/* how many were begun since it last let go */
	instr_time	locked_at;		/* when that was */
	double		max_lock_ms;	/* the longest time that one was locked */
} StatsScan;

extern void stats_scan_begin(StatsScan *scan);

/*
 * Returns the next entry, or NULL after the last.  The entry's partition
 * stays locked, shared, until the next call.  An entry that is there from
 * begin to end comes once.
 */
extern PgStatShared_HashEntry *stats_scan_next(StatsScan *scan);

/* Called after the last stats_scan_next(), whatever that returned. */
extern void stats_scan_end(StatsScan *scan);

#endif							/* SWEEP_STATS_SCAN_H */
