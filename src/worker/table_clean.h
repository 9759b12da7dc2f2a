/*
 * table_clean.h
 *		One clean-up of one table by a worker: dead rows are removed one by one.
 */
#ifndef SWEEP_TABLE_CLEAN_H
#define SWEEP_TABLE_CLEAN_H

#include "state/run.h"
#include "worker/candidate.h"
#include "worker/clean_job.h"
#include "worker/clean_pages.h"

typedef struct CleanOutcome
{
	RunOutcome	outcome;		/* RUN_SKIPPED if a lock was not available */
	const char *why_not;		/* the table cannot be cleaned (NULL: it can) */
	CleanCounts counts;
} CleanOutcome;

/*
 * Cleans the table, or only these pages of it (unless NULL), records the run with that reason, and returns what it came
 * to.  must_stop is asked now and then.
 */
extern CleanOutcome table_clean(const Candidate *c, const CleanPages *pages,
								const char *reason, bool (*must_stop) (void));

#endif							/* SWEEP_TABLE_CLEAN_H */
