/*
 * policy/estimate.c
 *		How much of a run is done, and when will it end?  Pure.
 *
 * First choice: the cost of the last run of the same table, scaled by the
 * table's size, against the cost so far (the idea of seed 002: "estimate how
 * long it will take to finish, based on current progress and whatever total
 * cost was logged last time").  Second: the counters of the phase, as long as
 * nothing of unknown length follows it.  Otherwise unknown, never invented.
 */
#include "estimate.h"

/* Below this the present rate is noise; below that the last run was. */
#define MIN_ELAPSED_MS		500.0
#define MIN_LAST_COST		1000

static double
clamp(double x, double low, double high)
{
	return x < low ? low : (x > high ? high : x);
}

/*
 * The last run's total says how much is left.  A run that already cost more
 * than expected has outgrown that experience: say nothing then.
 */
static bool
estimate_from_last_run(const EstimateInput *in, Estimate *e)
{
	double		expected;
	double		left;

	if (in->last_cost < MIN_LAST_COST || in->last_pages <= 0 || in->pages <= 0)
		return false;
	if (in->elapsed_ms < MIN_ELAPSED_MS)
		return false;

	expected = (double) in->last_cost * (double) in->pages / (double) in->last_pages;
	left = expected - (double) in->cost;
	if (left <= 0)
		return false;

	e->basis = ESTIMATE_LAST_RUN;
	e->done_pct = clamp(100.0 * (double) in->cost / expected, 0, 100);
	if (in->cost_per_s > 0)
		e->eta_ms = left / in->cost_per_s * 1000.0;
	else if (in->last_ms > 0)
		e->eta_ms = in->last_ms * left / (double) in->last_cost;
	return true;
}

static bool
estimate_from_progress(const EstimateInput *in, Estimate *e)
{
	double		done;

	if (in->phase == ESTIMATE_TRUNCATE)
	{
		e->basis = ESTIMATE_PROGRESS;
		e->done_pct = 99;
		return true;
	}
	if (in->units_total <= 0)
		return false;

	done = clamp((double) in->units_done / (double) in->units_total, 0, 1);

	/*
	 * An index pass is coming (or running): its length is unknown, so the
	 * phase's own share says nothing about the whole.
	 */
	if (in->phase == ESTIMATE_INDEXES || (in->phase == ESTIMATE_SCAN && in->more_passes))
		return false;
	if (in->phase != ESTIMATE_SCAN && in->phase != ESTIMATE_HEAP)
		return false;

	e->basis = ESTIMATE_PROGRESS;
	if (in->phase == ESTIMATE_SCAN)
		e->done_pct = 100.0 * done;
	if (done > 0 && in->phase_ms >= MIN_ELAPSED_MS)
		e->eta_ms = in->phase_ms * (1.0 - done) / done;
	return true;
}

Estimate
estimate_run(const EstimateInput *in)
{
	Estimate	e = {ESTIMATE_NONE, -1, -1};

	if (!estimate_from_last_run(in, &e))
		(void) estimate_from_progress(in, &e);
	return e;
}
