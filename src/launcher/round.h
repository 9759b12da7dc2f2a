/*
 * round.h
 *		A round of the launcher.  Launcher only.
 */
#ifndef SWEEP_ROUND_H
#define SWEEP_ROUND_H

#include "postgres.h"

#include "datatype/timestamp.h"

/* May raise an error.  Memory is that of the caller's context. */
extern void round_run(void);

/*
 * When the next round comes, after one that began then.  It comes after the
 * naptime, but also just before a checkpoint, and when a table has waited long
 * enough.
 */
extern TimestampTz round_next(TimestampTz began);

/*
 * A round comes as early as something is wanted, but rounds do not exceed
 * their share.
 */
extern TimestampTz round_earliest(TimestampTz wanted, TimestampTz began);

/* What the last round found to wait for does not count any more. */
extern void round_forget_wake(void);

/* Drops the requests that nobody may serve. */
extern void round_drop_requests(void);

/* Moves all times after the clock was set back. */
extern void round_set_back(int64 us);

#endif							/* SWEEP_ROUND_H */
