/*
 * time_step_test.c
 *		policy/time_step.  Expected is the rule itself: nothing of the last hour or
 *		day is left out, and what is said of it is not longer than it is.
 */
#include "time_step.h"
#include "tap.h"

#define SECOND	INT64_C(1000000)
#define MINUTE	(60 * SECOND)
#define HOUR	(60 * MINUTE)
#define DAY		(24 * HOUR)
#define NOON	(1000 * DAY + 12 * HOUR)

static const struct
{
	const char *name;
	int64_t		at;
	int64_t		length;
	int64_t		expected;
}			begins[] = {
	{"in the middle", NOON + 90 * SECOND, MINUTE, NOON + MINUTE},
	{"at its beginning", NOON, HOUR, NOON},
	{"a moment before", NOON - 1, HOUR, NOON - HOUR},
	{"before the clock's zero", -1, HOUR, -HOUR},
	{"before the clock's zero, at its beginning", -HOUR, HOUR, -HOUR},
};

static const struct
{
	const char *name;
	int64_t		begin;
	int64_t		length;
	int64_t		now;
	int64_t		span;
	bool		expected;
}			withins[] = {
	{"this minute", NOON, MINUTE, NOON + 30 * SECOND, HOUR, true},
	{"the minute in which the hour began", NOON - HOUR, MINUTE, NOON + 30 * SECOND, HOUR, true},
	{"the minute before it", NOON - HOUR - MINUTE, MINUTE, NOON + 30 * SECOND, HOUR, false},
	{"one that has just ended to be of it", NOON - HOUR - MINUTE, MINUTE, NOON, HOUR, false},
	{"the hour in which the day began", NOON - DAY, HOUR, NOON + MINUTE, DAY, true},
	{"the hour before it", NOON - DAY - HOUR, HOUR, NOON + MINUTE, DAY, false},
	{"none", 0, HOUR, MINUTE, DAY, false},
	{"one of tomorrow", NOON + DAY, HOUR, NOON, DAY, false},
	{"the clock was set back by a second", NOON, MINUTE, NOON - SECOND, HOUR, true},
};

static const struct
{
	const char *name;
	int64_t		known;
	int64_t		now;
	int64_t		expected;
}			sinces[] = {
	{"always", 0, NOON + MINUTE, NOON - DAY},
	{"for longer than a day", NOON - 2 * DAY, NOON + MINUTE, NOON - DAY},
	{"for less", NOON - 5 * HOUR - 1, NOON + MINUTE, NOON - 5 * HOUR - 1},
};

static const struct
{
	const char *name;
	int64_t		begins[4];
	int64_t		begin;
	int			expected;
}			steps[] = {
	{"the first of all", {0, 0, 0, 0}, NOON, 0},
	{"its own", {NOON - HOUR, NOON, 0, 0}, NOON, 1},
	{"its own, behind a free one", {NOON - HOUR, 0, NOON, 0}, NOON, 2},
	{"a free one", {NOON - HOUR, NOON - 2 * HOUR, 0, 0}, NOON, 2},
	{"the oldest", {NOON - HOUR, NOON - 2 * HOUR, NOON - 3 * HOUR, NOON - 4 * HOUR}, NOON, 3},
	{"older than all", {NOON, NOON - HOUR, NOON - 2 * HOUR, NOON - 3 * HOUR}, NOON - DAY, -1},
};

static const struct
{
	const char *name;
	TimeStepPlace places[4];
	int			expected;
}			rooms[] = {
	{"a free one", {{NOON, 0}, {NOON, 5}, {0, 0}, {NOON, 7}}, 2},
	{"one that is too old", {{NOON, 0}, {NOON, 5}, {NOON, 7}, {NOON - DAY - HOUR, 1000000}}, 3},
	{"the cheapest", {{NOON, 9}, {NOON - HOUR, 5}, {NOON, 7}, {NOON, 6}}, 1},
	{"of equals the first", {{NOON, 5}, {NOON, 5}, {NOON, 5}, {NOON, 5}}, 0},
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(begins); i++)
		tap_is_bool(time_step_begin(begins[i].at, begins[i].length) == begins[i].expected, true, begins[i].name, "");
	for (size_t i = 0; i < lengthof(withins); i++)
		tap_is_bool(time_step_is_within(withins[i].begin, withins[i].length, withins[i].now, withins[i].span),
					withins[i].expected, withins[i].name, "");
	for (size_t i = 0; i < lengthof(sinces); i++)
		tap_is_bool(time_step_since(sinces[i].known, HOUR, sinces[i].now, DAY) == sinces[i].expected, true, sinces[i].name, "");
	for (size_t i = 0; i < lengthof(steps); i++)
		tap_is_int(time_step_for(steps[i].begins, 4, steps[i].begin), steps[i].expected, steps[i].name, "");
	for (size_t i = 0; i < lengthof(rooms); i++)
		tap_is_int(time_step_makes_room(rooms[i].places, 4, NOON - DAY), rooms[i].expected, rooms[i].name, "");

	/*
	 * the steps within a span, and since when they tell, are the same
	 * everywhere
	 */
	for (int64_t now = NOON; now < NOON + 2 * HOUR; now += 7 * MINUTE)
	{
		int64_t		since = time_step_since(0, HOUR, now, DAY);

		tap_is_bool(since <= now - DAY && since > now - DAY - HOUR, true, "a day", "at least, and an hour more at most");
		tap_is_bool(time_step_is_within(since, HOUR, now, DAY) && !time_step_is_within(since - HOUR, HOUR, now, DAY),
					true, "a day", "the steps begin then");
	}
	return tap_done();
}
