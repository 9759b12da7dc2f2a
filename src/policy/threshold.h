/*
 * policy/threshold.h
 *		When is a table due for a vacuum?  Core's formulas, pure.
 *
 * Source: relation_needs_vacanalyze() in PostgreSQL's autovacuum.c (15 to 19).
 */
#ifndef SWEEP_POLICY_THRESHOLD_H
#define SWEEP_POLICY_THRESHOLD_H

#include <stdbool.h>
#include <stdint.h>

/* The server's settings, or the table's reloptions where it has them. */
typedef struct ThresholdSettings
{
	double		vacuum_base;	/* tuples */
	double		vacuum_scale;	/* fraction of the table */
	double		vacuum_max;		/* tuples (negative: no maximum), 18 and later */
	double		insert_base;	/* tuples (negative: no insert vacuums) */
	double		insert_scale;	/* fraction of the unfrozen part */
	double		analyze_base;	/* tuples (negative: never analyzed) */
	double		analyze_scale;	/* fraction of the table */

	/* what core would go by: nothing is due later than by that */
	bool		core_counts;	/* 0: it would not come */
	double		core_vacuum_base;
	double		core_vacuum_scale;
	double		core_insert_base;	/* negative: no insert vacuums */
	double		core_insert_scale;
} ThresholdSettings;

/*
 * Tuples that must be exceeded.  insert and analyze are negative when
 * disabled.
 */
typedef struct Thresholds
{
	double		vacuum;
	double		insert;
	double		analyze;
} Thresholds;

/*
 * reltuples is pg_class.reltuples, negative if never vacuumed or analyzed.
 * pages and frozen_pages give the unfrozen part.  They are 0 if the server
 * does not know.
 */
extern Thresholds threshold_compute(const ThresholdSettings *settings,
									double reltuples,
									int64_t pages, int64_t frozen_pages);

/*
 * What core would go by, without pg_sweep.  vacuum is negative if it would not
 * come at all, insert if it would not come for inserted rows.
 */
extern Thresholds threshold_core(const ThresholdSettings *settings,
								 double reltuples,
								 int64_t pages, int64_t frozen_pages);

extern bool threshold_vacuum_due(const Thresholds *t, int64_t dead_tuples);
extern bool threshold_insert_due(const Thresholds *t, int64_t ins_since_vacuum);

#endif							/* SWEEP_POLICY_THRESHOLD_H */
