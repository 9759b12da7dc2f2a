/*
 * table_analyze.h
 *		One ANALYZE of one table by a worker.
 */
#ifndef SWEEP_TABLE_ANALYZE_H
#define SWEEP_TABLE_ANALYZE_H

#include "nodes/pg_list.h"

#include "worker/candidate.h"

/*
 * Analyzes a partitioned table, records the run and remembers what it came to.
 * partition_changes is as in RunRecord.  locked says that a lock that it needs
 * is known to be taken.  Then the run is recorded as skipped.
 */
extern void table_analyze_partitioned(const Candidate *c, const char *reason, int64 partition_changes,
									  bool locked);

/*
 * Analyzes a table that the caller has claimed and has vacuumed for so long, for
 * dead rows, if it is due by autovacuum's own thresholds, and autovacuum was
 * kept away.
 */
extern void table_analyze_after_vacuum(Candidate *c, int64 took_us);

/* What a survey finds to be analyzed. */
typedef struct LateTables
{
	List	   *keys;			/* DecisionKey */
	TimestampTz again;			/* when others may be, that have to wait (0:
								 * none waits) */
	int			noted;			/* of these, so many were not known to wait */
} LateTables;

/*
 * For a survey, in a transaction: adds the table if it is due and autovacuum
 * has not come to it for a while, or tells when it may be.
 */
extern void table_analyze_look(LateTables *late, Candidate *c);

/* Analyzes one of that list, if it is still due. */
extern void table_analyze_late(DecisionKey key);

/*
 * Are its new pages followed?  An ANALYZE holds the horizon, so that they are
 * not vacuumed in time.  So there it waits so long.
 */
#define ANALYZE_FOLLOWED_MS	(10 * 60 * 1000)
extern bool table_analyze_is_followed(const Candidate *c);

#endif							/* SWEEP_TABLE_ANALYZE_H */
