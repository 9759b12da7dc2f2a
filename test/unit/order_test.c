/*
 * order_test.c
 *		policy/order: which of the tables that are due comes first.
 *		policy/min_interval: and how soon it may come again.
 */
#include "min_interval.h"
#include "order.h"
#include "tap.h"

static const struct
{
	const char *name;
	OrderKey	a;
	OrderKey	b;
	int			sign;
}			orders[] = {
	{"nothing differs", {0}, {0}, 0},
	{"the higher score", {.score = 2}, {.score = 1.5}, -1},
	{"a catalog, whatever the scores", {.score = 100}, {true, 0, false, 1}, 1},
	{"a catalog, whoever has waited", {true, 0, false, 1}, {false, 5, true, 9}, -1},
	{"who has waited too long", {false, 5, false, 1}, {false, 0, false, 9}, -1},
	{"who has waited longer", {false, 7, false, 9}, {false, 5, false, 1}, 1},
	{"who has waited, before a checkpoint", {.for_checkpoint = true}, {.overdue_since = 1}, 1},
	{"before a checkpoint", {.for_checkpoint = true,.score = 1}, {.score = 9}, -1},
	{"both before a checkpoint: the score", {.for_checkpoint = true,.score = 1}, {.for_checkpoint = true,.score = 9}, 1},
	{"two catalogs: the score", {true, 0, false, 1}, {true, 0, false, 3}, 1},
};

static const struct
{
	const char *name;
	IntervalSettings settings;
	bool		catalog;
	double		s;
}			intervals[] = {
	{"a table", {60, 1, true, 60}, false, 60},
	{"a catalog", {60, 1, true, 60}, true, 1},
	{"no longer than core would wait", {60, 1, true, 5}, false, 5},
	{"unless core does not come", {60, 1, false, 5}, false, 60},
	{"a catalog's may be bounded as well", {60, 100, true, 5}, true, 5},
	{"none", {0, 0, true, 60}, false, 0},
};

static int
sign(int n)
{
	return n < 0 ? -1 : n > 0;
}

int
main(void)
{
	for (size_t i = 0; i < lengthof(orders); i++)
	{
		tap_is_int(sign(order_compare(&orders[i].a, &orders[i].b)), orders[i].sign, orders[i].name, "");
		tap_is_int(sign(order_compare(&orders[i].b, &orders[i].a)), -orders[i].sign, orders[i].name,
				   "the other way round");
	}
	for (size_t i = 0; i < lengthof(intervals); i++)
		tap_is_double(min_interval_s(&intervals[i].settings, intervals[i].catalog), intervals[i].s,
					  intervals[i].name, "");
	return tap_done();
}
