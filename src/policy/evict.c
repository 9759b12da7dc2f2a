/*
 * policy/evict.c
 *		Which decisions make room for another one.  Pure.
 */
#include "evict.h"

static int
log2_of(int64_t seconds)
{
	int			n = 0;

	while (seconds > 0 && n < EVICT_AGES - 1)
	{
		seconds /= 2;
		n++;
	}
	return n;
}

int
evict_rank(EvictClass class, int64_t seconds)
{
	int			age = log2_of(seconds);

	/*
	 * the oldest goes first, or of what waits the one with the least time
	 * left
	 */
	if (class < EVICT_LOOK)
		age = EVICT_AGES - 1 - age;
	return class * EVICT_AGES + age;
}

int
evict_below(const int *counts, EvictClass newcomer, int wanted)
{
	int			class_end = newcomer < EVICT_LOOK ? EVICT_LOOK : newcomer;
	int			end = (class_end < EVICT_NEVER ? class_end : EVICT_NEVER) * EVICT_AGES;
	int			rank = 0;

	for (int n = 0; rank < end && n < wanted; rank++)
		n += counts[rank];
	return rank;
}
