/*
 * backoff_test.c
 *		policy/backoff.  The expected values are the rule itself: the first
 *		failure waits base, each further one twice as long, never above max.
 */
#include <limits.h>

#include "backoff.h"
#include "tap.h"

#define SECOND	INT64_C(1000)
#define MINUTE	(60 * SECOND)
#define HOUR	(60 * MINUTE)
#define DAY		(24 * HOUR)

static const struct
{
	const char *name;
	int64_t		base_ms;
	int64_t		max_ms;
	int			failures;
	int64_t		expected;
}			cases[] = {
	{"no failure", 5 * MINUTE, DAY, 0, 0},
	{"fewer than none", 5 * MINUTE, DAY, -3, 0},
	{"the lowest int", 5 * MINUTE, DAY, INT_MIN, 0},

	/* cancelled: 5 minutes, doubling up to a day */
	{"cancelled once", 5 * MINUTE, DAY, 1, 5 * MINUTE},
	{"cancelled twice", 5 * MINUTE, DAY, 2, 10 * MINUTE},
	{"cancelled three times", 5 * MINUTE, DAY, 3, 20 * MINUTE},
	{"cancelled nine times", 5 * MINUTE, DAY, 9, 1280 * MINUTE},
	{"cancelled ten times: the maximum", 5 * MINUTE, DAY, 10, DAY},
	{"cancelled eleven times", 5 * MINUTE, DAY, 11, DAY},

	/* locked: 10 seconds, doubling up to 5 minutes */
	{"locked once", 10 * SECOND, 5 * MINUTE, 1, 10 * SECOND},
	{"locked five times", 10 * SECOND, 5 * MINUTE, 5, 160 * SECOND},
	{"locked six times: the maximum", 10 * SECOND, 5 * MINUTE, 6, 5 * MINUTE},

	/* failed: a minute, doubling up to an hour */
	{"failed six times", MINUTE, HOUR, 6, 32 * MINUTE},
	{"failed seven times: the maximum", MINUTE, HOUR, 7, HOUR},

	{"a maximum that doubling meets exactly", SECOND, 8 * SECOND, 4, 8 * SECOND},
	{"and stays", SECOND, 8 * SECOND, 5, 8 * SECOND},
	{"the base is the maximum", MINUTE, MINUTE, 1, MINUTE},
	{"the base is above the maximum", HOUR, MINUTE, 1, MINUTE},
	{"the base is above the maximum, later", HOUR, MINUTE, 5, MINUTE},
	{"a base of 1 ms", 1, DAY, 10, 512},
	{"no base, no wait", 0, DAY, 100, 0},
	{"very many failures do not overflow", 5 * MINUTE, DAY, INT_MAX, DAY},
	{"a month, 100 failures", 1, 30 * DAY, 100, 30 * DAY},
	{"a year does not fit in 32 bits", HOUR, 400 * DAY, 14, 8192 * HOUR},
};

/* 20 times what the run took, from a second to five minutes */
static const struct
{
	const char *name;
	int64_t		took_ms;
	int64_t		expected;
}			ways[] = {
	{"gave way at once", 0, SECOND},
	{"gave way after no time: the clock was set back", -5 * SECOND, SECOND},
	{"gave way after the lowest time", INT64_MIN, SECOND},
	{"gave way after 50 ms", 50, SECOND},
	{"gave way after 51 ms", 51, 1020},
	{"gave way after a second", SECOND, 20 * SECOND},
	{"gave way after 14,999 ms", 14999, 299980},
	{"gave way after 15 s: the maximum", 15 * SECOND, 5 * MINUTE},
	{"gave way after a day", DAY, 5 * MINUTE},
	{"gave way after the highest time", INT64_MAX, 5 * MINUTE},
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(cases); i++)
		tap_is_int(backoff_ms(cases[i].base_ms, cases[i].max_ms, cases[i].failures),
				   cases[i].expected, cases[i].name, "");
	for (size_t i = 0; i < lengthof(ways); i++)
		tap_is_int(backoff_gave_way_ms(ways[i].took_ms), ways[i].expected, ways[i].name, "");
	return tap_done();
}
