/*
 * policy/clean_plan.h
 *		Are a table's dead rows removed one by one, or are they left to a
 *		vacuum?  Pure.
 *
 * What is compared is how many pages either would touch, in the table and in
 * its indexes.  WAL is not compared: it is the same, because both change the
 * same pages, with the same records (bench/retail).
 */
#ifndef SWEEP_POLICY_CLEAN_PLAN_H
#define SWEEP_POLICY_CLEAN_PLAN_H

#include <stdbool.h>

/* Smaller tables are vacuumed in no time.  64 MB. */
#define CLEAN_LEAST_PAGES	8192

/* More dead rows than any table has. */
#define CLEAN_NEVER			1e18

/* What nobody would call garbage, however small the scale factor.  As core's. */
#define CLEAN_LEAST_ROWS	50

/*
 * So many new dead rows, as a fraction of the table's, are worth a look at the
 * pages that are in memory.
 */
#define CLEAN_LOOK_SCALE	0.0001

/*
 * A table that reaches its vacuum threshold sooner than this is left to that
 * vacuum.  For each row, a vacuum of a table full of garbage is much cheaper
 * than cleaning.  Cleaning is for tables that would keep their garbage long.
 */
#define CLEAN_SLOW_S		3600.0

/*
 * A vacuum reads a row of all-visible pages that is shorter than this, so that
 * the kernel sees a sequence.  Source: SKIP_PAGES_THRESHOLD in PostgreSQL's
 * vacuumlazy.c (15 to 19).
 */
#define CLEAN_SKIP_PAGES	32

/*
 * So many pages may be touched for each row that is removed.  With a few
 * indexes some ten are what the row itself takes (bench/retail: 11 to 13).
 * More means that most of the pages that are not all-visible have no garbage.
 * Then a vacuum is wanted, which makes them all-visible.
 */
#define CLEAN_MOST_PER_ROW	30.0

/* Indexes whose sizes are looked at one by one. */
#define CLEAN_PLAN_INDEXES	32

typedef enum CleanPlan
{
	CLEAN_NOTHING,				/* no page can hold dead rows */
	CLEAN_BY_ROW,
	CLEAN_BY_VACUUM				/* it touches fewer pages */
} CleanPlan;

typedef struct CleanTable
{
	double		dead;			/* rows */
	double		pages;
	double		visible_pages;	/* all-visible */
	double		scanned_pages;	/* which a vacuum reads: those that are not
								 * all-visible, and some between them */
	int			indexes;
	double		index_pages[CLEAN_PLAN_INDEXES];	/* of the btrees */

	/*
	 * Pages touched by row, over what was estimated, as the last clean-up of
	 * the table found (0: there was none)
	 */
	double		correction;
} CleanTable;

/* Pages touched, by hits and reads. */
typedef struct CleanCost
{
	double		by_row;
	double		by_vacuum;		/* one that passes the indexes */
} CleanCost;

extern CleanCost clean_cost(const CleanTable *table);
extern CleanPlan clean_plan(const CleanTable *table, const CleanCost *cost);

/* Are the pages that are touched by row in proportion to the rows? */
extern bool clean_is_worth_it(const CleanCost *cost, double dead);

/*
 * Dead rows that must be exceeded.  scale is a fraction of the rows, negative
 * for CLEAN_NEVER.
 */
extern double clean_threshold(double scale, double rows);

/*
 * Will the table keep its garbage for long?  dead_then are the dead rows of
 * `seconds` ago, vacuum_at is the number that a vacuum waits for.
 */
extern bool clean_is_slow(double dead_then, double dead, double seconds, double vacuum_at);

/*
 * The table's next correction.  `estimated` is what was estimated with the
 * last one, and `touched` what came out.
 */
extern double clean_correction(double correction, double estimated, double touched);

#endif							/* SWEEP_POLICY_CLEAN_PLAN_H */
