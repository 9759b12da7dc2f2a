/*
 * policy/freeze.c
 *		Should a vacuum freeze all that it can?  Pure.
 */
#include "freeze.h"

#define BEGIN_PERCENT	1		/* of the inserted rows */
#define STAY_PERCENT	5

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
