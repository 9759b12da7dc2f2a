/*
 * table_run.h
 *		What every run of a worker has around it: a vacuum, an analyze or a
 *		clean-up of one table.
 */
#ifndef SWEEP_TABLE_RUN_H
#define SWEEP_TABLE_RUN_H

#include "state/run.h"
#include "worker/candidate.h"
#include "worker/verdict.h"

/*
 * Prepares what the runs need.  Called once per worker, when it has connected.
 */
extern void table_run_prepare(const char *database);
extern const char *table_run_database(void);

/*
 * Sets settings, activity, meter and log for what comes next.
 * partition_changes is as in RunRecord.
 */
extern void table_run_begin(const Candidate *c, RunCommand command, const char *reason,
							const Verdict *verdict, int64 partition_changes);

/* Ends that.  Returns true if *run is what the meter has recorded. */
extern bool table_run_end(RunRecord *run);

/*
 * Records a run that ended before it had its table: it did nothing, but it
 * was tried.  sqlstate 0: for want of a lock.
 */
extern void table_run_record_unbegun(const Candidate *c, RunCommand command, const char *reason,
									 TimestampTz began, int sqlstate, RunRecord *run);

/* Sets a setting of this process. */
extern void table_run_force_int(const char *name, int value);

#endif							/* SWEEP_TABLE_RUN_H */
