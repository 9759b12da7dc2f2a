/*
 * table_clean.h
 *		One clean-up of one table by a worker: dead rows are removed one by one.
 */
#ifndef SWEEP_TABLE_CLEAN_H
#define SWEEP_TABLE_CLEAN_H

#include "state/run.h"
#include "worker/candidate.h"

/*
 * Cleans the table for a role that has asked for it, records the run, and
 * returns what it came to.  RUN_SKIPPED if a lock was not available.
 * must_stop is asked now and then.
 */
extern RunOutcome table_clean(const Candidate *c, const char *requested_by, bool (*must_stop) (void));

#endif							/* SWEEP_TABLE_CLEAN_H */
