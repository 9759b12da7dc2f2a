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

/* Is a table of that age frozen, at half of its limit? */
static const struct
{
	const char *name;
	FreezeAge	age;
	bool		expected;
}			ages[] = {
	{"young", {400, 1000, 0}, false},
	{"at its share", {500, 1000, 0}, false},
	{"beyond it", {501, 1000, 0}, true},
	{"as old as the horizon", {501, 1000, 501}, false},
	{"hardly older than it", {501, 1000, 460}, false},
	{"beyond the limit, and older than the horizon", {2400, 1000, 2000}, true},
	{"multixact members are used up", {5, 0, 0}, true},
	{"the same, but it is as old as the horizon", {5, 0, 5}, false},
	{"half of all ids", {INT32_MAX, 200000000, 0}, true},
};

/*
 * Tables of a restore: their OIDs follow each other, three apart where each
 * has a type.  So many of them may be frozen in one of ten parts of the span.
 */
static void
test_spread(bool early)
{
	for (uint32_t apart = 1; apart <= 6; apart++)
	{
		int			part[10] = {0};
		double		from = early ? freeze_ahead_least() : 0.53;
		double		span = early ? 0.6 : 0.21;
		int			most = 0;
		bool		inside = true;

		for (uint32_t i = 0; i < 100; i++)
		{
			double		share = freeze_ahead_share(16384 + i * apart, early);
			int			n = (int) ((share - from) / span * 10);

			inside = inside && n >= 0 && n < 10;
			if (inside && ++part[n] > most)
				most = part[n];
		}
		tap_is_bool(inside, true, "all in the span", early ? "early" : "late");
		tap_is_bool(most <= 14, true, "a hundred tables are spread evenly", early ? "early" : "late");
	}
	tap_is_bool(freeze_ahead_share(UINT32_MAX, early) < 0.75, true, "before vacuum_freeze_table_age", "");
}

/* The cases that the command's agent computes as well. */
static const struct
{
	uint32_t	relid;
	bool		early;
	FreezeAge	age;
	bool		due;
	int64_t		min_age;
}			shared[] = {
#define FREEZE_CASE(relid, early, age, limit, least, due, min_age) \
	{relid, early, {age, limit, least}, due, min_age},
#include "freeze_cases.h"
#undef FREEZE_CASE
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(shared); i++)
	{
		double		share = freeze_ahead_share(shared[i].relid, shared[i].early);

		tap_is_bool(freeze_ahead_is_due(&shared[i].age, share), shared[i].due, "shared case", "due");
		tap_is_bool(freeze_ahead_min_age(shared[i].age.limit) == shared[i].min_age, true,
					"shared case", "rows frozen from which age on");
	}
	for (size_t i = 0; i < lengthof(ages); i++)
		tap_is_bool(freeze_ahead_is_due(&ages[i].age, 0.5), ages[i].expected, "frozen ahead", ages[i].name);
	test_spread(true);
	test_spread(false);
	for (size_t i = 0; i < lengthof(catch_ups); i++)
		tap_is_bool(freeze_catches_up(catch_ups[i].unfrozen, catch_ups[i].cold, 20000),
					catch_ups[i].expected, "made visible by others", catch_ups[i].name);
	for (size_t i = 0; i < lengthof(cases); i++)
		tap_is_bool(freeze_eagerly(cases[i].before, cases[i].inserted, cases[i].changed),
					cases[i].expected, cases[i].name, "");
	return tap_done();
}
