/*
 * clean_plan_test.c
 *		policy/clean_plan: what was measured is met, and the cheaper way is
 *		chosen.
 */
#include "clean_plan.h"
#include "tap.h"

/* bench/retail: 7,000,000 rows, a btree on a number and one on a text. */
static CleanTable
table_of_bench(double dead, double not_visible, double scanned)
{
	CleanTable	t = {0};

	t.pages = 127273;
	t.visible_pages = t.pages - not_visible;
	t.scanned_pages = scanned;
	t.dead = dead;
	t.indexes = 2;
	t.index_pages[0] = 19180;
	t.index_pages[1] = 50600;
	return t;
}

static void
is_near(double estimated, double measured, double by, const char *what)
{
	tap_is_bool(estimated > measured / by && estimated < measured * by, true, "measured", what);
}

/* The measured figures are PostgreSQL 15's, in bench/results/retail.txt. */
static void
test_measured(void)
{
	CleanTable	t = table_of_bench(70, 70, 70);
	CleanCost	cost = clean_cost(&t);

	is_near(cost.by_row, 896, 1.1, "0.001 % scattered, by row");
	is_near(cost.by_vacuum, 69985, 1.1, "0.001 % scattered, by vacuum");
	tap_is_int(clean_plan(&t, &cost), CLEAN_BY_ROW, "measured", "0.001 % scattered: by row");

	/* the dead rows are at equal distances, so that a vacuum skips no page */
	t = table_of_bench(7000, 7000, 127273);
	cost = clean_cost(&t);
	is_near(cost.by_row, 75204, 1.1, "0.1 % scattered, by row");
	is_near(cost.by_vacuum, 331317, 1.1, "0.1 % scattered, by vacuum");
	tap_is_int(clean_plan(&t, &cost), CLEAN_BY_ROW, "measured", "0.1 % scattered: by row");

	t = table_of_bench(70000, 70000, 127273);
	cost = clean_cost(&t);
	is_near(cost.by_row, 500849, 1.1, "1 % scattered, by row");
	is_near(cost.by_vacuum, 394317, 1.1, "1 % scattered, by vacuum");
	tap_is_int(clean_plan(&t, &cost), CLEAN_BY_VACUUM, "measured", "1 % scattered: by vacuum");

	/* how close together the keys lie is not known */
	t = table_of_bench(70000, 1273, 1273);
	cost = clean_cost(&t);
	is_near(cost.by_row, 154517, 1.55, "1 % together, by row");
	is_near(cost.by_vacuum, 75115, 1.1, "1 % together, by vacuum");
	tap_is_int(clean_plan(&t, &cost), CLEAN_BY_VACUUM, "measured", "1 % together: by vacuum");
}

static void
test_edges(void)
{
	CleanTable	t = {0};
	CleanCost	cost = clean_cost(&t);

	tap_is_double(cost.by_row, 0, "edges", "an empty table costs nothing by row");
	tap_is_double(cost.by_vacuum, 0, "edges", "nor by vacuum");
	tap_is_int(clean_plan(&t, &cost), CLEAN_NOTHING, "edges", "there is nothing to do");

	t = table_of_bench(1000, 0, 1);
	cost = clean_cost(&t);
	tap_is_int(clean_plan(&t, &cost), CLEAN_NOTHING, "edges", "all pages are visible to all: no garbage");

	/* the map may have been counted before the table was cut */
	t = table_of_bench(1000, -10, 1);
	cost = clean_cost(&t);
	tap_is_bool(cost.by_row >= 0, true, "edges", "more visible pages than there are");
	tap_is_int(clean_plan(&t, &cost), CLEAN_NOTHING, "edges", "... nothing to do");

	t = table_of_bench(127273, 127273, 127273);
	cost = clean_cost(&t);
	tap_is_int(clean_plan(&t, &cost), CLEAN_BY_VACUUM, "edges", "a dead row on each page");

	t = table_of_bench(10, 10, 10);
	t.indexes = 0;
	cost = clean_cost(&t);
	tap_is_bool(cost.by_row <= 10 * 4.5, true, "edges", "a table without indexes");
}

static void
test_learned(void)
{
	CleanTable	t = table_of_bench(30000, 30000, 100000);
	CleanCost	before = clean_cost(&t);

	tap_is_double(clean_correction(0, 1000, 500), 0.5, "learned", "the first time");
	tap_is_double(clean_correction(0.5, 500, 250), 0.25, "learned", "an estimate that was corrected already");
	tap_is_double(clean_correction(0.5, 500, 500), 0.5, "learned", "it was right");
	tap_is_double(clean_correction(0.5, 0, 100), 0.5, "learned", "nothing was estimated");
	tap_is_double(clean_correction(0, 1, 1e9), 10, "learned", "not without bounds");
	tap_is_double(clean_correction(0, 1e9, 1), 0.1, "learned", "in either direction");

	tap_is_int(clean_plan(&t, &before), CLEAN_BY_ROW, "learned", "0.4 %: by row");
	t.correction = 2;
	before = clean_cost(&t);
	tap_is_int(clean_plan(&t, &before), CLEAN_BY_VACUUM, "learned", "but not if that costs twice as much there");
	t = table_of_bench(70000, 1273, 1273);
	t.correction = 0.3;
	before = clean_cost(&t);
	tap_is_int(clean_plan(&t, &before), CLEAN_BY_ROW, "learned", "keys that lie together as well");
}

static void
test_worth(void)
{
	CleanTable	t = table_of_bench(70, 70, 70);
	CleanCost	cost = clean_cost(&t);

	tap_is_bool(clean_is_worth_it(&cost, 70), true, "worth", "dead rows are all that the pages have");
	t = table_of_bench(7000, 7000, 127273);
	cost = clean_cost(&t);
	tap_is_bool(clean_is_worth_it(&cost, 7000), true, "worth", "a thousandth, and a vacuum a moment ago");

	/* every page was changed since the last vacuum, and few have garbage left */
	t = table_of_bench(7000, 127273, 127273);
	cost = clean_cost(&t);
	tap_is_int(clean_plan(&t, &cost), CLEAN_BY_ROW, "worth", "a vacuum would read as many pages");
	tap_is_bool(clean_is_worth_it(&cost, 7000), false, "worth", "but nobody needs either");
}

static void
test_when(void)
{
	tap_is_double(clean_threshold(0.001, 7e6), 7000, "when", "a thousandth");
	tap_is_double(clean_threshold(0.001, 1000), 50, "when", "but some rows at least");
	tap_is_double(clean_threshold(0.001, -1), 50, "when", "never counted");
	tap_is_bool(clean_threshold(-1, 1e15) > 1e15, true, "when", "no table as a whole");

	/* 0.5 % an hour of 7 million rows, vacuumed at a fifth */
	tap_is_bool(clean_is_slow(7000, 7583, 60, 1400050), true, "when", "it keeps its garbage for forty hours");
	tap_is_bool(clean_is_slow(7000, 30000, 60, 1400050), false, "when", "an hour is not long");
	tap_is_bool(clean_is_slow(7000, 7000, 60, 1400050), true, "when", "no more garbage comes");
	tap_is_bool(clean_is_slow(7000, 100, 60, 1400050), true, "when", "somebody has vacuumed it");
	tap_is_bool(clean_is_slow(7000, 7000, 0, 1400050), false, "when", "nobody knows yet");
	tap_is_bool(clean_is_slow(100, 100, 60, 50), false, "when", "the vacuum is due already");
}

int
main(void)
{
	test_measured();
	test_edges();
	test_learned();
	test_worth();
	test_when();
	return tap_done();
}
