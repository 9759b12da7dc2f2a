/*
 * policy/throttle_valve.c
 *		A rate that is cut in proportion and grows by the clock.  Pure.
 *
 * Servers that share a device grow together as one would, so each by its share.
 */
#include "throttle_valve.h"

#include <math.h>

#include "throttle_constants.h"

static double
clamp_rate(double rate, const ThrottleValveStep *v)
{
	return fmin(fmax(rate, v->floor), UNLIMITED);
}

/* The rate at which a valve opens that has not been used. */
static void
open_valve(ThrottleValve *valve, const ThrottleValveStep *v)
{
	if (valve->allowed <= 0 || (v->restart && !valve->bad))
	{
		valve->allowed = clamp_rate(v->start, v);
		valve->cut = false;
		valve->climb_s = 0;
		valve->since_cut_s = REACTION_S;
	}
}

/* Of what is allowed, the rate that was used lately. */
static double
used_lately(const ThrottleValve *valve, const ThrottleValveStep *v)
{
	return fmin(valve->allowed, fmax(v->used, v->peak / 4));
}

/* What was used was too much.  What was allowed beyond that was not tried. */
static void
learn_knee(ThrottleValve *valve, const ThrottleValveStep *v)
{
	valve->knee = used_lately(valve, v);
	valve->known = valve->knee;
	valve->cut = true;
	valve->climb_s = 0;
	valve->since_cut_s = 0;
}

void
throttle_valve_cut(ThrottleValve *valve, double share, const ThrottleValveStep *v)
{
	double		to;

	open_valve(valve, v);
	if (!v->running || valve->since_cut_s < REACTION_S)
		return;
	learn_knee(valve, v);
	to = clamp_rate(valve->knee * share, v);
	valve->moved_down = to < valve->allowed;
	valve->allowed = to;
}

void
throttle_valve_follow(ThrottleValve *valve, double to, const ThrottleValveStep *v)
{
	open_valve(valve, v);
	to = clamp_rate(to, v);
	if (!v->running || to >= valve->allowed)
		return;
	learn_knee(valve, v);
	/* what it leaves to us was not too much, even if we used less */
	valve->knee = valve->known = fmax(valve->knee, to);
	valve->allowed = to;
	valve->moved_down = true;
}

/*
 * Where the device has room and the knee is a large one, it comes back to MOST of it
 * as fast as it came there first: on a fast disk a moment's burst would hold it for
 * minutes.  For the same reason the knee counts no more once it is clearly passed.  A
 * device that does not tell its limit seems to have room, too, but such limits are
 * mostly lower.
 */
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
	if (v->peak < FAR * valve->allowed)
		return;

	if (valve->allowed > CLEARLY * valve->known)
		valve->known = 0;
	if (valve->known > 0 && slow_start <= GENTLE_STEP && valve->allowed > MOST * valve->known)
		slow_start = KNOWN_STEP;
	if (!valve->cut)
		to = valve->allowed * pow(slow_start, v->dt_s / STEP_S);
	else
	{
		double		gently_s = valve->knee > 0 ? RETRY_S : 0;
		double		from = fmax(0, valve->climb_s - gently_s);
		double		until;
		bool		recovers = v->room && valve->knee > LARGE_KNEE * v->share;
		double		linear = GROW_INVERSE * v->share * START * v->share / valve->allowed;

		if (valve->climb_s > LISTEN_S)
			linear = fmax(linear, GROW_OF_KNEE * (valve->knee - LARGE_KNEE * v->share));
		valve->climb_s += v->dt_s;
		until = fmax(0, valve->climb_s - gently_s);
		to = valve->allowed + linear * v->dt_s + GROW_CUBIC * v->share * (pow(until, 3) - pow(from, 3));
		if (recovers)
			to = fmax(to, fmin(valve->allowed * pow(slow_start, v->dt_s / STEP_S), MOST * valve->knee));
		if (recovers && to > CLEARLY * valve->knee)
			valve->cut = false;
	}
	valve->allowed = clamp_rate(to, v);
	valve->moved_up = valve->allowed > before;
}

void
throttle_valve_blind(ThrottleValve *valve, const ThrottleValveStep *v)
{
	if (valve->allowed <= 0)
		valve->allowed = fmax(v->peak, START * v->share);
	valve->allowed = clamp_rate(valve->allowed, v);
}
