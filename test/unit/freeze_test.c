/*
 * freeze_test.c
 *		policy/freeze: begins at 1 changed row for 100 inserted, stays up to 5.
 */
#include "freeze.h"
#include "tap.h"

static const struct
{
	const char *name;
	bool		before;
	int64_t		inserted;
	int64_t		changed;
	bool		expected;
}			cases[] = {
	{"only inserted", false, 1000, 0, true},
	{"1 in 100 changed", false, 1000, 10, true},
	{"more changed: does not begin", false, 1000, 11, false},
	{"more changed: but stays", true, 1000, 11, true},
	{"5 in 100 changed: stays", true, 1000, 50, true},
	{"more than that: ends", true, 1000, 51, false},
	{"updated only", true, 0, 10, false},
	{"nothing happened: does not begin", false, 0, 0, false},
	{"nothing happened: stays", true, 0, 0, true},
	{"counters went back", false, -5, -5, false},
	{"large counters do not overflow", false, INT64_MAX, INT64_MAX / 200, true},
};

/* All-visible pages that are not frozen: how many, and how many would be read. */
static const struct
{
	const char *name;
	int64_t		unfrozen;
	int64_t		cold;
	bool		expected;
}			catch_ups[] = {
	{"none", 0, 0, false},
	{"hardly any", 31, 0, false},
	{"all in memory", 8000, 0, true},
	{"a fifth would be read", 8000, 1600, true},
	{"more would", 8000, 1601, false},
	{"more than half of the buffers", 10001, 0, false},
	{"an old table", 100000000, 100000000, false},
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(catch_ups); i++)
		tap_is_bool(freeze_catches_up(catch_ups[i].unfrozen, catch_ups[i].cold, 20000),
					catch_ups[i].expected, "made visible by others", catch_ups[i].name);
	for (size_t i = 0; i < lengthof(cases); i++)
		tap_is_bool(freeze_eagerly(cases[i].before, cases[i].inserted, cases[i].changed),
					cases[i].expected, cases[i].name, "");
	return tap_done();
}
