/*
 * freeze_year_test.c
 *		policy/freeze: a year of 500 tables, half of which never change, in hours.
 *
 * A model of what VACUUM reads and dirties, by the visibility map: pages that were
 * changed since the last vacuum, and for an aggressive one also those that are
 * all-visible and not frozen.  Stock vacuums by the same thresholds, freezes what is
 * older than vacuum_freeze_min_age, is aggressive from vacuum_freeze_table_age on, and
 * against wraparound from autovacuum_freeze_max_age on.  In the year are an upgrade,
 * which forgets the statistics, a restore, which makes all tables anew, and a failover,
 * which forgets the statistics again.
 *
 * It begins with all tables equally old and unfrozen, or with the ages of a cluster that
 * has lived for a while.  With eight other seeds such a cluster reads and dirties 0.95 to
 * 1.014 of stock's pages, and with half as much again as the mean an hour nothing is
 * vacuumed against wraparound, but in one of them a table came to 99 % of its limit.
 */
#include <stdlib.h>

#include "freeze.h"
#include "tap.h"

#define TABLES			500
#define HOURS			(365 * 24)
#define IDS_PER_HOUR	1000000.0
#define LIMIT			200e6	/* autovacuum_freeze_max_age */
#define TABLE_AGE		150e6	/* vacuum_freeze_table_age */
#define MIN_AGE			50e6	/* vacuum_freeze_min_age */
#define ROWS_PER_PAGE	50.0
#define HORIZON			(0.5 * IDS_PER_HOUR)

#define UPGRADE			(HOURS / 4)
#define RESTORE			(HOURS / 2)
#define FAILOVER		(HOURS * 3 / 4)

typedef struct Table
{
	double		pages;
	double		touched_per_hour;	/* pages; 0: it never changes */
	double		touched;		/* since its last vacuum: not all-visible */
	double		visible;		/* all-visible, not frozen */
	double		dead;			/* rows, as the statistics know them */
	double		age;
	bool		inserted;		/* just loaded, not vacuumed yet */
	bool		eager;			/* as remembered (policy/freeze.h) */
	bool		frozen;
} Table;

typedef struct Year
{
	double		pages;			/* read and dirtied by all vacuums */
	double		frozen_ahead;	/* of that, by vacuums that are due by age
								 * only */
	int			forced;			/* vacuums against wraparound */
	double		oldest;			/* of the limit */
	double		first_freezes[10];	/* static tables, by tenths of the limit */
} Year;

/* lived: their ages differ. */
static void
make_tables(Table *tables, bool lived)
{
	uint64_t	seed = 2026;

	memset(tables, 0, sizeof(Table) * TABLES);
	for (int i = 0; i < TABLES; i++)
	{
		/* from some hundred pages to a million */
		tables[i].pages = floor(exp(6 + 8 * (tap_random(&seed) % 1000) / 1000.0));
		tables[i].visible = tables[i].pages;
		if (lived)
			tables[i].age = 0.5 * LIMIT * (tap_random(&seed) % 1000) / 1000.0;
		if (i % 2 == 1)
			tables[i].touched_per_hour = tables[i].pages * (0.0005 + 0.01 * (tap_random(&seed) % 1000) / 1000.0);
	}
}

/* Returns the pages that it reads and dirties. */
static double
vacuum(Table *t, bool aggressive, bool eager, double min_age)
{
	double		recent = eager ? 0 : fmin(t->visible, t->touched_per_hour * min_age / IDS_PER_HOUR);
	double		freezes = t->visible - recent;
	double		cost = 2 * t->touched;

	if (aggressive)
	{
		cost += t->visible + freezes;
		t->visible = recent;
		t->age = eager ? HORIZON : fmin(t->age, fmax(min_age, HORIZON));
	}
	if (!eager)
		t->visible += t->touched;
	t->frozen = aggressive && eager;
	t->eager = eager;
	t->touched = t->dead = 0;
	t->inserted = false;
	return cost;
}

static bool
is_due(const Table *t)
{
	return t->inserted || t->dead > 50 + 0.2 * t->pages * ROWS_PER_PAGE;
}

/* Returns the pages of what the hour vacuums because of its age only. */
static double
stock_hour(Table *t, Year *year)
{
	bool		forced = t->age > LIMIT;

	year->forced += forced;
	if (is_due(t) || forced)
		year->pages += vacuum(t, t->age > TABLE_AGE, false, MIN_AGE);
	return 0;
}

static double
sweep_hour(Table *t, int relid, double budget, Year *year)
{
	bool		quiet = t->touched_per_hour <= 0;
	FreezeAge	age = {(int64_t) t->age, (int64_t) LIMIT, (int64_t) HORIZON};
	bool		age_due = freeze_ahead_is_due(&age, freeze_ahead_share(16384 + relid, quiet && !t->frozen));
	bool		eager = freeze_eagerly(t->eager, t->inserted ? (int64_t) (t->pages * ROWS_PER_PAGE) : 0, (int64_t) t->dead) ||
		(age_due && quiet);
	bool		first = age_due && quiet && t->visible > 0;
	double		share = t->age / LIMIT;
	double		cost;

	year->forced += t->age > LIMIT;
	if (!is_due(t) && (!age_due || budget <= 0))
		return 0;
	if (is_due(t))
	{
		year->pages += vacuum(t, age_due || t->inserted, eager, (double) freeze_ahead_min_age((int64_t) LIMIT));
		return 0;
	}
	if (first)
		year->first_freezes[(int) fmin(share * 10, 9)]++;
	cost = vacuum(t, true, eager, (double) freeze_ahead_min_age((int64_t) LIMIT));
	year->pages += cost;
	year->frozen_ahead += cost;
	return cost;
}

static Table tables[TABLES];

static int
oldest_first(const void *a, const void *b)
{
	double		x = tables[*(const int *) a].age;
	double		y = tables[*(const int *) b].age;

	return x < y ? 1 : (x > y ? -1 : 0);
}

/* budget: pages an hour for what is due by its age only.  The last one of an hour may exceed it. */
static Year
live(bool sweep, bool lived, double budget)
{
	Year		year = {0};
	int			order[TABLES];
	double		left = 0;

	make_tables(tables, lived);
	for (int hour = 0; hour < HOURS; hour++)
	{
		/* what exceeds an hour's budget goes on in the next one */
		left = fmin(left, 0) + budget;
		for (int i = 0; i < TABLES; i++)
			order[i] = i;
		qsort(order, TABLES, sizeof(int), oldest_first);
		for (int i = 0; i < TABLES; i++)
		{
			Table	   *t = &tables[order[i]];
			double		cost;

			t->age += IDS_PER_HOUR;
			t->touched = fmin(t->pages, t->touched + t->touched_per_hour);
			t->dead += t->touched_per_hour;
			if (hour == UPGRADE || hour == FAILOVER)
			{
				t->dead = 0;
				t->frozen = t->eager = false;
			}
			if (hour == RESTORE)
			{
				t->age = 0;
				t->visible = t->dead = 0;
				t->touched = t->pages;
				t->inserted = true;
				t->frozen = t->eager = false;
			}
			cost = sweep ? sweep_hour(t, order[i], left, &year) : stock_hour(t, &year);
			left -= cost;
			year.oldest = fmax(year.oldest, t->age / LIMIT);
		}
	}
	return year;
}

static void
check(const char *group, const Year *year, const Year *stock)
{
	tap_is_int(year->forced, 0, group, "no vacuum against wraparound");
	tap_ok(year->oldest <= 0.9, group, "no table above 90 % of the limit");
	tap_ok(year->pages <= stock->pages, group, "reads and dirties no more than stock");
	printf("# %s: oldest %.3f; pages %.3g, stock %.3g, by age only %.3g\n", group, year->oldest, year->pages, stock->pages,
		   year->frozen_ahead);
}

int
main(void)
{
	Year		stock = live(false, false, 0);
	Year		free_hand = live(true, false, 1e18);
	Year		budgeted = live(true, false, 3 * free_hand.frozen_ahead / HOURS);
	int			most = 0;

	for (int i = 0; i < 10; i++)
		most = (int) fmax(most, free_hand.first_freezes[i]);
	tap_ok(stock.forced > TABLES, "stock", "autovacuum has to vacuum against wraparound");
	check("pg_sweep", &free_hand, &stock);
	tap_ok(most <= TABLES / 2 / 4, "pg_sweep", "no wave of static tables that are equally old");
	check("three times the mean, an hour", &budgeted, &stock);

	stock = live(false, true, 0);
	free_hand = live(true, true, 1e18);
	budgeted = live(true, true, 1.5 * free_hand.frozen_ahead / HOURS);
	check("a cluster that has lived", &free_hand, &stock);
	check("1.5 times the mean, an hour", &budgeted, &stock);
	return tap_done();
}
