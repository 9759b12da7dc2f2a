/*
 * lag.h
 *		How far behind a standby is, in time, and whether it means to be.
 *
 * The server measures replay lag when a standby has replayed something: of one
 * that replays nothing it knows nothing new.  So the primary's own positions
 * are noted, and the lag is the age of the first WAL that is not yet replayed.
 * (The same idea as LagTrackerWrite() in walsender.c, read the other way.)
 */
#ifndef SWEEP_POLICY_LAG_H
#define SWEEP_POLICY_LAG_H

#include <stdbool.h>
#include <stdint.h>

#define LAG_POINTS		256

typedef struct LagPoint
{
	int64_t		at_us;
	uint64_t	position;
} LagPoint;

typedef struct LagTrail
{
	int			n;
	LagPoint	points[LAG_POINTS]; /* oldest first */
} LagTrail;

/* Where the primary's WAL ends now.  A clock that went back begins anew. */
extern void lag_note(LagTrail *trail, int64_t at_us, uint64_t position);

/* Does the trail go back to that position? */
extern bool lag_is_known(const LagTrail *trail, uint64_t position);

/* How long ago what is behind the position was written; at least, if not known. */
extern double lag_ms(const LagTrail *trail, int64_t now_us, uint64_t position);

/*
 * One standby that may be delayed on purpose (recovery_min_apply_delay, which
 * the primary cannot see).
 */
typedef struct DelayWatch
{
	int64_t		since_us;		/* constant since then; 0: not watched */
	double		low_ms;
	double		high_ms;
	double		flush_high_ms;
} DelayWatch;

#define DELAY_WATCH_US		(INT64_C(60) * 1000 * 1000)

/*
 * Is it?  It is when for a minute its replay has been over the limit by time,
 * never more than a tenth higher than at its lowest, and it has meanwhile
 * received everything within a tenth of that.
 *
 * One that cannot keep up looks different: over the limit, vacuums go as slowly
 * as they may; then its lag either becomes less, because they were the cause,
 * or grows, because others write more than it can replay.  One that the governor
 * holds near the limit is below it every now and then, and does not count as
 * constant.  If after all users alone keep a slow one at exactly the same lag
 * for a minute, slower vacuums would not have helped it; and as soon as its lag
 * moves again, it counts again.
 */
extern bool delay_watch(DelayWatch *watch, int64_t now_us, double replay_ms, double flush_ms,
						bool over_limit);

#endif							/* SWEEP_POLICY_LAG_H */
