/*
 * keep_hours_test.c
 *		policy/keep_hours: what is too old goes, and a clock that is set back
 *		loses no hour and brings none twice.
 */
#include "keep_hours.h"
#include "tap.h"

#define HOUR	INT64_C(3600000000)
#define YEAR	(365 * 24 * HOUR)
#define NOON	(1000 * 24 * HOUR)

static const int64_t row[] = {NOON, NOON + HOUR, NOON + 2 * HOUR, NOON + 3 * HOUR};

/* set forward by a year after the second hour began, in the middle of it */
static const int64_t ahead[] = {NOON, NOON + HOUR, NOON + HOUR + YEAR, NOON + 2 * HOUR + YEAR};

/* the server was down for ten hours after the second */
static const int64_t down[] = {NOON, NOON + HOUR, NOON + 11 * HOUR, NOON + 12 * HOUR};

static const struct
{
	const char *name;
	int			count;
	int64_t		oldest;
	int			most;
	int			expected;
}			kept[] = {
	{"nothing is there", 0, NOON, 10, 0},
	{"all are young", 4, NOON, 10, 0},
	{"one is too old", 4, NOON + 1, 10, 1},
	{"all are too old", 4, NOON + YEAR, 10, 4},
	{"more than there may be", 4, NOON, 3, 1},
	{"both", 4, NOON + 3 * HOUR, 3, 3},
	{"none may be", 4, NOON, 0, 4},
};

static const struct
{
	const char *name;
	const int64_t *begins;
	int			count;
	int64_t		at;
	int64_t		us;
	int			expected;
}			moved[] = {
	{"nothing is there", row, 0, NOON, HOUR, 0},
	{"by seconds", row, 4, NOON + 4 * HOUR, 2000000, 0},
	{"by half an hour", row, 4, NOON + 4 * HOUR, HOUR / 2, 0},
	{"by three hours, ahead all the time", row, 4, NOON + 4 * HOUR, 3 * HOUR, 0},
	{"by a year, ahead all the time", row, 4, NOON + 4 * HOUR, YEAR, 0},
	{"set forward by a year hours ago", ahead, 4, NOON + 3 * HOUR + YEAR, YEAR, 2},
	{"the same, and some seconds are lost", ahead, 4, NOON + 3 * HOUR + YEAR, YEAR + 20000, 2},
	{"set forward by a year in this hour", ahead, 2, NOON + HOUR + YEAR, YEAR, 2},
	{"set forward by a year, back by a little", ahead, 4, NOON + 3 * HOUR + YEAR, HOUR, 2},
	{"set forward by a year, back by more than that", ahead, 4, NOON + 3 * HOUR + YEAR, YEAR + 24 * HOUR, 0},
	{"the server was down for longer than it is set back", down, 4, NOON + 13 * HOUR, 5 * HOUR, 2},
	{"the server was down for less", down, 4, NOON + 13 * HOUR, 24 * HOUR, 0},
	{"down for as long as it is set back", row, 4, NOON + 6 * HOUR, 3 * HOUR, 4},
	{"down for an hour less", row, 4, NOON + 5 * HOUR, 3 * HOUR, 0},
	{"the server was down until just now", row, 4, NOON + 20 * HOUR, 5 * HOUR, 4},
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(kept); i++)
		tap_is_int(keep_hours_first(row, kept[i].count, kept[i].oldest, kept[i].most), kept[i].expected, kept[i].name, "");
	for (size_t i = 0; i < lengthof(moved); i++)
	{
		int			first = keep_hours_moved(moved[i].begins, moved[i].count, moved[i].at, moved[i].us);

		tap_is_int(first, moved[i].expected, moved[i].name, "");
		/* none is ahead of the clock afterwards */
		tap_is_bool(first == 0 || moved[i].begins[first - 1] <= moved[i].at - moved[i].us + HOUR / 6, true, moved[i].name,
					"what is left is not of the future");
	}
	return tap_done();
}
