/*
 * policy/trial_cost.h
 *		What would a vacuum read and dirty, if it were made now?  Pure.
 *
 * It is an estimate from a sample of the table's pages.  The sample sees the
 * table as it is.  In mode observe the table has not been vacuumed for longer
 * than it would have been in mode act.  So the sample is scaled down to what
 * has changed since the last vacuum that would have been made.
 */
#ifndef SWEEP_POLICY_TRIAL_COST_H
#define SWEEP_POLICY_TRIAL_COST_H

#include <stdbool.h>

/* VACUUM skips all-visible pages only where so many follow each other (SKIP_PAGES_THRESHOLD). */
#define TRIAL_SKIP_PAGES	32

/* Pages of the visibility map and the free space map that it may dirty at each time. */
#define TRIAL_MAP_PAGES		2

/* It passes the table through so few buffers (a ring of 256 kB). */
#define TRIAL_RING_PAGES	32

/* It leaves the indexes alone below this share of pages (BYPASS_THRESHOLD_PAGES). */
#define TRIAL_BYPASS_SHARE	0.02

/* So many pages are hit if so many rows fall on them at random. */
extern double trial_pages_hit(double rows, double pages);

/*
 * If pages that are not all-visible are strewn at random, and are this share
 * of all, which share are all-visible pages in runs too short to be skipped?
 */
extern double trial_share_between(double share);

/* The table's own pages.  All but the shares are numbers of pages or rows. */
typedef struct TrialHeap
{
	double		pages;
	double		not_visible;	/* now, by the visibility map */
	double		between;		/* all-visible pages that a vacuum would read
								 * now, because they lie between those */
	double		resident;		/* share of both that is in shared buffers */
	double		dirty;			/* share of not_visible that is dirty there */
	double		rows_per_page;

	/* the same of the pages at the table's end that new rows have filled */
	double		tail;			/* how many those are (0: not known) */
	double		tail_not_visible;
	double		tail_resident;
	double		tail_dirty;

	/* rows that died and that were inserted since the last vacuum by others */
	double		dead;
	double		inserted;
	/* the same since the last vacuum that would have been made */
	double		new_dead;
	double		new_inserted;
	double		cold_share;		/* of the dead rows, those with index entries */
	double		update_share;	/* of the dead rows, those of updates */
} TrialHeap;

/* One index. */
typedef struct TrialIndex
{
	double		pages;
	double		resident;		/* shares, as above */
	double		dirty;
} TrialIndex;

/*
 * The range in which the pages read and dirtied should lie.  The least holds
 * if what changed last is in memory, the most if it is no more so than the
 * rest.
 */
typedef struct TrialCost
{
	double		scanned;		/* of the table, read or found in memory */
	double		cleaned;		/* of those the pages with something to do */
	double		least_read;
	double		most_read;
	double		least_dirtied;
	double		most_dirtied;
} TrialCost;

extern TrialCost trial_cost_heap(const TrialHeap *heap);

/* Would the vacuum clean the indexes as well? */
extern bool trial_cleans_indexes(const TrialHeap *heap);

/*
 * Adds what the second pass over the table costs, which comes after the
 * indexes.
 */
extern void trial_cost_add_second_pass(TrialCost *cost, const TrialHeap *heap);

/* Adds what cleaning the index costs. */
extern void trial_cost_add_index(TrialCost *cost, const TrialHeap *heap, const TrialIndex *index);

#endif							/* SWEEP_POLICY_TRIAL_COST_H */
