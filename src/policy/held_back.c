/*
 * policy/held_back.c
 *		When to come again to a table whose dead rows were still needed.  Pure.
 */
#include "held_back.h"

/*
 * Where transactions overlap there are always dead rows that are still
 * needed.  A vacuum that removes less than this part of all is hardly worth
 * its pages.  Waiting for it costs no more than this part of what has to be
 * there anyway.
 */
#define WORTH_SHARE		0.1

double
held_back_enough(double threshold, double dead)
{
	return threshold > WORTH_SHARE * dead ? threshold : WORTH_SHARE * dead;
}

/*
 * The part of what lies between two transactions that the horizon has passed.
 */
static double
passed(uint64_t from, uint64_t to, uint64_t horizon)
{
	if (horizon >= to)
		return 1;
	return horizon <= from ? 0 : (double) (horizon - from) / (double) (to - from);
}

double
held_back_removable(const HeldBack *h)
{
	double		old = h->not_removable * passed(h->from, h->start, h->horizon);

	return h->horizon < h->start ? old : old + h->since * passed(h->start, h->next, h->horizon);
}

bool
held_back_is_worth(const HeldBack *h, double threshold)
{
	/* this is certain, whenever in between they died */
	if (h->enough_at != 0 && h->horizon >= h->enough_at)
		return true;
	return held_back_removable(h) > held_back_enough(threshold, h->not_removable + h->since);
}
