/*
 * policy/throttle_cause.c
 *		Can a vacuum be what users wait for, and has it helped them that it gave
 *		way?  Pure.
 *
 * Two questions, because neither answer is enough.  What the device and the kernel
 * tell is known at once, but not of a disk behind a network, one whose burst budget
 * is used up, or one that a container may not use fully: there only trying tells.
 * Such a device seems to have room.  So that users wait for something else is
 * believed only where there is something else, which is a processor.  A cut is an
 * experiment.  What users wait beyond the usual is averaged before it and after it.  A
 * cut that helped nobody is taken back, and none is made for a while, which gets longer
 * each time.
 */
#include "throttle_cause.h"

#include <math.h>
#include <string.h>

#include "throttle_constants.h"

bool
throttle_device_is_idle(const ThrottleReading *r)
{
	bool		known = r->disk == SENSOR_OK;

	if (r->io_pressure_pct > IDLE_PCT)
		return false;
	if (known && (r->busy_pct > IDLE_PCT || r->latency_ms > IDLE_LATENCY_MS))
		return false;
	/* the pressure alone tells, too: it is of all devices */
	return known || r->io_pressure_pct >= 0;
}

bool
throttle_processors_are_free(const ThrottleReading *r)
{
	return r->cpu_pressure_pct >= 0 && r->cpu_pressure_pct <= IDLE_PCT;
}

static void
decide(ThrottleCause *c, ThrottleValve *valve, const ThrottleValveStep *v)
{
	double		after = c->after / c->after_s;

	c->trying = false;
	if (after <= fmax(MOST * c->before_cut, FEW_USERS))
	{
		c->in_vain = 0;
		return;
	}
	/* nobody was helped: as it was before, for a while */
	c->innocent_s = fmin(RETRY_S * pow(2, c->in_vain), LONG_S);
	c->in_vain++;
	c->suspect_waiting = ABOUT * fmax(c->waiting_cut, c->waiting);
	valve->cut = false;
	valve->climb_s = 0;
	valve->known = 0;
	if (c->allowed_before > valve->allowed)
	{
		valve->allowed = fmin(fmax(c->allowed_before, v->floor), UNLIMITED);
		valve->moved_up = true;
	}
}

void
throttle_cause_observe(ThrottleCause *c, ThrottleValve *valve, double waiting, double excess,
					   const ThrottleValveStep *v)
{
	double		share = fmin(1, v->dt_s / REACTION_S);

	c->excess += (fmax(0, excess) - c->excess) * share;
	c->waiting += (waiting - c->waiting) * share;
	c->innocent_s = fmax(0, c->innocent_s - v->dt_s);
	if (c->innocent_s > 0 && c->waiting > c->suspect_waiting)
		c->innocent_s = 0;
	c->since_s += v->dt_s;

	/*
	 * short vacuums pause: a trial goes on with the next one, if that comes
	 * soon
	 */
	if (!v->running && c->since_s > LEARN_S)
		c->trying = false;
	if (!c->trying || !v->running || c->since_s < REACTION_S)
		return;
	c->after += fmax(0, excess) * v->dt_s;
	c->after_s += v->dt_s;
	if (c->after_s >= LISTEN_S)
		decide(c, valve, v);
}

bool
throttle_cause_may_cut(const ThrottleCause *c)
{
	return c->innocent_s <= 0;
}

void
throttle_cause_cut(ThrottleCause *c, double before)
{
	/* of several in a row the first tells how it was */
	if (!c->trying)
	{
		c->trying = true;
		c->before_cut = c->excess;
		c->waiting_cut = c->waiting;
		c->allowed_before = before;
	}
	c->since_s = c->after = c->after_s = 0;
}
