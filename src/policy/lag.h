/*
 * lag.h
 *		How far behind a standby is, in time, and whether it means to be.
 *
 * The server measures replay lag when a standby has replayed something.  Of a
 * standby that replays nothing it knows nothing new.  So the primary's own
 * positions are noted here, and the lag is the age of the first WAL that is
 * not yet replayed.  (LagTrackerWrite() in walsender.c has the same idea,
 * read the other way.)
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

/*
 * Notes where the primary's WAL ends now.  A clock that went back begins
 * anew.
 */
extern void lag_note(LagTrail *trail, int64_t at_us, uint64_t position);

/* Does the trail go back to that position? */
extern bool lag_is_known(const LagTrail *trail, uint64_t position);

/*
 * How long ago was the WAL behind that position written?  The least that is
 * known, if the trail does not go back that far.
 */
extern double lag_ms(const LagTrail *trail, int64_t now_us, uint64_t position);

/*
 * One standby that may be delayed on purpose.  The primary cannot see its
 * recovery_min_apply_delay.
 */
typedef struct DelayWatch
{
	int64_t		since_us;		/* constant since then (0: not watched) */
	double		low_ms;
	double		high_ms;
	double		flush_high_ms;
} DelayWatch;

#define DELAY_WATCH_US		(INT64_C(60) * 1000 * 1000)

/*
 * Is the standby delayed on purpose?  It is if three things were so for a
 * minute.  Its replay was over the limit by time.  It was never more than a
 * tenth higher than at its lowest.  And the standby has received everything
 * within a tenth of that.
 *
 * A standby that cannot keep up looks different.  While it is over the limit,
 * vacuums go as slowly as they may.  Then its lag becomes less, because they
 * were the cause, or grows, because others write more than it can replay.  A
 * standby that the governor holds near the limit is below it every now and
 * then, and does not count as constant.
 *
 * It may happen after all that users alone keep a slow standby at exactly the
 * same lag for a minute.  Slower vacuums would not have helped that one.  As
 * soon as its lag moves again, it counts again.
 */
extern bool delay_watch(DelayWatch *watch, int64_t now_us, double replay_ms, double flush_ms,
						bool over_limit);

#endif							/* SWEEP_POLICY_LAG_H */
