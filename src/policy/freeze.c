/*
 * policy/freeze.c
 *		Should a vacuum freeze all that it can?  Pure.
 */
#include "freeze.h"

#define BEGIN_PERCENT	1		/* of the inserted rows */
#define STAY_PERCENT	5

bool
freeze_eagerly(bool before, int64_t inserted, int64_t changed)
{
	if (inserted <= 0)
		return before && changed <= 0;
	return (double) changed * 100 <= (double) inserted * (before ? STAY_PERCENT : BEGIN_PERCENT);
}
