/*
 * policy/min_interval.h
 *		The shortest time between two vacuums of the same table.  Pure.
 */
#ifndef SWEEP_POLICY_MIN_INTERVAL_H
#define SWEEP_POLICY_MIN_INTERVAL_H

#include <stdbool.h>

/*
 * Every vacuum of a catalog makes all sessions read again what they know of
 * it.  More often than once a second that would cost more than the garbage.
 */
#define CATALOG_MIN_INTERVAL_S	1

/* All in seconds. */
typedef struct IntervalSettings
{
	double		tables;			/* sweep.min_interval */
	double		catalogs;		/* CATALOG_MIN_INTERVAL_S */
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
