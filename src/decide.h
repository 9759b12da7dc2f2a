/*
 * decide.h
 *		What is to be done about one table now, and why.
 */
#ifndef SWEEP_DECIDE_H
#define SWEEP_DECIDE_H

#include "candidates.h"
#include "decisions.h"

typedef struct Verdict
{
	DecisionKind kind;			/* why not; DECISION_NONE: vacuum it now */
	bool		due;
	bool		remembered;		/* known is what was decided earlier */
	Decision	known;
} Verdict;

/* Decides, and changes nothing; for views as well. */
extern Verdict decide_about(const Candidate *c);

/* Remembers it where the scout has to know; true: vacuum it now. */
extern bool decide(const Candidate *c, Verdict *verdict);

/*
 * What a vacuum came to; next_xid as it was when it began, verdict what led to
 * it.
 */
extern void decide_after(const Candidate *c, const Verdict *verdict, const RunRecord *run,
						 FullTransactionId next_xid);

#endif							/* SWEEP_DECIDE_H */
