/*
 * policy/min_interval.c
 *		The shortest time between two vacuums of the same table.  Pure.
 */
#include "min_interval.h"

#define SHORT_DISTANCE	100		/* times what a vacuum took */
#define VACUUM_US		2000	/* at least */
#define PAGE_US			10

double
min_interval_s(const IntervalSettings *s, bool catalog)
{
	double		interval = catalog ? s->catalogs : s->tables;

	return s->core_counts && s->core_naptime < interval ? s->core_naptime : interval;
}

int64_t
min_interval_short_us(int64_t *taken_until, int64_t now, int64_t took_us, int64_t most_us)
{
	int64_t		from = *taken_until;
	int64_t		wait_us;

	/* later than that is of a clock that was set back since */
	if (from < now || from > now + most_us)
		from = now;
	if (took_us >= most_us / SHORT_DISTANCE)
		return most_us;
	wait_us = from - now + SHORT_DISTANCE * (took_us > 0 ? took_us : 1);
	if (wait_us >= most_us)
		return most_us;
	*taken_until = now + wait_us;
	return wait_us;
}

int64_t
min_interval_estimate_us(double pages)
{
	return (int64_t) (VACUUM_US + PAGE_US * pages);
}
