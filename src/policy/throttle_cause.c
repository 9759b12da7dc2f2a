/*
 * policy/throttle_cause.c
 *		Can a vacuum be what users wait for, and has it helped them that it gave
 *		way?  Pure.
 *
 * Two questions, because neither answer is enough.  What the device and the kernel
 * tell is known at once, but not of a disk behind a network, or one whose burst
 * budget is used up: there only trying tells.  So a cut is an experiment.  What
 * users wait beyond the usual is averaged before it and after it.  A cut that
 * helped nobody is taken back, and none is made for a while, which gets longer each
 * time.
 */
#include "throttle_cause.h"

#include <math.h>
#include <string.h>

/* A device that is busy for less than this, and answers in less, has room. */
#define IDLE_BUSY_PCT		40.0
#define IDLE_LATENCY_MS		1.0
/* ... and for less than this somebody waits for it, the vacuum itself included. */
#define IDLE_PRESSURE_PCT	30.0

/* What users wait before a cut is averaged over so long, */
#define BEFORE_TAU_S		1.0
/* and after it over so long, once what was queued before it is done. */
#define AFTER_S				3.0
/* A cut has helped when less than this share of the excess is left. */
#define HELPED_SHARE		0.7
/* So few cannot be told from none. */
#define EXCESS_LEAST		0.01

/* No cut for so long after one that did not help: doubled each time up to */
#define INNOCENT_S			30.0
#define INNOCENT_MAX_S		480.0
/* ... unless users wait so many times as long as when it was cut. */
#define WORSE				2.0

bool
throttle_device_is_idle(const ThrottleReading *r)
{
	bool		known = r->disk == SENSOR_OK;

	if (r->io_pressure_pct > IDLE_PRESSURE_PCT)
		return false;
	if (known && (r->busy_pct > IDLE_BUSY_PCT || r->latency_ms > IDLE_LATENCY_MS))
		return false;
	/* the pressure alone tells, too: it is of all devices */
	return known || r->io_pressure_pct >= 0;
}

static void
decide(ThrottleCause *c, ThrottleValve *valve, const ThrottleValveStep *v)
{
	double		after = c->after / c->after_s;

	c->trying = false;
	if (after <= fmax(HELPED_SHARE * c->before_cut, EXCESS_LEAST))
	{
		c->in_vain = 0;
		return;
	}
	/* nobody was helped: as it was before, for a while */
	c->innocent_s = fmin(INNOCENT_S * pow(2, c->in_vain), INNOCENT_MAX_S);
	c->in_vain++;
	c->suspect_waiting = WORSE * fmax(c->waiting_cut, c->waiting);
	valve->cut = false;
	valve->climb_s = 0;
	valve->known = 0;
	if (c->allowed_before > valve->allowed)
	{
		valve->allowed = fmin(fmax(c->allowed_before, v->floor), THROTTLE_UNLIMITED);
		valve->moved_up = true;
	}
}

void
throttle_cause_observe(ThrottleCause *c, ThrottleValve *valve, double waiting, double excess,
					   const ThrottleValveStep *v)
{
	double		share = fmin(1, v->dt_s / BEFORE_TAU_S);

	c->excess += (fmax(0, excess) - c->excess) * share;
	c->waiting += (waiting - c->waiting) * share;
	c->innocent_s = fmax(0, c->innocent_s - v->dt_s);
	if (c->innocent_s > 0 && c->waiting > c->suspect_waiting)
		c->innocent_s = 0;
	if (!v->running)
		c->trying = false;
	c->since_s += v->dt_s;
	if (!c->trying || c->since_s < THROTTLE_REACTION_S)
		return;
	c->after += fmax(0, excess) * v->dt_s;
	c->after_s += v->dt_s;
	if (c->after_s >= AFTER_S)
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
