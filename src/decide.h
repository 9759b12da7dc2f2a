/*
 * decide.h
 *		What is to be done about one table now, and why.
 */
#ifndef SWEEP_DECIDE_H
#define SWEEP_DECIDE_H

#include "candidates.h"
#include "decisions.h"
#include "statement.h"

#define RECHECK_MS				(10 * 60 * 1000)
#define RECHECK_OBSERVED_MS		(60 * 1000)

/*
 * How long a table is left alone whose lock was not available: most often it
 * is the core daemon's ANALYZE that has it.
 */
#define LOCKED_BACKOFF_MS		1000
#define LOCKED_BACKOFF_MAX_MS	(5 * 60 * 1000)

typedef struct Verdict
{
	DecisionKind kind;			/* why not; DECISION_NONE: vacuum it now */
	bool		due;
	bool		waiting;		/* for what was decided earlier to be over */
	const char *requested_by;	/* NULL: nobody asked for it */

	/* how it is vacuumed */
	bool		eager;			/* freeze all that can be */
	StatementOptions options;
} Verdict;

/* Decides, and changes nothing; for views as well. */
extern Verdict decide_about(const Candidate *c);

/* How to vacuum what somebody has asked for. */
extern Verdict decide_requested(const Candidate *c, const char *role);

/* Remembers it where the scout has to know; true: vacuum it now. */
extern bool decide(const Candidate *c, Verdict *verdict);

/* Remembers why nothing is done about it, and for how long. */
extern void decide_and_wait(const Candidate *c, DecisionKind kind, int64 wait_ms);

/*
 * What a vacuum came to: the table before and after it, what led to it, what
 * was the next transaction when it began.
 */
extern void decide_after(const Candidate *after, const Candidate *before,
						 const Verdict *verdict, const RunRecord *run,
						 FullTransactionId next_xid);

#endif							/* SWEEP_DECIDE_H */
