/*
 * policy/freeze.c
 *		Should a vacuum freeze all that it can?  Pure.
 */
#include "freeze.h"

#include <math.h>

#define BEGIN_PERCENT	1		/* of the inserted rows */
#define STAY_PERCENT	5

/*
 * Shares of the limit.  vacuum_freeze_table_age is three quarters of it by
 * default: from there on any vacuum is aggressive.
 */
#define EARLY_FROM		0.10
#define EARLY_SPAN		0.60
#define LATE_FROM		0.53
#define LATE_SPAN		0.21
/* A vacuum must make the table younger by that much. */
#define LEAST_GAIN		0.05
#define MIN_AGE			0.02

/* Multiples of it are spread evenly, however many there are. */
#define GOLDEN_RATIO	0.61803398874989485

/* fewer pages are not worth an aggressive vacuum */
#define CATCH_UP_PAGES	32
/* at most one page in this number may have to be read */
#define COLD_PART		5

bool
freeze_eagerly(bool before, int64_t inserted, int64_t changed)
{
	if (inserted <= 0)
		return before && changed <= 0;
	return (double) changed * 100 <= (double) inserted * (before ? STAY_PERCENT : BEGIN_PERCENT);
}

bool
freeze_catches_up(int64_t unfrozen, int64_t cold, int64_t buffers)
{
	return unfrozen >= CATCH_UP_PAGES && unfrozen <= buffers / 2 && cold * COLD_PART <= unfrozen;
}

double
freeze_ahead_share(uint32_t relid, bool early)
{
	double		place = relid * GOLDEN_RATIO;

	place -= floor(place);
	return early ? EARLY_FROM + EARLY_SPAN * place : LATE_FROM + LATE_SPAN * place;
}

double
freeze_ahead_least(void)
{
	return EARLY_FROM;
}

bool
freeze_ahead_is_due(const FreezeAge *a, double share)
{
	return (double) a->age > share * (double) a->limit &&
		(double) (a->age - a->least) > LEAST_GAIN * (double) a->limit;
}

int64_t
freeze_ahead_min_age(int64_t limit)
{
	return (int64_t) (MIN_AGE * (double) limit);
}
