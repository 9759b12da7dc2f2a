/*
 * policy/worth.h
 *		What does garbage cost, and what did a vacuum bring?  Pure.
 *
 * Garbage makes index scans fetch more blocks.  How many blocks a scan takes
 * is measured right after a vacuum (clean) and ever since (now).  What scans
 * have taken beyond clean is lost.  A vacuum is worth its cost when as many
 * reads were lost as it reads and dirties.
 */
#ifndef SWEEP_POLICY_WORTH_H
#define SWEEP_POLICY_WORTH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * So many scans make a measurement.  The blocks of single scans differ by
 * about as much as they are, so the mean of 1,000 is off by 3 %.
 */
#define WORTH_SCANS			1000

/* Right after a vacuum it goes on to so many, as long as the table is clean. */
#define WORTH_CLEAN_SCANS	(10 * WORTH_SCANS)

/* A table is clean while no larger share of its rows is dead. */
#define WORTH_CLEAN_DEAD	0.01

/*
 * Scans that take less than this share more are as good as clean: three times
 * what the mean may be off.
 */
#define WORTH_NOISE			0.1

/*
 * Rows that are written fetch blocks as well, and how many is an estimate.
 * Where a larger share of what clean scans take depends on it, nothing is
 * counted, because another mixture of queries cannot be compared.
 */
#define WORTH_UNCERTAIN		0.5

/*
 * A vacuum that saved less than it cost, because rows change too fast, makes
 * the next one wait for twice the losses, up to so many times its cost.
 */
#define WORTH_DEMAND_MOST	16

/* An inner page of an index has so many entries. */
#define WORTH_FANOUT		256

/*
 * Advice is given from this share of changed rows on that leave index entries
 * behind.  The others are removed by pruning.
 */
#define WORTH_COLD			0.25

/* The scale factor that is advised, and core's default. */
#define WORTH_SMALL_SCALE	0.05
#define WORTH_CORE_SCALE	0.2

/*
 * After a vacuum each session plans its queries of the table again.  For each
 * relation of the partitioned table that takes 12 us, as long as a block takes
 * from the operating system's cache (200 partitions: 2.4 ms).
 */
#define WORTH_REPLAN_BLKS	1.0

/* What the statistics say at one time of a table and its indexes. */
typedef struct WorthCounters
{
	int			indexes;		/* how many have statistics */
	int64_t		scans;			/* of the indexes */
	int64_t		index_fetched;	/* blocks, in memory or not */
	int64_t		index_read;		/* of these, not in shared buffers */
	int64_t		fetched;		/* the same of the table */
	int64_t		read;
	int64_t		table_scans;	/* sequential ones */
	int64_t		vacuums;
	int64_t		analyzes;
	int64_t		inserted;		/* rows */
	int64_t		updated;
	int64_t		hot_updated;
	int64_t		deleted;
} WorthCounters;

/* What was counted over some time.  Blocks that writing rows took are taken off. */
typedef struct WorthSum
{
	double		scans;
	double		index_fetched;
	double		index_read;
	double		written;		/* blocks that were taken off, estimated */

	/* of the times without sequential scans or ANALYZE */
	double		table_scans;	/* index scans then */
	double		fetched;
	double		read;
} WorthSum;

/* Blocks per index scan. */
typedef struct WorthRate
{
	bool		known;
	bool		with_table;		/* the table's blocks are in it */
	double		fetched;
	double		read;
} WorthRate;

/* What is remembered of a table. */
typedef struct Worth
{
	bool		open;			/* the window after a vacuum is not full yet */
	bool		vacuumed;		/* one was seen */
	bool		held_back;		/* it could not remove all dead rows */
	WorthSum	pending;		/* counted last, blocks may still come */
	double		pending_dead;	/* the share of dead rows then */
	WorthSum	opened;			/* that window so far */
	WorthSum	clean;			/* the one by which losses are counted (no
								 * scans: not known) */
	WorthSum	last;			/* the last windows: one that is full, */
	WorthSum	current;		/* and the one that is not */

	/* since the last vacuum */
	double		scans;
	double		taken;			/* blocks that all scans have fetched */
	double		lost_fetched;
	double		lost_read;
	double		changed;		/* rows updated or deleted */
	double		cold;			/* of these, with index entries left behind */

	double		saved_read;		/* of what as many scans took before it (less
								 * than 0: they take more) */
	double		saved_scans;	/* scans of which that is known */

	double		demand;			/* so many times what a vacuum costs must be
								 * lost (less than 1: once) */

	/* of the last vacuum */
	WorthSum	before;			/* (no scans: not known) */
	WorthSum	after;
	bool		cycle_known;	/* so is what was between it and the one
								 * before */
	double		cycle_taken;	/* blocks that all scans fetched then */

	int			costs;			/* of how many vacuums is it the mean */
	bool		at_most;		/* of none: it is what one can cost at most */
	double		cost;			/* blocks that a vacuum reads and dirties */
} Worth;

typedef enum WorthAdvice
{
	WORTH_NO_ADVICE,
	WORTH_VACUUM_EARLIER,		/* a smaller scale factor */
	WORTH_VACUUM_LATER			/* core's default is enough */
} WorthAdvice;

/* What advice goes by, beside what is measured. */
typedef struct WorthThreshold
{
	double		scale;			/* the scale factor in force */
	bool		own;			/* it is the table's own */
	double		rows;
	double		dead;
	double		threshold;		/* of dead rows */
} WorthThreshold;

/* How many blocks does one entry take to be inserted into an index so large? */
extern double worth_levels(double pages);

/*
 * What was counted between the two?  levels is the sum over the indexes.
 * Returns false if that cannot be told: statistics were reset, or an index is
 * gone.
 */
extern bool worth_between(const WorthCounters *then, const WorthCounters *now, double levels,
						  WorthSum *sum);

/* How many rows were changed between the two, and of how many are index entries left? */
extern void worth_count_changes(Worth *w, const WorthCounters *then, const WorthCounters *now);

/*
 * Adds what was counted.  dead_share is that of the table's rows now.  What has
 * scans is only taken in by the next such sum, or by worth_settle().
 */
extern void worth_add(Worth *w, const WorthSum *sum, double dead_share);

/* Takes in what was counted last: no more blocks of those scans will come. */
extern void worth_settle(Worth *w);

/*
 * The table was vacuumed.  What is counted from now on is of the time after it.
 * held_back says that dead rows are left, because somebody may still see them.
 */
extern void worth_begin_again(Worth *w, bool held_back);

/* The table has hardly any dead rows, and nothing is known of it yet. */
extern void worth_begin_clean(Worth *w);

/* What that vacuum has read and dirtied. */
extern void worth_add_cost(Worth *w, double blocks);

/* No vacuum tells what one costs: at most it reads and dirties all pages of table and indexes. */
extern void worth_assume_cost(Worth *w, double pages);

/* What so many sessions pay for planning again, in blocks, with so many relations in the tree. */
extern double worth_replans(int sessions, int relations);

/* Blocks per scan, clean and now, over the same parts of the table. */
extern void worth_rates(const Worth *w, WorthRate *clean, WorthRate *now);

/* The same before the last vacuum, and in the window after it. */
extern void worth_brought(const Worth *w, WorthRate *before, WorthRate *after);

/* Of `more`, what it has beyond `less`.  Reads are at most what is fetched. */
extern WorthRate worth_difference(const WorthRate *more, const WorthRate *less);

/*
 * When are as many reads lost as a vacuum costs?  In seconds since the last
 * vacuum, of which this many have passed.  Negative: not at all, or not
 * known.
 */
extern double worth_breaks_even(const Worth *w, double elapsed_s);

/*
 * Do losses since the last vacuum exceed the cost of the next one, as many
 * times as they must?
 */
extern bool worth_is_lost(const Worth *w);

/*
 * Is a vacuum due by that?  Only if there are dead rows that it may remove.
 * Who vacuums whenever as much was lost as a vacuum costs never spends more
 * than twice what the best choice of times would have cost (renting until
 * buying would have paid: Karlin et al. 1988, "Competitive Snoopy Caching").
 */
extern bool worth_is_due(const Worth *w);

extern WorthAdvice worth_advice(const Worth *w, const WorthThreshold *t);

#endif							/* SWEEP_POLICY_WORTH_H */
