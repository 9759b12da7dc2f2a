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

/* A vacuum that ends now, and when the next one of its table may come. */
static const struct
{
	const char *name;
	int64_t		until;
	int64_t		took;
	int64_t		wait;
	int64_t		until_then;
}			shorts[] = {
	{"a short one", 0, 5000, 500000, 1500000},
	{"others were short before", 1200000, 5000, 700000, 1700000},
	{"so many others that it waits as long as any", 60900000, 5000, 60000000, 60900000},
	{"it was long", 0, 600000, 60000000, 0},
	{"it took no time at all", 0, 0, 100, 1000100},
	{"the clock was set back", INT64_MAX, 5000, 500000, 1500000},
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(shorts); i++)
	{
		int64_t		until = shorts[i].until;

		tap_is_int(min_interval_short_us(&until, 1000000, shorts[i].took, 60000000), shorts[i].wait,
				   "waits", shorts[i].name);
		tap_is_int(until, shorts[i].until_then, "taken", shorts[i].name);
	}

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
