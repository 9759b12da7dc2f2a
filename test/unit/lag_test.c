/*
 * lag_test.c
 *		policy/lag: traces of a primary's WAL and of standbys, played back.
 */
#include "lag.h"
#include "tap.h"

#define SECOND	INT64_C(1000000)
#define STEP	(SECOND / 4)
#define MB		(UINT64_C(1) << 20)

/* A primary: from and to in seconds, MB at the end, evenly between. */
static void
play(LagTrail *trail, double from, double to, uint64_t mb_from, uint64_t mb_to)
{
	int64_t		steps = (int64_t) ((to - from) * 4);

	for (int64_t i = 0; i <= steps; i++)
		lag_note(trail, (int64_t) (from * SECOND) + i * STEP,
				 mb_from * MB + (mb_to - mb_from) * MB * (uint64_t) i / (uint64_t) (steps > 0 ? steps : 1));
}

static void
test_trail(void)
{
	static LagTrail t;
	bool		grows = true;
	double		before = 0;

	tap_is_double(lag_ms(&t, 5 * SECOND, 0), 0, "nothing noted", "no lag");
	tap_is_bool(lag_is_known(&t, 0), false, "nothing noted", "not known");

	play(&t, 100, 110, 1000, 1100);
	tap_is_double(lag_ms(&t, 110 * SECOND, 1100 * MB), 0, "10 MB/s", "all replayed");
	tap_is_double(lag_ms(&t, 110 * SECOND, 1200 * MB), 0, "10 MB/s", "ahead of what we have seen");
	tap_is_double(lag_ms(&t, 110 * SECOND, 1050 * MB), 5000, "10 MB/s", "50 MB behind");
	tap_is_double(lag_ms(&t, 110 * SECOND, 1099 * MB), 100, "10 MB/s", "1 MB behind, between two points");
	tap_is_bool(lag_is_known(&t, 1000 * MB), true, "10 MB/s", "the first position is known");
	tap_is_bool(lag_is_known(&t, 999 * MB), false, "10 MB/s", "what was before is not");
	tap_is_double(lag_ms(&t, 110 * SECOND, 10 * MB), 10000, "10 MB/s", "older than the trail: at least so much");

	/* an hour without WAL, then a burst: replay stands where the hour began */
	play(&t, 110, 3710, 1100, 1100);
	tap_is_double(lag_ms(&t, 3710 * SECOND, 1100 * MB), 0, "an idle hour", "all replayed");
	tap_is_double(lag_ms(&t, 3710 * SECOND, 1050 * MB), 3605000, "an idle hour", "half of the burst is not replayed");
	lag_note(&t, 3710 * SECOND + STEP, 1200 * MB);
	tap_is_double(lag_ms(&t, 3710 * SECOND + STEP, 1100 * MB), 250, "a burst after an idle hour", "nothing of it replayed");
	tap_is_double(lag_ms(&t, 3710 * SECOND + STEP, 1150 * MB), 125, "a burst after an idle hour", "half of it replayed");

	/* more than there is room for */
	t.n = 0;
	play(&t, 0, 3600, 0, 36000);
	tap_is_bool(t.n <= LAG_POINTS, true, "an hour at 10 MB/s", "it fits");
	tap_is_bool(fabs(lag_ms(&t, 3600 * SECOND, 0) - 3600000) < 1000, true, "an hour at 10 MB/s", "the beginning is known");
	for (uint64_t mb = 36000; mb > 0; mb -= 10)
	{
		double		lag = lag_ms(&t, 3600 * SECOND, mb * MB);

		grows = grows && lag >= before && fabs(lag - (36000 - (double) mb) * 100) < 1;
		before = lag;
	}
	tap_is_bool(grows, true, "an hour at 10 MB/s", "every lag is right");

	/* what cannot be */
	lag_note(&t, 10 * SECOND, 40000 * MB);
	tap_is_int(t.n, 1, "the clock went back", "begins anew");
	lag_note(&t, 11 * SECOND, 39000 * MB);
	tap_is_int(t.n, 1, "WAL went back", "begins anew");
	tap_is_double(lag_ms(&t, 5 * SECOND, 1 * MB), 0, "before the trail began", "no negative lag");
}

/* What a standby's replay lag is after so many seconds over the limit. */
typedef double (*Trace) (double s);

static double
delayed_30s(double s)
{
	return 30000 + fmod(s * 137, 200);
}

static double
falls_behind(double s)
{
	return 5000 + s * 300;
}

static double
paused(double s)
{
	return s * 1000;
}

static double
recovers(double s)
{
	return 60000 - s * 300;
}

/* a governor's saw-tooth around a limit of 5 s */
static double
held_near_limit(double s)
{
	return 4500 + fmod(s * 100, 1000);
}

static double
delayed_then_behind(double s)
{
	return s < 90 ? 30000 : 30000 + (s - 90) * 500;
}

static const struct
{
	const char *name;
	Trace		replay;
	double		flush_ms;
	double		limit_ms;
	double		seconds;
	bool		expected;
}			watches[] = {
	{"delayed by 30 s, after 59 s", delayed_30s, 100, 5000, 59, false},
	{"delayed by 30 s, after 61 s", delayed_30s, 100, 5000, 61, true},
	{"delayed by 30 s, after an hour", delayed_30s, 100, 5000, 3600, true},
	{"delayed by 30 s, a limit in bytes", delayed_30s, 100, 0, 61, true},
	{"delayed by 30 s, under the limit", delayed_30s, 100, 60000, 600, false},
	{"it does not receive, either", delayed_30s, 29000, 5000, 600, false},
	{"it receives with a tenth of it", delayed_30s, 3100, 5000, 600, false},
	{"it falls behind", falls_behind, 100, 5000, 600, false},
	{"replay is paused", paused, 100, 5000, 600, false},
	{"it recovers", recovers, 100, 5000, 150, false},
	{"the governor holds it at the limit", held_near_limit, 100, 5000, 3600, false},
	{"delayed, and then it falls behind", delayed_then_behind, 100, 5000, 120, false},
	{"delayed, before it falls behind", delayed_then_behind, 100, 5000, 89, true},
};

int
main(void)
{
	DelayWatch	w = {0};

	test_trail();
	for (size_t i = 0; i < lengthof(watches); i++)
	{
		DelayWatch	watch = {0};
		bool		delayed = false;

		for (int64_t at = 0; at <= (int64_t) (watches[i].seconds * SECOND); at += STEP)
		{
			double		ms = watches[i].replay((double) at / SECOND);

			delayed = delay_watch(&watch, 1000 * SECOND + at, ms, watches[i].flush_ms,
								  ms > watches[i].limit_ms);
		}
		tap_is_bool(delayed, watches[i].expected, watches[i].name, "delayed on purpose");
	}
	for (int64_t at = 0; at <= 100 * SECOND; at += STEP)
		delay_watch(&w, 1000 * SECOND + at, 30000, 100, true);
	tap_is_bool(delay_watch(&w, 500 * SECOND, 30000, 100, true), false, "the clock went back", "looks anew");
	return tap_done();
}
