/*
 * verdict.h
 *		What is to be done about one table now, and why.
 */
#ifndef SWEEP_VERDICT_H
#define SWEEP_VERDICT_H

#include "state/budget.h"
#include "worker/candidate.h"
#include "worker/statement.h"

typedef struct Verdict
{
	DecisionKind kind;			/* why not (DECISION_NONE: vacuum it now) */
	bool		due;
	bool		waiting;		/* what was decided earlier is not over yet */
	bool		trial;			/* if it is to be vacuumed: only note that */
	const char *requested_by;	/* NULL: nobody asked for it */

	/* how it is vacuumed */
	bool		eager;			/* freeze all that can be frozen */
	bool		catch_up;		/* and also what is all-visible already */
	int			min_age;		/* if not eager: freeze what is older, unless
								 * the settings say sooner (0: go by these) */
	PacerYields yields;			/* does it give way to users who wait? */
	double		pace;			/* where they do not: the rate to begin with,
								 * bytes/s, or PACE_OF_USERS (0: it does not
								 * matter) */
	StatementOptions options;
	bool		pending_lists;	/* those of its indexes are emptied afterwards */
	bool		waits_to_truncate;	/* it may have to wait for the lock */

	bool		gave_up;		/* the vacuum gave up at a page that others
								 * had pinned */
	bool		gave_way;		/* it was cancelled while somebody waited for
								 * its lock */
	bool		in_indexes;		/* it failed, or was cancelled, while it was
								 * at the indexes */
} Verdict;

/* Says what is to be done, and changes nothing.  For views as well. */
extern Verdict verdict_about(const Candidate *c);

/* Is the table to be vacuumed now? */
extern bool verdict_is_to_vacuum(const Verdict *verdict);

/* How to vacuum what somebody has asked for. */
extern Verdict verdict_requested(const Candidate *c, const char *role);

#endif							/* SWEEP_VERDICT_H */
