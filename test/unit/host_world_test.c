/*
 * host_world_test.c
 *		policy/host_share and host_record among many servers: the shares keep
 *		to one limit, settle, and do not oscillate.
 *
 * bench/thousand has the same with a thousand servers.
 */
#include "host_world.h"

#define ME		26
#define OTHER	1000

/* So many servers of one user, all of which vacuum. */
static World *
all_vacuum(int n)
{
	World	   *w = world_create(n, 42);

	for (int i = 0; i < n; i++)
	{
		w->servers[i].owner = ME;
		w->servers[i].want.vacuums = 1;
	}
	return w;
}

static bool
has_share(const World *w, int server, double share)
{
	return fabs(w->servers[server].share - share) < 1e-9;
}

static int
turns(const World *w)
{
	int			sum = 0;

	for (int i = 0; i < w->n; i++)
		sum += w->servers[i].turns;
	return sum;
}

/* From one to more than sweep.host shows: after one step nothing moves any more. */
static void
test_constant(void)
{
	int			numbers[] = {1, 2, 3, 32, 33, 34, 100, 250};

	for (size_t i = 0; i < lengthof(numbers); i++)
	{
		int			n = numbers[i];
		World	   *w = all_vacuum(n);
		char		name[64];

		snprintf(name, sizeof(name), "%d servers", n);
		world_run(w, 3 * WORLD_STEP_MS + 100);
		tap_ok(fabs(w->sum - 1) < 1e-6, name, "after three steps they share one limit");
		tap_ok(has_share(w, 0, 1.0 / n) && has_share(w, n - 1, 1.0 / n), name, "each has as much");
		world_measure_anew(w);
		world_run(w, 20000);
		tap_ok(fabs(w->most_sum - 1) < 1e-6 && turns(w) == 0, name, "and nothing changes");
		world_free(w);
	}
}

/* One becomes more urgent, and later no more. */
static void
test_step(void)
{
	World	   *w = all_vacuum(10);

	world_run(w, 5000);
	world_measure_anew(w);
	w->servers[3].want.urgency = 4;
	world_run(w, 3 * WORLD_STEP_MS + 100);
	tap_ok(has_share(w, 3, 4 / 13.0) && has_share(w, 4, 1 / 13.0), "one is urgent", "three steps later the shares are what they should be");
	tap_ok(w->most_mean < 1.1, "one is urgent", "over a second the sum is hardly more than the limit");
	world_run(w, 5000);
	tap_is_int(turns(w), 0, "one is urgent", "no share goes beyond its value and back");
	world_measure_anew(w);
	w->servers[3].want.urgency = 1;
	world_run(w, 5000);
	tap_ok(has_share(w, 3, 0.1) && turns(w) == 0 && w->most_mean < 1.1, "and no more", "all is as before");
	world_free(w);
}

static void
test_coming_and_going(void)
{
	World	   *w = all_vacuum(10);
	Want		one = {1, 1};

	for (int i = 5; i < 10; i++)
		w->servers[i].away = true;
	world_run(w, 5000);
	tap_ok(has_share(w, 0, 0.2), "five of ten are there", "they share the limit");
	world_measure_anew(w);
	for (int i = 5; i < 10; i++)
	{
		w->servers[i].away = false;
		w->servers[i].want.vacuums = 0;
		server_want(&w->servers[i], one);
		world_run(w, 1500);
	}
	tap_ok(has_share(w, 0, 0.1) && has_share(w, 9, 0.1), "the others come", "all have as much");
	tap_ok(w->most_mean < 1.1, "the others come", "over a second the sum is hardly more than the limit");
	world_measure_anew(w);

	/* one dies, and one is stopped while its vacuum goes on */
	w->servers[1].away = true;
	w->servers[2].stopped = true;
	w->servers[3].want.urgency = 4;
	w->servers[2].record.urgency = 4;
	world_run(w, HOST_SILENT_MS + 500);
	tap_ok(has_share(w, 0, 1 / 13.0), "silent servers", "have a fixed share, whatever they said");
	tap_ok(w->most_mean < 1.1, "silent servers", "the sum is not above the limit");
	world_run(w, HOST_GONE_MS);
	tap_ok(has_share(w, 0, 1 / 11.0), "silent for long", "they count no more");
	w->servers[2].stopped = false;
	world_run(w, 1000);
	tap_ok(has_share(w, 0, 1 / 12.0) && has_share(w, 2, 1 / 12.0), "one goes on", "it has its share again");
	world_free(w);
}

/* Containers may have clocks of their own. */
static void
test_clocks(void)
{
	World	   *w = all_vacuum(6);

	w->servers[1].ahead_ms = 2000;
	w->servers[2].ahead_ms = -5000;
	w->servers[3].ahead_ms = 3600000;
	w->servers[4].ahead_ms = -900000;
	w->servers[5].ahead_ms = INT64_C(86400000) * 400;
	world_run(w, 4 * WORLD_STEP_MS);
	for (int i = 0; i < 6; i++)
		tap_ok(has_share(w, i, 1 / 6.0), "clocks that do not agree", "all have as much");
	world_measure_anew(w);
	world_run(w, 20000);
	tap_ok(fabs(w->most_sum - 1) < 1e-6, "clocks that do not agree", "the sum is the limit");
	for (int i = 1; i < 6; i++)
		w->servers[i].away = true;
	world_run(w, HOST_GONE_MS + 500);
	tap_ok(has_share(w, 0, 1), "clocks that do not agree", "who is gone is found out by our own");
	world_free(w);
}

/* What another user's servers say gives them no more than one user has. */
static void
test_liars(void)
{
	World	   *w = all_vacuum(20);

	for (int i = 10; i < 20; i++)
	{
		w->servers[i].owner = OTHER;
		w->servers[i].want.urgency = 1e6;
		w->servers[i].ahead_ms = i * 100000;
	}
	world_run(w, 5000);
	tap_ok(has_share(w, 0, 0.05), "ten liars of another user", "have a half together");
	tap_ok(fabs(w->sum - 1) < 1e-6, "ten liars of another user", "the sum is the limit");
	world_free(w);

	w = all_vacuum(10);
	w->servers[0].want.urgency = 1e6;
	world_run(w, 5000);
	tap_ok(has_share(w, 1, 1 / 13.0), "one of the same user", "is as good as four at most");
	world_free(w);
}

/* Urgencies that are never the same twice, vacuums that come and go. */
static void
test_noise(void)
{
	static const Want series[] = {
		{1, 1}, {1, 1.2}, {1, 2}, {1, 4}, {1, 3}, {0, 0}, {0, 0}, {0, 0}, {1, 1}, {2, 1.1}, {2, 1.3}, {0, 0},
	};
	World	   *w = all_vacuum(60);

	for (int i = 0; i < 60; i++)
	{
		w->servers[i].noise = 0.2;
		w->servers[i].series = series;
		w->servers[i].series_length = lengthof(series);
		w->servers[i].series_at = i * 7 % (int) lengthof(series);
	}
	world_run(w, 5000);
	world_measure_anew(w);
	world_run(w, 30000);
	tap_ok(w->most_mean < 1.1, "sixty servers that change all the time", "over a second the sum is hardly more than the limit");
	tap_ok(world_mean_sum(w) > 0.75, "sixty servers that change all the time", "and most of it is used");
	tap_ok(world_fairness(w, 0, 60) > 0.98, "sixty servers that want the same", "have the same");
	world_free(w);
}

int
main(void)
{
	test_constant();
	test_step();
	test_coming_and_going();
	test_clocks();
	test_liars();
	test_noise();
	return tap_done();
}
