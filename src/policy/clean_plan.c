/*
 * policy/clean_plan.c
 *		Are a table's dead rows removed one by one, or are they left to a
 *		vacuum?  Pure.
 *
 * The touches per page are those that bench/retail has measured, on a table of
 * 1 GB with two btrees.  The estimate meets its figures within a tenth, and
 * where the dead rows lie together within a half, because nobody knows how
 * close together their keys lie (test/unit/clean_plan_test.c).  What it is
 * wrong by is learned.
 */
#include "clean_plan.h"

#include <math.h>

/*
 * A page of the table is read together with its page of the visibility map.
 * One with dead rows is also written down in the free space map, and read once
 * more when its row pointers are recycled.
 */
#define LOOK			2.0
#define PRUNE			2.5

/* A vacuum comes back to a page with dead rows when the indexes are done. */
#define VACUUM_AGAIN	1.0

/* A leaf is found and then locked once more. */
#define LEAF			2.0

/* Entries of an inner page of a btree, for keys of usual size. */
#define FANOUT			256.0

/* Corrections stay between these: the estimate is rough, but not absurd. */
#define CORRECTION_LEAST	0.1
#define CORRECTION_MOST		10.0

static double
lesser(double a, double b)
{
	return a < b ? a : b;
}

static double
greater(double a, double b)
{
	return a > b ? a : b;
}

/*
 * How many different pages do n entries meet that are scattered over them?
 * Source: A. F. Cardenas, "Analysis and performance of inverted data base
 * structures", CACM 18(5), 1975, in its limit for large numbers.
 */
static double
pages_met(double pages, double n)
{
	return pages > 0 ? pages * (1 - exp(-n / pages)) : 0;
}

/* Inner pages on the way to a leaf. */
static double
levels(double pages)
{
	return pages > 1 ? ceil(log(pages) / log(FANOUT)) : 0;
}

CleanCost
clean_cost(const CleanTable *t)
{
	CleanCost	cost = {0};
	double		not_visible = lesser(greater(t->pages - t->visible_pages, 0), t->pages);
	double		with_dead = lesser(not_visible, t->dead);

	if (t->pages <= 0)
		return cost;
	cost.by_row = not_visible * LOOK + with_dead * PRUNE;
	cost.by_vacuum = greater(t->scanned_pages, not_visible) * LOOK + with_dead * VACUUM_AGAIN;
	for (int i = 0; i < t->indexes; i++)
	{
		cost.by_row += pages_met(t->index_pages[i], t->dead) * (levels(t->index_pages[i]) + LEAF);
		cost.by_vacuum += t->index_pages[i];
	}
	if (t->correction > 0)
		cost.by_row *= t->correction;
	return cost;
}

CleanPlan
clean_plan(const CleanTable *t, const CleanCost *cost)
{
	if (t->visible_pages >= t->pages)
		return CLEAN_NOTHING;
	return cost->by_row <= cost->by_vacuum ? CLEAN_BY_ROW : CLEAN_BY_VACUUM;
}

bool
clean_is_worth_it(const CleanCost *cost, double dead)
{
	return cost->by_row <= CLEAN_MOST_PER_ROW * dead;
}

double
clean_threshold(double scale, double rows)
{
	return scale < 0 ? CLEAN_NEVER : greater(CLEAN_LEAST_ROWS, scale * greater(rows, 0));
}

bool
clean_is_slow(double dead_then, double dead, double seconds, double vacuum_at)
{
	if (dead >= vacuum_at)
		return false;
	return seconds > 0 && (dead - dead_then) * CLEAN_SLOW_S < (vacuum_at - dead) * seconds;
}

double
clean_correction(double correction, double estimated, double touched)
{
	if (estimated <= 0 || touched <= 0)
		return correction;
	if (correction <= 0)
		correction = 1;
	return lesser(greater(correction * touched / estimated, CORRECTION_LEAST), CORRECTION_MOST);
}
