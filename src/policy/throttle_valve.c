/*
 * policy/throttle_valve.c
 *		A rate that is cut in proportion and grows by the clock.  Pure.
 */
#include "throttle_valve.h"

#include <math.h>

/*
 * Growth after a cut is the slower the higher the rate (inverse increase: Bansal and
 * Balakrishnan 2001, "Binomial Congestion Control Algorithms"), so that two who share
 * a device meet although chance decides which of them is cut.  Where the rate that
 * was too much is a large one, SETTLE_S after the cut that would take too long.
 */
#define GROW_INVERSE	(0.6 * RATES_MB)	/* a second, at THROTTLE_START */
#define SETTLE_S		3.0
#define LARGE_KNEE		(40 * RATES_MB)
#define GROW_OF_KNEE	0.02	/* a second, of what is above that */
/*
 * So it comes gently to where it was too much: every visit there is felt.  After
 * KNEE_S it looks whether that is still so, t seconds later GROW_CUBIC * t^3 higher:
 * 24 MB/s after 20 s, 192 after 40.
 */
#define NEAR_KNEE		0.75
#define NEAR_GROWTH		0.5
#define KNEE_S			45.0
#define GROW_CUBIC		(0.003 * RATES_MB)
/*
 * Where the device has room and the knee is a large one, it comes back to NEAR_KNEE
 * as fast as it came there first: on a fast disk a moment's burst would hold it for
 * minutes.  For the same reason the knee counts no more once it is passed by so
 * much.  A device that does not tell its limit seems to have room, too, but such
 * limits are mostly lower.
 */
#define PASSED_KNEE		1.25
/* then what was learned at the cut is out of date */
#define FORGET_S		120.0
/*
 * A later vacuum comes slowly to where an earlier one was too much, and goes on as
 * slowly to KNOWN_PASSED times that.  Then it was a matter of that hour.
 */
#define KNOWN_STEP		1.01
#define KNOWN_PASSED	1.5
/* a limit that is not used cannot be known to be harmless */
#define SLOW_START_USE	0.25
#define CLIMB_USE		0.5
/* ... beside users, whom the next step may already hurt */
#define GENTLE			1.2
#define GENTLE_USE		0.75
#define BLIND_KEEPS_S	10.0

static double
clamp_rate(double rate, const ThrottleValveStep *v)
{
	return fmin(fmax(rate, v->floor), THROTTLE_UNLIMITED);
}

/* The rate at which a valve opens that has not been used. */
static void
open_valve(ThrottleValve *valve, const ThrottleValveStep *v)
{
	if (valve->allowed <= 0 || (v->restart && !valve->bad))
	{
		valve->allowed = clamp_rate(THROTTLE_START, v);
		valve->cut = false;
		valve->climb_s = 0;
		valve->since_cut_s = THROTTLE_REACTION_S;
	}
}

void
throttle_valve_cut(ThrottleValve *valve, double share, const ThrottleValveStep *v)
{
	double		to;

	open_valve(valve, v);
	if (!v->running || valve->since_cut_s < THROTTLE_REACTION_S)
		return;
	valve->knee = fmin(valve->allowed, fmax(v->used, v->peak / 4));
	valve->known = valve->knee;
	to = clamp_rate(valve->knee * share, v);
	valve->moved_down = to < valve->allowed;
	valve->allowed = to;
	valve->cut = true;
	valve->climb_s = 0;
	valve->since_cut_s = 0;
}

void
throttle_valve_grow(ThrottleValve *valve, double slow_start, const ThrottleValveStep *v)
{
	double		before;
	double		to;

	open_valve(valve, v);
	before = valve->allowed;
	if (!v->running)
		return;
	valve->allowed = clamp_rate(valve->allowed, v);
	if (v->peak < valve->allowed * (valve->cut ? CLIMB_USE : slow_start < GENTLE ? GENTLE_USE : SLOW_START_USE))
		return;

	if (valve->allowed > KNOWN_PASSED * valve->known)
		valve->known = 0;
	if (valve->known > 0 && slow_start <= GENTLE && valve->allowed > NEAR_KNEE * valve->known)
		slow_start = KNOWN_STEP;
	if (!valve->cut)
		to = valve->allowed * pow(slow_start, v->dt_s / 0.25);
	else
	{
		double		gently_s = valve->knee > 0 ? KNEE_S : 0;
		double		from = fmax(0, valve->climb_s - gently_s);
		double		until;
		bool		recovers = v->room && valve->knee > LARGE_KNEE;
		double		linear = GROW_INVERSE * THROTTLE_START / valve->allowed;

		if (valve->climb_s > SETTLE_S)
			linear = fmax(linear, GROW_OF_KNEE * (valve->knee - LARGE_KNEE));
		if (valve->climb_s < gently_s && valve->allowed > NEAR_KNEE * valve->knee)
			linear *= NEAR_GROWTH;
		valve->climb_s += v->dt_s;
		until = fmax(0, valve->climb_s - gently_s);
		to = valve->allowed + linear * v->dt_s + GROW_CUBIC * (pow(until, 3) - pow(from, 3));
		if (recovers)
			to = fmax(to, fmin(valve->allowed * pow(slow_start, v->dt_s / 0.25), NEAR_KNEE * valve->knee));
		if (valve->climb_s > FORGET_S || (recovers && to > PASSED_KNEE * valve->knee))
			valve->cut = false;
	}
	valve->allowed = clamp_rate(to, v);
	valve->moved_up = valve->allowed > before;
}

void
throttle_valve_blind(ThrottleValve *valve, const ThrottleValveStep *v)
{
	double		good = clamp_rate(fmax(valve->good, THROTTLE_START), v);

	valve->broken_s += v->dt_s;
	if (valve->allowed <= 0 || valve->broken_s > BLIND_KEEPS_S)
		valve->allowed = valve->allowed > 0 ? fmin(valve->allowed, good) : good;
	valve->allowed = fmax(valve->allowed, v->floor);
}
