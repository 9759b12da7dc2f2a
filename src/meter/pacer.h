/*
 * pacer.h
 *		What makes this process's vacuum keep its share of the budget.
 */
#ifndef SWEEP_PACER_H
#define SWEEP_PACER_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "nodes/parsenodes.h"

#include "state/budget.h"
#include "state/run.h"

#define PACER_TICK_MS		250 /* between two ticks, at most */
#define PACER_FIRST_TICK_MS 20	/* before much can have been done */
#define PACER_QUICK_TICK_MS 50	/* while the governor is about to see it */

typedef enum PacerKind
{
	PACER_OWN,
	PACER_STATEMENT,
	PACER_CORE,					/* autovacuum worker: by its delay only */
	PACER_PARALLEL
} PacerKind;

/*
 * A run begins.  Where users leave room it may begin with that pace, in
 * bytes/s, or PACE_OF_USERS.  With keeps_costs its own cost settings stay a ceiling.  It
 * is called in mainline code, also in transaction callbacks.  It raises no
 * error and allocates nothing.
 */
extern void pacer_begin(PacerKind kind, PacerCan can, PacerYields yields, double pace, bool keeps_costs);

/* It is over, or its error is: everything is as it was. */
extern void pacer_end(void);

/*
 * Does a run find its pages in memory, and are they logged in full since the last
 * checkpoint?  That makes it cheap now, as it would not be later.
 */
extern bool pacer_is_cheap(PacerYields yields, const RunCounters *used);

/* For the tick, or with it kept out. */
extern void pacer_tick(TimestampTz now, int interval_ms);

/*
 * For the tick.  What was read to get started is not the vacuum's.  It would
 * make the vacuum seem to write nothing for its credits, so that it would not
 * be slowed.
 */
extern void pacer_forget_used(void);

/* Are the cost limit and delay the pacer's just now? */
extern bool pacer_steers(void);

/* Is the governor about to tell what this run may use?  Then the next tick is soon. */
extern bool pacer_awaits_grant(TimestampTz now);

/* The cost delay that the tick must take into account. */
extern double pacer_delay_expected(double cost_delay);

/* VACUUM has said that it is in its failsafe: hands off for this run. */
extern void pacer_failsafe(void);

/* May that statement be slowed?  May raise an error. */
extern PacerCan pacer_can(const VacuumStmt *stmt, bool full);

#endif							/* SWEEP_PACER_H */
