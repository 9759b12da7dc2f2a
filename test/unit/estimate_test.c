/*
 * estimate_test.c
 *		policy/estimate.
 *
 * Expected values, by the rules of the header and of seed 002 ("estimate how
 * long it will take to finish, based on current progress and whatever total
 * cost was logged last time"):
 *
 *    last run: expected = last_cost * pages / last_pages,
 *    done = cost / expected, eta = (expected - cost) / cost_per_s,
 *    without a rate last_ms * (expected - cost) / last_cost
 *    progress: done = units_done / units_total, eta = phase_ms * (1 - done) / done
 *    otherwise unknown
 *
 * No more is believed of the last run than this one can still cost, see
 * policy/estimate.c.
 *
 * There are also whole vacuums, as a reader of the view sees them every
 * second.
 */
#include "estimate.h"
#include "tap.h"

#include <math.h>

/* A run that has read a quarter of a table of 2,000 pages, last time 1,000. */
#define LAST_RUN .elapsed_ms = 5000, .cost = 50000, .pages = 2000, \
	.last_pages = 1000, .last_cost = 100000, .last_ms = 20000
#define SCANNING .phase = ESTIMATE_SCAN, .units_total = 1000, .units_done = 250, .phase_ms = 1000

static const struct
{
	const char *name;
	EstimateInput in;
	EstimateBasis basis;
	double		done_pct;
	double		eta_ms;
}			cases[] = {
	{"nothing is known", {.phase = ESTIMATE_OTHER}, ESTIMATE_NONE, -1, -1},
	{"nothing but the time", {.elapsed_ms = 60000,.cost = 1000000,.cost_per_s = 1000}, ESTIMATE_NONE, -1, -1},

	/* the last run */
	{"last run, present rate", {LAST_RUN,.cost_per_s = 10000}, ESTIMATE_LAST_RUN, 25, 15000},
	{"last run, another rate", {LAST_RUN,.cost_per_s = 150000}, ESTIMATE_LAST_RUN, 25, 1000},
	{"last run, no rate yet: its own time", {LAST_RUN}, ESTIMATE_LAST_RUN, 25, 30000},
	{"last run, neither rate nor time", {.elapsed_ms = 5000,.cost = 50000,.pages = 2000,
	.last_pages = 1000,.last_cost = 100000}, ESTIMATE_LAST_RUN, 25, -1},
	{"last run wins over progress", {LAST_RUN,.cost_per_s = 10000, SCANNING}, ESTIMATE_LAST_RUN, 25, 15000},
	{"last run knows what an index pass takes", {LAST_RUN,.cost_per_s = 10000,.phase = ESTIMATE_INDEXES},
	ESTIMATE_LAST_RUN, 25, 15000},
	{"the table has shrunk", {.elapsed_ms = 5000,.cost = 10000,.pages = 500,.last_pages = 1000,
	.last_cost = 100000,.cost_per_s = 10000}, ESTIMATE_LAST_RUN, 20, 4000},
	{"nothing done yet", {.elapsed_ms = 5000,.cost = 0,.pages = 1000,.last_pages = 1000,
	.last_cost = 100000,.last_ms = 20000}, ESTIMATE_LAST_RUN, 0, 20000},

	{"a table of one page", {.elapsed_ms = 5000,.cost = 500,.pages = 1,.last_pages = 1,.last_cost = 2000,
	.cost_per_s = 1000}, ESTIMATE_LAST_RUN, 25, 1500},
	{"almost as expected", {.elapsed_ms = 5000,.cost = 3999,.pages = 1,.last_pages = 1,.last_cost = 4000,
	.cost_per_s = 0.5}, ESTIMATE_LAST_RUN, 99.975, 2000},
	{"a last run of 1 ms", {.elapsed_ms = 5000,.cost = 2000,.pages = 1,.last_pages = 1,.last_cost = 4000,
	.last_ms = 1}, ESTIMATE_LAST_RUN, 50, 0.5},

	/* what the last run does not tell */
	{"last run too small to go by", {.elapsed_ms = 5000,.cost = 100,.pages = 1000,.last_pages = 1000,
	.last_cost = 999,.cost_per_s = 10}, ESTIMATE_NONE, -1, -1},
	{"last run just large enough", {.elapsed_ms = 5000,.cost = 100,.pages = 1000,.last_pages = 1000,
	.last_cost = 1000,.cost_per_s = 10}, ESTIMATE_LAST_RUN, 10, 90000},
	{"too early to tell", {.elapsed_ms = 499,.cost = 50000,.pages = 2000,.last_pages = 1000,
	.last_cost = 100000,.cost_per_s = 10000}, ESTIMATE_NONE, -1, -1},
	{"too early, but there is progress", {.elapsed_ms = 499,.cost = 50000,.pages = 2000,.last_pages = 1000,
	.last_cost = 100000,.cost_per_s = 10000, SCANNING}, ESTIMATE_PROGRESS, 25, 3000},
	{"size then unknown, but there is progress", {.elapsed_ms = 5000,.cost = 50000,.pages = 2000,
	.last_cost = 100000,.cost_per_s = 10000, SCANNING}, ESTIMATE_PROGRESS, 25, 3000},
	{"not too early", {.elapsed_ms = 500,.cost = 50000,.pages = 2000,.last_pages = 1000,
	.last_cost = 100000,.cost_per_s = 10000}, ESTIMATE_LAST_RUN, 25, 15000},
	{"size now unknown", {.elapsed_ms = 5000,.cost = 50000,.pages = 0,.last_pages = 1000,
	.last_cost = 100000,.cost_per_s = 10000}, ESTIMATE_NONE, -1, -1},
	{"size then unknown", {.elapsed_ms = 5000,.cost = 50000,.pages = 2000,.last_pages = -1,
	.last_cost = 100000,.cost_per_s = 10000}, ESTIMATE_NONE, -1, -1},
	{"it was empty then", {.elapsed_ms = 5000,.cost = 50000,.pages = 2000,.last_pages = 0,
	.last_cost = 100000,.cost_per_s = 10000}, ESTIMATE_NONE, -1, -1},
	{"more than expected: outgrown", {.elapsed_ms = 5000,.cost = 250000,.pages = 2000,.last_pages = 1000,
	.last_cost = 100000,.cost_per_s = 10000}, ESTIMATE_NONE, -1, -1},
	{"exactly as expected, and still running", {.elapsed_ms = 5000,.cost = 200000,.pages = 2000,
	.last_pages = 1000,.last_cost = 100000,.cost_per_s = 10000}, ESTIMATE_NONE, -1, -1},
	{"outgrown, but there is progress", {.elapsed_ms = 5000,.cost = 250000,.pages = 2000,.last_pages = 1000,
	.last_cost = 100000,.cost_per_s = 10000, SCANNING}, ESTIMATE_PROGRESS, 25, 3000},
	{"costs beyond 32 bits", {.elapsed_ms = 5000,.cost = INT64_C(10000000000),.pages = 1000,.last_pages = 1000,
	.last_cost = INT64_C(40000000000),.cost_per_s = 1e9}, ESTIMATE_LAST_RUN, 25, 30000},

	/* what this run can still cost */
	{"the scan's end bounds it", {LAST_RUN,.cost_per_s = 1000,.phase = ESTIMATE_SCAN,.units_total = 1000,.units_done = 930,
	.phase_ms = 50000,.page_cost = 24}, ESTIMATE_LAST_RUN, 100.0 * 50000 / 51680, 1680},
	{"the scan's own speed, the more the further", {LAST_RUN,.cost_per_s = 1000,.phase = ESTIMATE_SCAN,.units_total = 1000,
	.units_done = 500,.phase_ms = 50000,.page_cost = 24,.units_per_s = 500}, ESTIMATE_LAST_RUN, 100.0 * 50000 / 62000,
	12000 + 0.5 * (1000 - 12000)},
	{"dead rows: the indexes and the second pass, too", {LAST_RUN,.cost_per_s = 1000,.phase = ESTIMATE_SCAN,.units_total = 1000,
	.units_done = 1000,.phase_ms = 50000,.page_cost = 20,.more_passes = true,.to_revisit = 500}, ESTIMATE_LAST_RUN, 100.0 * 50000 / 65000, 15000},
	{"the same, not so much less that the last run is doubted", {LAST_RUN,.cost_per_s = 1000,.phase = ESTIMATE_SCAN,.units_total = 1000,
	.units_done = 1000,.phase_ms = 50000,.page_cost = 20,.more_passes = true,.to_revisit = 4000}, ESTIMATE_LAST_RUN, 25, 150000},
	{"in the second pass", {LAST_RUN,.cost_per_s = 1000,.phase = ESTIMATE_HEAP,.units_total = 1000,
	.units_done = 900,.phase_ms = 5000,.page_cost = 20,.to_revisit = 500,.phase_dirtied = 400}, ESTIMATE_LAST_RUN,
	100.0 * 50000 / 52000, 2000},

	/* progress */
	{"scanning", {SCANNING}, ESTIMATE_PROGRESS, 25, 3000},
	{"scanning, an index pass will follow", {SCANNING,.more_passes = true}, ESTIMATE_NONE, -1, -1},
	{"scanning, nothing done", {.phase = ESTIMATE_SCAN,.units_total = 1000,.phase_ms = 1000},
	ESTIMATE_PROGRESS, 0, -1},
	{"scanning, all done", {.phase = ESTIMATE_SCAN,.units_total = 1000,.units_done = 1000,.phase_ms = 1000},
	ESTIMATE_PROGRESS, 100, 0},
	{"scanning, more than all", {.phase = ESTIMATE_SCAN,.units_total = 1000,.units_done = 1500,.phase_ms = 1000},
	ESTIMATE_PROGRESS, 100, 0},
	{"scanning, less than nothing", {.phase = ESTIMATE_SCAN,.units_total = 1000,.units_done = -5,.phase_ms = 1000},
	ESTIMATE_PROGRESS, 0, -1},
	{"scanning, total unknown", {.phase = ESTIMATE_SCAN,.units_done = 10,.phase_ms = 1000}, ESTIMATE_NONE, -1, -1},
	{"scanning one page", {.phase = ESTIMATE_SCAN,.units_total = 1,.phase_ms = 1000}, ESTIMATE_PROGRESS, 0, -1},
	{"scanning, too early for a rate", {.phase = ESTIMATE_SCAN,.units_total = 1000,.units_done = 250,.phase_ms = 499},
	ESTIMATE_PROGRESS, 25, -1},
	{"scanning, just long enough", {.phase = ESTIMATE_SCAN,.units_total = 1000,.units_done = 250,.phase_ms = 500},
	ESTIMATE_PROGRESS, 25, 1500},
	{"index passes have an unknown length", {.phase = ESTIMATE_INDEXES,.units_total = 1000,.units_done = 500,
	.phase_ms = 1000}, ESTIMATE_NONE, -1, -1},
	{"second heap pass: the phase's end, not the whole", {.phase = ESTIMATE_HEAP,.units_total = 1000,
	.units_done = 800,.phase_ms = 4000}, ESTIMATE_PROGRESS, -1, 1000},
	{"truncating", {.phase = ESTIMATE_TRUNCATE,.units_total = 1000,.units_done = 1000,.phase_ms = 1000},
	ESTIMATE_PROGRESS, 99, -1},
	{"truncating, nothing else known", {.phase = ESTIMATE_TRUNCATE}, ESTIMATE_PROGRESS, 99, -1},
	{"another phase", {.phase = ESTIMATE_OTHER,.units_total = 1000,.units_done = 500,.phase_ms = 1000},
	ESTIMATE_NONE, -1, -1},
};

/* ----
 * Whole vacuums
 * ----
 */

/*
 * A table of so many pages.  Those of a range are dirtied, the others skipped
 * or read.
 */
typedef struct Trace
{
	const char *name;
	int			pages;
	int			from;			/* dirtied from there */
	int			to;				/* up to there */
	int			skipped_to;		/* all-visible, not read, up to there */
	bool		dead;			/* vacuumed by way of the indexes */
	double		indexes;		/* their cost */
	double		last_cost;		/* 0: the first one */
	bool		last_dead;
	double		error_below;	/* mean error of the time left, as a part of
								 * the whole */
} Trace;

#define READ_COST	3
#define PAGE_COST	24
#define RATE		1000.0

static double
cost_of_page(const Trace *t, int page)
{
	if (page >= t->from && page < t->to)
		return PAGE_COST;
	return page < t->skipped_to ? 0 : READ_COST;
}

static double
cost_of_trace(const Trace *t)
{
	double		cost = t->dead ? t->indexes + (t->to - t->from) * PAGE_COST : 0;

	for (int i = 0; i < t->pages; i++)
		cost += cost_of_page(t, i);
	return cost;
}

/* What is seen of it when it has cost so much. */
static EstimateInput
look(const Trace *t, double cost)
{
	EstimateInput in = {
		.elapsed_ms = cost,.cost = (int64_t) cost,.cost_per_s = RATE,.units_total = t->pages,
		.page_cost = PAGE_COST,.pages = t->pages,
		.last_pages = t->last_cost > 0 ? t->pages : 0,.last_cost = (int64_t) t->last_cost,
		.last_ms = t->last_cost,.last_index_passes = t->last_dead ? 1 : 0,
	};
	double		spent = 0;
	int			done = 0;
	int			dirtied = 0;

	in.phase = ESTIMATE_SCAN;
	for (; done < t->pages && spent + cost_of_page(t, done) <= cost; done++)
	{
		spent += cost_of_page(t, done);
		dirtied += done >= t->from && done < t->to;
	}
	in.units_done = done;
	in.more_passes = t->dead && dirtied > 0;
	in.phase_ms = cost;
	in.phase_cost = (int64_t) cost;
	in.phase_dirtied = in.to_revisit = dirtied;
	in.units_per_s = RATE / fmax(cost_of_page(t, done < t->pages ? done : t->pages - 1), 1);
	if (done < t->pages)
		return in;

	in.phase = ESTIMATE_INDEXES;
	in.phase_ms = in.phase_cost = (int64_t) (cost - spent);
	in.phase_dirtied = 0;
	if (!t->dead || cost - spent < t->indexes)
		return in;

	spent += t->indexes;
	in.phase = ESTIMATE_HEAP;
	in.phase_ms = in.phase_cost = (int64_t) (cost - spent);
	in.phase_dirtied = (int64_t) ((cost - spent) / PAGE_COST);
	in.units_done = t->from + in.phase_dirtied;
	return in;
}

static double
mean_error(const Trace *t, bool *near_end)
{
	double		whole = cost_of_trace(t);
	double		sum = 0;
	int			n = 0;

	for (double cost = whole / 100; cost < whole; cost += whole / 100)
	{
		EstimateInput in = look(t, cost);
		Estimate	e = estimate_run(&in);
		double		left_ms = (whole - cost) / RATE * 1000;

		if (e.eta_ms < 0)
			continue;
		sum += fabs(e.eta_ms - left_ms) / (whole / RATE * 1000);
		n++;
		if (cost > 0.93 * whole && e.eta_ms > 3 * left_ms + 0.02 * whole / RATE * 1000)
			*near_end = false;
	}
	return n > 0 ? sum / n : 1;
}

/* 10,000 pages, as in bench/scenarios/cost.toml: two fifths, two fifths, one fifth. */
#define FIFTHS(n) ((n) * 2000)
#define TWO_FIFTHS (4000 * PAGE_COST * 2 + 15000)

static const Trace traces[] = {
	{"first vacuum, all dirtied", 10000, 0, FIFTHS(5), 0, false, 0, 0, false, 0.02},
	{"as much again", 10000, FIFTHS(2), FIFTHS(4), FIFTHS(2), true, 15000, TWO_FIFTHS + 6000, true, 0.05},
	{"exactly as much again", 10000, FIFTHS(2), FIFTHS(4), 10000, true, 15000, TWO_FIFTHS, true, 0.01},
	{"half as much, dear indexes", 10000, FIFTHS(4), FIFTHS(5), FIFTHS(4), true, 60000, TWO_FIFTHS + 45000, true, 0.30},
	{"as much, dear indexes", 10000, FIFTHS(2), FIFTHS(4), 10000, true, 90000, TWO_FIFTHS + 75000, true, 0.01},
	{"few dead rows, a graph as index", 10000, 9900, 10000, 9900, true, 300000, 200 * PAGE_COST + 300000, true, 0.05},
	{"half as much", 10000, FIFTHS(4), FIFTHS(5), FIFTHS(4), true, 10000, TWO_FIFTHS, true, 0.15},
	{"a tenth as much, at the end", 10000, 9600, 10000, 9600, true, 15000, TWO_FIFTHS, true, 0.60},
	{"new rows, as much again", 10000, 8000, 10000, 8000, false, 0, 2000 * PAGE_COST, false, 0.02},
	{"new rows, a tenth of what came last", 10000, 9800, 10000, 9800, false, 0, 2000 * PAGE_COST, false, 0.10},
	{"nothing dead any more", 10000, 0, 0, 0, false, 0, TWO_FIFTHS, false, 2.50},
};

static void
follow_traces(void)
{
	for (size_t i = 0; i < lengthof(traces); i++)
	{
		bool		near_end = true;
		double		error = mean_error(&traces[i], &near_end);

		if (error > traces[i].error_below)
			printf("# %s: %.3f\n", traces[i].name, error);
		tap_ok(error <= traces[i].error_below, traces[i].name, "mean error of the time left");
		tap_ok(near_end, traces[i].name, "near the end it is told");
	}
}

static int64_t
some(uint64_t *state)
{
	static const int64_t edges[] = {0, 1, -1, 499, 1000, INT64_C(1) << 40};
	uint32_t	n = tap_random(state);

	return n % 3 == 0 ? edges[n / 3 % lengthof(edges)] : (int64_t) (tap_random(state) % 100000);
}

/* Whatever comes in: a share between 0 and 100, no ETA without a basis. */
static void
check_ranges(void)
{
	uint64_t	state = 3;
	int			bad = 0;
	int			seen[3] = {0, 0, 0};

	for (int i = 0; i < 200000; i++)
	{
		EstimateInput in = {
			.elapsed_ms = (double) some(&state),.cost = some(&state),.cost_per_s = (double) some(&state),
			.phase = (EstimatePhase) (tap_random(&state) % 5),
			.units_total = some(&state),.units_done = some(&state),.phase_ms = (double) some(&state),
			.more_passes = tap_random(&state) % 2 == 0,
			.pages = some(&state),.last_pages = some(&state),.last_cost = some(&state),
			.last_ms = (double) some(&state),.last_index_passes = some(&state),
			.units_per_s = (double) some(&state),.page_cost = some(&state),.phase_cost = some(&state),
			.phase_dirtied = some(&state),.to_revisit = some(&state),
		};
		Estimate	e = estimate_run(&in);

		bad += !(e.done_pct == -1 || (e.done_pct >= 0 && e.done_pct <= 100));
		bad += !(e.eta_ms == -1 || (e.eta_ms >= 0 && e.eta_ms < INFINITY));
		bad += e.basis == ESTIMATE_NONE && (e.done_pct != -1 || e.eta_ms != -1);
		seen[e.basis]++;
	}
	tap_is_int(bad, 0, "200,000 inputs", "in range");
	tap_ok(seen[ESTIMATE_NONE] > 1000 && seen[ESTIMATE_LAST_RUN] > 1000 && seen[ESTIMATE_PROGRESS] > 1000,
		   "200,000 inputs", "every basis");
}

int
main(void)
{
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		Estimate	e = estimate_run(&cases[i].in);

		tap_is_int(e.basis, cases[i].basis, cases[i].name, "basis");
		tap_is_double(e.done_pct, cases[i].done_pct, cases[i].name, "done_pct");
		tap_is_double(e.eta_ms, cases[i].eta_ms, cases[i].name, "eta_ms");
	}
	follow_traces();
	check_ranges();
	return tap_done();
}
