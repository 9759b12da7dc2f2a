/*
 * remember.h
 *		Keeps what was said about a table, and what a vacuum of it came to.
 */
#ifndef SWEEP_REMEMBER_H
#define SWEEP_REMEMBER_H

#include "postgres.h"

#include "access/transam.h"

#include "state/decisions.h"
#include "state/run.h"
#include "worker/candidate.h"
#include "worker/verdict.h"

#define RECHECK_MS				(10 * 60 * 1000)
#define RECHECK_OBSERVED_MS		(60 * 1000) /* of a partitioned table */

/*
 * How long a table is left alone if its lock was not available.  Most often
 * autovacuum's ANALYZE has the lock.
 */
#define LOCKED_BACKOFF_MS		1000
#define LOCKED_BACKOFF_MAX_MS	(5 * 60 * 1000)

/*
 * Remembers why a table is not vacuumed now, where the scout has to know it.
 */
extern void remember_verdict(const Candidate *c, const Verdict *verdict);

/* Remembers why nothing is done about the table, and for how long. */
extern void remember_wait(const Candidate *c, DecisionKind kind, int64 wait_ms);

/* What a vacuum could remove when it began, and what it cost beside its run. */
typedef struct VacuumMoment
{
	FullTransactionId horizon;
	FullTransactionId next_xid;
	double		beside_ms;		/* of a processor */
} VacuumMoment;

/*
 * Remembers what a vacuum came to.  It takes the table after and before the
 * vacuum, what led to it, and that moment before it began.
 */
extern void remember_run(const Candidate *after, const Candidate *before,
						 const Verdict *verdict, const RunRecord *run,
						 const VacuumMoment *moment);

/*
 * In mode observe: remembers a vacuum that was only noted, as if it had been
 * made.  estimate has what it would have used, and how many pages the table
 * has.
 */
extern void remember_noted(const Candidate *c, const Verdict *verdict, const RunRecord *estimate,
						   const VacuumMoment *moment);

/*
 * Decides when an ordinary table may be analyzed again.  What was decided about
 * its vacuums stays.
 */
extern void remember_analyze(Candidate *c, const RunRecord *run);

/*
 * It may be analyzed after that time.  The candidate knows that as well, because
 * what is remembered of it next takes the place of this.
 */
extern void remember_analyze_after(Candidate *c, int64 wait_ms);

#endif							/* SWEEP_REMEMBER_H */
