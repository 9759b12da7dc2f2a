/*
 * policy/min_interval.h
 *		The shortest time between two vacuums of the same table.  Pure.
 */
#ifndef SWEEP_POLICY_MIN_INTERVAL_H
#define SWEEP_POLICY_MIN_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Every vacuum of a catalog makes all sessions read again what they know of
 * it.  More often than once a second that would cost more than the garbage.
 */
#define CATALOG_MIN_INTERVAL_S	1

/* Between two vacuums of a table for which nothing else is set. */
#define LONGEST_MIN_INTERVAL_S	60

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

/*
 * A table whose vacuum was short comes again sooner, so that a small queue does
 * not bloat meanwhile.  All these vacuums together take a hundredth of a
 * processor, as if they came one after the other: after one that took took_us
 * the next may come when a hundred times as long has passed since taken_until,
 * which is brought up to date.  Returns how long this table waits, in
 * microseconds, most_us at most.  That one is not counted as taken.
 */
extern int64_t min_interval_short_us(int64_t *taken_until, int64_t now, int64_t took_us, int64_t most_us);

/* How long may a vacuum take that is not made, and would find all in memory? */
extern int64_t min_interval_estimate_us(double pages);

#endif							/* SWEEP_POLICY_MIN_INTERVAL_H */
