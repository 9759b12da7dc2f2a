/*
 * policy/insert.h
 *		When is a table that rows are inserted into due for a vacuum?  Pure.
 *
 * Sources: the unfrozen ("active") part is Melanie Plageman's, "Trigger more
 * frequent autovacuums of heavy insert tables", pgsql-hackers 2024, and
 * PostgreSQL 18's relation_needs_vacanalyze().  That a vacuum should find the
 * new pages in memory, and should come before the checkpoint after which each
 * of them would be logged in full once more, is pg_sweep's own.
 */
#ifndef SWEEP_POLICY_INSERT_H
#define SWEEP_POLICY_INSERT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * It takes at least this much to come earlier than core, unless the cache is
 * small.
 */
#define INSERT_LEAST_BYTES	(256.0 * 1024 * 1024)

/* Each costly vacuum doubles the threshold, up to this number. */
#define INSERT_COSTLY_LIMIT	10

/*
 * What any vacuum costs for catalogs and maps, however little there is to do.
 */
#define INSERT_OVERHEAD_PAGES	32

/* Pages for which a checkpoint or the end of the inserts is reason enough. */
#define INSERT_EARLY_PAGES	128

/*
 * Pages for which it is worth being there before core, which does not freeze.
 */
#define INSERT_AHEAD_PAGES	1024

/* In this number of sizes, each twice the one before, new pages are summed. */
#define INSERT_SIZES		24

/*
 * The least time between two vacuums of a table that is followed.  It must be
 * less than a round of the launcher, which is a second.  After a whole second
 * the next round would come a few ms too early, and every other one would be
 * lost.
 */
#define INSERT_FOLLOW_MS	500

typedef struct InsertSettings
{
	double		base;			/* rows (negative: no insert vacuums) */
	double		scale;			/* fraction of its part that is not frozen */
	double		cache_fraction; /* of the buffers (0: the cache does not
								 * count) */
	double		buffers;		/* shared_buffers, in pages */
	double		page_bytes;
} InsertSettings;

typedef struct InsertTable
{
	double		reltuples;		/* negative: never counted */
	double		pages;
	double		frozen_pages;
	double		rows_per_page;	/* see insert_rows_per_page() */
	double		core;			/* the server's own threshold, in rows */
	int			costly;			/* how many vacuums in a row were not worth it */
	double		old_read;		/* pages that are not new, which the last
								 * vacuum had to read all the same */
} InsertTable;

/* Rows that must be exceeded.  Negative means never. */
typedef struct InsertThresholds
{
	double		due;
	double		early;			/* before a checkpoint, or when inserts end */
	double		follow;			/* beyond this it may come that soon after the
								 * last vacuum (INSERT_FOLLOW_MS) */
} InsertThresholds;

/*
 * reltuples over relpages as last counted, or else live over pages.  At least
 * 1.
 */
extern double insert_rows_per_page(double reltuples, double relpages,
								   double live, double pages);

extern InsertThresholds insert_thresholds(const InsertSettings *s, const InsertTable *t);

/*
 * From how many rows on are a table's own numbers worth a look, although only
 * its live rows are known?  Negative means never.
 */
extern double insert_look_at(const InsertSettings *s, double live);

/*
 * Should a vacuum that is due by inserted rows wait for a checkpoint, because
 * after it there could be no other one before the checkpoint?  It should not
 * once twice as many rows are there and fill their part of the cache, nor
 * when core would come.
 */
extern bool insert_waits_for_checkpoint(const InsertSettings *s, const InsertTable *t,
										const InsertThresholds *thresholds,
										double inserted, int64_t checkpoint_ms,
										int64_t interval_ms);

/*
 * Was it in vain, because others may not see the new rows yet?  Then hardly a
 * page has become all-visible, and as many are not.  Pages that were
 * all-visible before (COPY FREEZE) are no such sign.
 */
extern bool insert_was_in_vain(double new_pages, double pages_made_visible,
							   double pages_not_visible);

/*
 * Was an insert vacuum worth its cost?  For each new page it saves one read
 * and one write that a later vacuum would need.  That one would have the
 * overhead as well.  If it came too late it has read and dirtied the new
 * pages itself, which is not counted: later would be no better.
 */
typedef struct InsertCost
{
	double		new_pages;
	double		hit;			/* pages */
	double		read;
	double		dirtied;
	double		page_hit;		/* vacuum_cost_page_* */
	double		page_miss;
	double		page_dirty;
} InsertCost;

extern bool insert_was_worth(const InsertCost *c);

/*
 * How many new pages did a vacuum for inserted rows find no longer in memory?
 * It has read and dirtied those.  Others that it has read are old ones: dead
 * entries whose indexes were left out, and what lies between.
 */
extern double insert_late_pages(double read, double dirtied, double scanned);

/*
 * The rate of reading, writing and WAL together, in bytes/s, at which a vacuum
 * gets ahead of a table that has grown by new_pages in so many seconds: twice
 * as fast as users write.  They have shown that the device can take half of
 * it.
 */
extern double insert_pace(double new_pages, double old_pages, double seconds, double page_bytes);

/*
 * The new pages of all growing tables, summed by the size of what each has.
 */
typedef struct InsertSizes
{
	double		pages[INSERT_SIZES];
} InsertSizes;

extern void insert_sizes_add(InsertSizes *sizes, double new_pages);

/*
 * All new pages together must fit the part of the cache that those of one
 * table may take.  If they do not, tables with more new pages than this are
 * vacuumed, so that half of the part is left.  0: they fit.
 */
extern double insert_fit_pages(const InsertSizes *sizes, double cache_fraction, double buffers);

#endif							/* SWEEP_POLICY_INSERT_H */
