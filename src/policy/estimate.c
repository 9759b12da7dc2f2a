/*
 * policy/estimate.c
 *		How much of a run is done, and when will it end?  Pure.
 *
 * The first choice is the cost of the last run of the same table, scaled by
 * the table's size, against the cost so far.  That is the idea of seed 002:
 * "estimate how long it will take to finish, based on current progress and
 * whatever total cost was logged last time".  The second choice is the
 * counters of the phase, as long as nothing of unknown length follows it.
 * Otherwise the end is unknown, and never invented.
 *
 * The last run is believed only as far as this one can still cost so much.
 * The pages that are left cost a read and a write at most, once in the scan
 * and, where rows are dead, once more in the second pass.  And the further a
 * scan without dead rows has come, the more its own speed counts.
 */
#include "estimate.h"

#include <math.h>

/* Below these the present rate is noise, and so was the last run. */
#define MIN_ELAPSED_MS		500.0
#define MIN_LAST_COST		1000

static double
clamp(double x, double low, double high)
{
	return x < low ? low : (x > high ? high : x);
}

/*
 * What the indexes cost is not known before they are done.  With one or two
 * of them it is about this part of what the heap costs.  The last run knows.
 * So it is doubted only if it is that much too large.
 */
#define INDEX_PART			0.25
#define DOUBTFUL			0.75

/* Indexes that cost so many times what the heap did, such as graphs, are known to the last run only. */
#define DEAR				4

static bool
has_index_pass(const EstimateInput *in)
{
	return in->more_passes || in->last_index_passes > 0;
}

/* What can the run cost in all, at most?  Negative if nothing says. */
static double
most_cost(const EstimateInput *in)
{
	double		page = (double) in->page_cost;
	double		left = clamp((double) (in->units_total - in->units_done), 0, INFINITY);
	double		revisit = clamp((double) in->to_revisit, 0, INFINITY);
	double		cost = (double) in->cost;
	double		indexes;

	if (in->page_cost <= 0)
		return -1;
	switch (in->phase)
	{
		case ESTIMATE_SCAN:
			if (in->units_total <= 0)
				return -1;
			if (!has_index_pass(in))
				return cost + left * page;
			return cost + (left + (1 + 2 * INDEX_PART) * (revisit + left)) * page;
		case ESTIMATE_INDEXES:
			indexes = 2 * INDEX_PART * revisit * page;
			if ((double) in->phase_cost > clamp(DEAR * (cost - (double) in->phase_cost), indexes, INFINITY))
				return -1;
			return cost + indexes - clamp((double) in->phase_cost, 0, indexes) + revisit * page;
		case ESTIMATE_HEAP:
			return cost + clamp((double) (in->to_revisit - in->phase_dirtied), 0, revisit) * page;
		default:
			return -1;
	}
}

/* What the last run's cost says, scaled by size and bounded. */
static double
expected_cost(const EstimateInput *in)
{
	double		expected = (double) in->last_cost * (double) in->pages / (double) in->last_pages;
	double		most = most_cost(in);
	bool		guessed = in->phase == ESTIMATE_INDEXES ||
		(in->phase == ESTIMATE_SCAN && has_index_pass(in));

	return most >= 0 && most < expected * (guessed ? DOUBTFUL : 1) ? most : expected;
}

/*
 * Only the scan is left.  Its own speed counts, and the more the further it
 * is.
 */
static double
blend_with_scan(const EstimateInput *in, double eta_ms)
{
	double		done;
	double		scan_ms;

	if (in->phase != ESTIMATE_SCAN || has_index_pass(in) ||
		in->units_total <= 0 || in->units_per_s <= 0 || eta_ms < 0)
		return eta_ms;
	done = clamp((double) in->units_done / (double) in->units_total, 0, 1);
	scan_ms = (1.0 - done) * (double) in->units_total / in->units_per_s * 1000.0;
	return eta_ms + done * (scan_ms - eta_ms);
}

/*
 * The last run's total says how much is left.  A run that has already cost
 * more than expected has outgrown that experience.  Then nothing is said.
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

	expected = expected_cost(in);
	left = expected - (double) in->cost;
	if (left <= 0)
		return false;

	e->basis = ESTIMATE_LAST_RUN;
	e->done_pct = clamp(100.0 * (double) in->cost / expected, 0, 100);
	if (in->cost_per_s > 0)
		e->eta_ms = left / in->cost_per_s * 1000.0;
	else if (in->last_ms > 0)
		e->eta_ms = in->last_ms * left / (double) in->last_cost;
	e->eta_ms = blend_with_scan(in, e->eta_ms);
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
	 * An index pass is coming or running.  Its length is unknown, so the
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
