/*
 * procfile_test.c
 *		policy/procfile against texts of real kernels, and garbage.
 */
#include "procfile.h"
#include "tap.h"

static const struct
{
	const char *name;
	const char *text;
	bool		expected;
	double		avg10;
	int64_t		total;
}			pressures[] = {

	{"6.1", "some avg10=0.21 avg60=0.18 avg300=0.10 total=394266251\n"
	"full avg10=0.02 avg60=0.08 avg300=0.05 total=233459237\n", true, 0.21, 394266251},
	{"cpu of 4.20: one line", "some avg10=100.00 avg60=0.00 avg300=0.00 total=1\n", true, 100, 1},
	{"the other way round", "full avg10=0.02 avg60=0.08 avg300=0.05 total=2\nsome avg10=3.00 avg60=0.18 avg300=0.10 total=4\n", true, 3, 4},
	{"no newline at the end", "some avg10=1.00 avg60=0.00 avg300=0.00 total=5", true, 1, 5},
	{"beyond 32 bits", "some avg10=1.00 avg60=0.00 avg300=0.00 total=99999999999999\n", true, 1, INT64_C(99999999999999)},
	{"empty", "", false},
	{"only full", "full avg10=0.02 avg60=0.08 avg300=0.05 total=2\n", false},
	{"no total", "some avg10=0.21 avg60=0.18 avg300=0.10\n", false},
	{"the total of another line", "some avg10=0.21 avg60=0.18\nfull avg10=0.02 avg60=0.08 avg300=0.05 total=2\n", false},
	{"no avg10", "some avg60=0.18 avg300=0.10 total=3\n", false},
	{"not a number", "some avg10=x avg60=0.18 avg300=0.10 total=3\n", false},
	{"total is no number", "some avg10=0.21 avg60=0.18 avg300=0.10 total=\n", false},
	{"total with a tail", "some avg10=0.21 avg60=0.18 avg300=0.10 total=3x\n", false},
	{"diskstats", "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n", false},
};

static const struct
{
	const char *name;
	int64_t		before;
	int64_t		after;
	double		us;
	double		pct;
}			deltas[] = {
	{"nobody waited", 1000, 1000, 250000, 0},
	{"a fifth", 1000, 51000, 250000, 20},
	{"all the time", 0, 250000, 250000, 100},
	{"a little more than all the time", 0, 260000, 250000, 100},
	{"went back", 1000, 999, 250000, -1},
	{"no time", 1000, 1000, 0, -1},
	{"the clock went back", 1000, 2000, -5, -1},
};

static const struct
{
	const char *name;
	const char *text;
	const char *expected;		/* NULL: none */
}			groups[] = {
	{"v2 only", "0::/system.slice/postgresql@15-main.service\n", "/system.slice/postgresql@15-main.service"},
	{"the root", "0::/\n", "/"},
	{"hybrid", "9:name=systemd:/\n4:memory:/process_api/aea567\n0::/user.slice\n", "/user.slice"},
	{"v1 only", "9:name=systemd:/\n4:memory:/process_api/aea567\n", NULL},
	{"no newline at the end", "0::/a/b", "/a/b"},
	{"above our root", "0::/../x.service\n", NULL},
	{"gone", "0::/x.service (deleted)\n", NULL},
	{"10 is not 0", "10::/x\n", NULL},
	{"empty", "", NULL},
	{"too long", "0::/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", NULL},
};

static const struct
{
	const char *name;
	const char *text;
	double		expected;
}			quotas[] = {
	{"two processors", "200000 100000\n", 2},
	{"a half", "50000 100000\n", 0.5},
	{"none", "max 100000\n", HUGE_VAL},
	{"none, version 1", "-1\n 100000\n", HUGE_VAL},
	{"version 1", "150000\n 100000\n", 1.5},
	{"no period", "200000\n", HUGE_VAL},
	{"a period of 0", "200000 0\n", HUGE_VAL},
	{"infinite", "inf 100000\n", HUGE_VAL},
	{"empty", "", HUGE_VAL},
};

#define TAIL " 18446744073709551615 93824992231424 1 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n"

static const struct
{
	const char *name;
	const char *text;
	bool		expected;
	int64_t		ticks;
	int64_t		start;
}			stats[] = {
	{"a backend, 6.1", "4711 (postgres) S 4700 4711 4711 0 -1 4194560 1234 0 5 0 321 45 0 0 20 0 1 0 987654 226508800 3100" TAIL, true, 366, 987654},
	{"a name with spaces and brackets", "1 (a) R (b c) R 0 1 1 0 -1 4194560 1 0 0 0 7 8 0 0 20 0 1 0 99 1 1" TAIL, true, 15, 99},
	{"a name with a newline", "1 (a\nb) R 0 1 1 0 -1 4194560 1 0 0 0 7 8 0 0 20 0 1 0 99 1 1" TAIL, true, 15, 99},
	{"a negative priority", "1 (a) R 0 1 1 0 -1 4194560 1 0 0 0 7 8 0 0 -51 -20 1 0 99 1 1" TAIL, true, 15, 99},
	{"nothing behind the start time", "1 (a) R 0 1 1 0 -1 4194560 1 0 0 0 7 8 0 0 20 0 1 0 99\n", true, 15, 99},
	{"empty", "", false},
	{"no bracket", "1 a R 0 1 1 0 -1 4194560 1 0 0 0 7 8 0 0 20 0 1 0 99 1 1\n", false},
	{"it ends behind the name", "1 (a)", false},
	{"it ends behind the state", "1 (a) R ", false},
	{"it ends too early", "1 (a) R 0 1 1 0 -1 4194560 1 0 0 0 7 8 0 0 20 0 1 0", false},
	{"a word among the numbers", "1 (a) R 0 1 1 0 -1 4194560 1 0 0 0 seven 8 0 0 20 0 1 0 99 1 1\n", false},
	{"binary", "\x01\x02)\x03 \xff", false},
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(pressures); i++)
	{
		Pressure	p = {-9, 0};
		bool		ok = pressure_parse(pressures[i].text, &p);

		tap_is_bool(ok, pressures[i].expected, pressures[i].name, "is one");
		if (!ok)
			continue;
		tap_is_double(p.avg10, pressures[i].avg10, pressures[i].name, "avg10");
		tap_is_int((int64_t) p.total_us, pressures[i].total, pressures[i].name, "total");
	}
	for (size_t i = 0; i < lengthof(deltas); i++)
	{
		Pressure	before = {0, (uint64_t) deltas[i].before};
		Pressure	after = {0, (uint64_t) deltas[i].after};

		tap_is_double(pressure_pct(&before, &after, deltas[i].us), deltas[i].pct, deltas[i].name, "pressure");
	}
	for (size_t i = 0; i < lengthof(groups); i++)
	{
		char		path[64] = "unchanged";
		bool		ok = cgroup_unified_path(groups[i].text, path, sizeof(path));

		tap_is_string(ok ? path : NULL, groups[i].expected, groups[i].name, "group");
	}
	for (size_t i = 0; i < lengthof(quotas); i++)
		tap_ok(cgroup_quota(quotas[i].text) == quotas[i].expected, quotas[i].name, "quota");
	tap_is_double(cgroup_stat("usage_usec 12\nuser_usec 7\nnr_periods 0\n", "user_usec"), 7, "a second line", "number");
	tap_is_double(cgroup_stat("usage_usec 12\n", "usage"), -1, "a part of a name", "number");
	tap_is_double(cgroup_stat("usage_usec -\nusage_usec", "usage_usec"), -1, "no number", "number");
	tap_is_double(cgroup_stat("", "usage_usec"), -1, "an empty text", "number");
	for (size_t i = 0; i < lengthof(stats); i++)
	{
		ProcessTimes t = {0, 0};
		bool		ok = process_times_parse(stats[i].text, &t);

		tap_is_bool(ok, stats[i].expected, stats[i].name, "is one");
		if (!ok)
			continue;
		tap_is_int((int64_t) t.cpu_ticks, stats[i].ticks, stats[i].name, "ticks");
		tap_is_int((int64_t) t.start_ticks, stats[i].start, stats[i].name, "start");
	}
	return tap_done();
}
