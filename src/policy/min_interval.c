/*
 * policy/min_interval.c
 *		The shortest time between two vacuums of the same table.  Pure.
 */
#include "min_interval.h"

double
min_interval_s(const IntervalSettings *s, bool catalog)
{
	double		interval = catalog ? s->catalogs : s->tables;

	return s->core_counts && s->core_naptime < interval ? s->core_naptime : interval;
}
