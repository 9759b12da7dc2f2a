/*
 * table_vacuum.h
 *		One vacuum or analyze of one table by a worker.
 */
#ifndef SWEEP_TABLE_VACUUM_H
#define SWEEP_TABLE_VACUUM_H

#include "candidates.h"
#include "decide.h"

/* Once per worker, connected: what its vacuums need. */
extern void table_vacuum_prepare(const char *database);

/*
 * Vacuums it, records the run and decides what follows from it.  What it came
 * to; RUN_DONE as well when the table was dropped meanwhile.
 */
extern RunOutcome table_vacuum(Candidate *c, const Verdict *verdict);

/*
 * Likewise the ANALYZE of a partitioned table; partition_changes as in
 * RunRecord.  locked: a lock that it needs is known to be taken; then it is
 * recorded as skipped.
 */
extern void table_analyze(const Candidate *c, const char *reason, int64 partition_changes,
						  bool locked);

#endif							/* SWEEP_TABLE_VACUUM_H */
