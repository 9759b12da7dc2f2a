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

/* Earlier than core only for so much, unless the cache is small or a user says so. */
#define INSERT_LEAST_BYTES	(256.0 * 1024 * 1024)

/* Doubled threshold for each costly vacuum, up to so many. */
#define INSERT_COSTLY_LIMIT	10

/* What any vacuum costs, however little there is to do: catalogs, maps. */
#define INSERT_OVERHEAD_PAGES	32

/* Pages for which a checkpoint or the end of the inserts is reason enough. */
#define INSERT_EARLY_PAGES	128

typedef struct InsertSettings
{
	double		base;			/* rows; negative: no insert vacuums */
	double		scale;			/* fraction of the table */
	bool		active_part;	/* the scale is of the unfrozen part only */
	double		cache_fraction; /* of the buffers; 0: the cache does not count */
	double		buffers;		/* shared_buffers, pages */
	double		page_bytes;
	double		least_bytes;	/* a user's; negative: see INSERT_LEAST_BYTES */
} InsertSettings;

typedef struct InsertTable
{
	double		reltuples;		/* negative: never counted */
	double		pages;
	double		frozen_pages;
	double		rows_per_page;	/* see insert_rows_per_page() */
	double		core;			/* the server's own threshold, rows */
	int			costly;			/* vacuums in a row that were not worth it */
} InsertTable;

/* Rows that must be exceeded; negative: never. */
typedef struct InsertThresholds
{
	double		due;
	double		early;			/* before a checkpoint, or when inserts end */
} InsertThresholds;

/* reltuples over relpages as last counted; else live over pages; at least 1. */
extern double insert_rows_per_page(double reltuples, double relpages,
								   double live, double pages);

extern InsertThresholds insert_thresholds(const InsertSettings *s, const InsertTable *t);

/*
 * The rows from which on a table's own numbers are worth a look although
 * nothing but its live rows is known; negative: never.
 */
extern double insert_look_at(const InsertSettings *s, double live);

/*
 * Should a vacuum that is due by inserted rows wait for a checkpoint, because
 * after it there could be no other one before the checkpoint?  Not once twice
 * as many rows are there and fill their part of the cache, nor when core would
 * come.
 */
extern bool insert_waits_for_checkpoint(const InsertSettings *s, const InsertTable *t,
										const InsertThresholds *thresholds,
										double inserted, int64_t checkpoint_ms,
										int64_t interval_ms);

/*
 * Was it in vain, because others may not see the new rows yet?  Then hardly a
 * page has become all-visible.
 */
extern bool insert_was_in_vain(double new_pages, double pages_made_visible);

/*
 * Was an insert vacuum worth its cost?  It saves, for each new page, one read
 * and one write that a later vacuum would need, which would have the overhead
 * as well.  All in the cost units of vacuum_cost_page_*.
 */
extern bool insert_was_worth(double cost, double new_pages, double page_miss,
							 double page_dirty);

#endif							/* SWEEP_POLICY_INSERT_H */
