/*
 * policy/min_interval.h
 *		The shortest time between two vacuums of the same table.  Pure.
 */
#ifndef SWEEP_POLICY_MIN_INTERVAL_H
#define SWEEP_POLICY_MIN_INTERVAL_H

#include <stdbool.h>

/* All in seconds. */
typedef struct IntervalSettings
{
	double		tables;			/* sweep.min_interval */
	double		catalogs;		/* sweep.catalog_min_interval */
	bool		core_counts;	/* autovacuum comes as well */
	double		core_naptime;
} IntervalSettings;

/*
 * It is no longer than the time that core leaves between two looks at a
 * database, because core would not wait longer than that.  A table's own
 * value is not bounded by this.
 */
extern double min_interval_s(const IntervalSettings *s, bool catalog);

#endif							/* SWEEP_POLICY_MIN_INTERVAL_H */
