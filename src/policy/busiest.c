/*
 * policy/busiest.c
 *		Which tables of an hour are kept by name, where not all are.  Pure.
 */
#include "busiest.h"

#include <stdlib.h>

static int
descending(int64_t a, int64_t b)
{
	return a < b ? 1 : (a > b ? -1 : 0);
}

/* Of equals the one with the lower number comes first, so that the order is always the same. */
static int
dearer_first(const void *a, const void *b)
{
	const BusiestTable *x = a;
	const BusiestTable *y = b;
	int			order = descending(x->cost, y->cost);

	return order != 0 ? order : descending(y->id, x->id);
}

static int
busier_first(const void *a, const void *b)
{
	int			order = descending(((const BusiestTable *) a)->changes, ((const BusiestTable *) b)->changes);

	return order != 0 ? order : dearer_first(a, b);
}

int
busiest_choose(BusiestTable *tables, int count, int limit)
{
	int			half = limit / 2;

	qsort(tables, count, sizeof(BusiestTable), dearer_first);
	if (count <= limit)
		return count;
	qsort(tables + half, count - half, sizeof(BusiestTable), busier_first);
	return limit;
}
