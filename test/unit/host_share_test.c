/*
 * host_share_test.c
 *		policy/host_share: shares of servers that vacuum at the same time.
 */
#include "host_share.h"
#include "tap.h"

#define ME		26
#define OTHER	1000
#define THIRD	1001

/* A sibling on the same device that has just been heard of. */
#define VACUUMS(owner, urgency)	{owner, true, true, 100, urgency, 0}
#define YIELDS(owner, to)	{owner, true, true, 100, 1, to}

static const struct
{
	const char *name;
	double		urgency;
	int			n;
	HostSibling others[5];
	double		device;
	double		processors;
	int			on_device;
	int			on_machine;
}			cases[] = {
	{"alone", 1, 0, {{0}}, 1, 1, 0, 0},
	{"one other, as urgent", 1, 1, {VACUUMS(ME, 1)}, 0.5, 0.5, 1, 1},
	{"one other that does not vacuum", 1, 1, {{ME, true, false, 100, 9}}, 1, 1, 0, 0},
	{"one other on another device", 1, 1, {{ME, false, true, 100, 1}}, 1, 0.5, 0, 1},
	{"three times as urgent", 3, 1, {VACUUMS(ME, 1)}, 0.75, 0.75, 1, 1},
	{"a third as urgent", 1, 1, {VACUUMS(ME, 3)}, 0.25, 0.25, 1, 1},
	{"less than due is as good as due", 0.1, 1, {VACUUMS(ME, 1)}, 0.5, 0.5, 1, 1},
	{"nobody is more urgent than four times", 1, 1, {VACUUMS(ME, 1e6)}, 0.2, 0.2, 1, 1},
	{"nor is this server", 1e6, 1, {VACUUMS(ME, 1)}, 0.8, 0.8, 1, 1},
	{"three others", 1, 3, {VACUUMS(ME, 1), VACUUMS(ME, 1), VACUUMS(ME, 1)}, 0.25, 0.25, 3, 3},

	/* silence */
	{"silent: a fixed share", 1, 1, {{ME, true, true, HOST_SILENT_MS, 4}}, 0.5, 0.5, 1, 1},
	{"silent for a moment: what it said", 1, 1, {{ME, true, true, HOST_SILENT_MS - 1, 4}}, 0.2, 0.2, 1, 1},
	{"silent for long: gone", 1, 1, {{ME, true, true, HOST_GONE_MS, 1}}, 1, 1, 0, 0},
	{"silent for nearly so long", 1, 1, {{ME, true, true, HOST_GONE_MS - 1, 1}}, 0.5, 0.5, 1, 1},
	{"a little ahead", 1, 1, {{ME, true, true, -HOST_AHEAD_MS, 1}}, 0.5, 0.5, 1, 1},
	{"from another clock", 1, 1, {{ME, true, true, -HOST_AHEAD_MS - 1, 1}}, 1, 1, 0, 0},

	/* other users */
	{"another user's server", 1, 1, {VACUUMS(OTHER, 1)}, 0.5, 0.5, 1, 1},
	{"which says that it is most urgent", 1, 1, {VACUUMS(OTHER, 1e9)}, 0.5, 0.5, 1, 1},
	{"and says it five times", 1, 5,
	{VACUUMS(OTHER, 9), VACUUMS(OTHER, 9), VACUUMS(OTHER, 9), VACUUMS(OTHER, 9), VACUUMS(OTHER, 9)}, 0.5, 0.5, 5, 5},
	{"two other users", 1, 3, {VACUUMS(OTHER, 1), VACUUMS(THIRD, 1), VACUUMS(OTHER, 1)}, 1 / 3.0, 1 / 3.0, 3, 3},
	{"one of mine, and another user's", 3, 2, {VACUUMS(ME, 1), VACUUMS(OTHER, 9)}, 0.375, 0.375, 2, 2},
	{"another user's on another device", 1, 2, {VACUUMS(ME, 1), {OTHER, false, true, 100, 1}}, 0.5, 0.25, 1, 2},
	{"the first of another user is gone", 1, 2, {{OTHER, true, true, HOST_GONE_MS, 1}, VACUUMS(OTHER, 1)}, 0.5, 0.5, 1, 1},
	{"not a number", NAN, 1, {VACUUMS(ME, NAN)}, 0.5, 0.5, 1, 1},
};

static const struct
{
	int			workers;
	double		share;
	int			expected;
}			workers[] = {
	{3, 1, 3}, {3, 0.5, 2}, {3, 1 / 3.0, 1}, {2, 0.25, 1}, {1, 0.1, 1}, {0, 0.5, 0}, {8, 0.25, 2}, {4, 1.5, 4},
};

/* What each of several servers computes from the others adds up to one. */
static void
check_sum(const char *name, const HostSibling *all, int n)
{
	double		device = 0;
	double		processors = 0;

	for (int i = 0; i < n; i++)
	{
		HostSibling others[8];
		HostShare	share;
		int			count = 0;

		for (int j = 0; j < n; j++)
		{
			if (j != i)
				others[count++] = all[j];
		}
		share = host_share_compute(all[i].owner, all[i].urgency, others, count);
		device += share.device;
		processors += share.processors;
	}
	tap_is_double(device, 1, name, "of the device");
	tap_is_double(processors, 1, name, "of the processors");
}

/* For so long the others have been told of a vacuum. */
static HostShare
begun(HostShare share, int64_t for_ms)
{
	HostTold	told = {0};

	host_told(&told, true, 5000);
	return host_share_begin(share, &told, 5000 + for_ms);
}

/* A vacuum that follows another one soon is watched by who watched that one. */
static void
test_pause(void)
{
	HostShare	share = {.device = 0.5,.processors = 0.5,.on_device = 1,.on_machine = 1,.there = 1};

	for (int pause_ms = HOST_PAUSE_MS - 1; pause_ms <= HOST_PAUSE_MS; pause_ms++)
	{
		bool		is_long = pause_ms >= HOST_PAUSE_MS;
		HostTold	told = {0};

		tap_ok(host_may_be_watched(&told, 5000), "nothing was told", "and anybody may watch");
		host_told(&told, true, 5000);
		host_told(&told, true, 5000 + HOST_WATCH_MS);
		host_told(&told, false, 5000 + HOST_WATCH_MS + 250);
		tap_ok(!host_may_be_watched(&told, 5000 + HOST_WATCH_MS + 250), "a vacuum is over", "nobody watched it");
		tap_is_bool(host_may_be_watched(&told, 5000 + HOST_WATCH_MS + pause_ms), is_long, "after a pause",
					"as before, if it was short");
		host_told(&told, true, 5000 + HOST_WATCH_MS + pause_ms);
		tap_is_bool(host_share_begin(share, &told, 5000 + HOST_WATCH_MS + pause_ms).watched, is_long,
					"after a pause", "and when the next one begins");
		tap_is_double(host_share_begin(share, &told, 5000 + HOST_WATCH_MS + pause_ms).device,
					  0.5 * HOST_BEGIN_PART, "after a pause", "it has a part of its share until others know");
	}
}

/* Nobody knows yet that a vacuum has begun. */
static void
test_begin(void)
{
	HostShare	alone = {1, 1, 0, 0};
	HostShare	machine = {1, 0.5, 0, 1};
	HostShare	both = {0.5, 0.5, 1, 1};

	tap_is_double(begun(alone, 0).device, 1, "a vacuum begins alone", "all at once");
	tap_is_double(begun(both, 0).device, 0.5 * HOST_BEGIN_PART, "beside another", "a part of its share");
	tap_is_double(begun(both, HOST_TOLD_MS - 1).processors, 0.5 * HOST_BEGIN_PART, "beside another", "until it is known");
	tap_is_double(begun(both, HOST_TOLD_MS).device, 0.5, "beside another", "and then all of it");
	tap_is_double(begun(machine, 0).device, 1, "beside one on another device", "all of its own");
	tap_is_double(begun(machine, 0).processors, 0.5 * HOST_BEGIN_PART, "beside one on another device", "a part of the processors");
}

/* Silence by clocks that agree, and by others. */
static void
test_silence(void)
{
	HostHeard	heard = {0};

	tap_is_int(host_silent_ms(&heard, 5000, 5100), 100, "the first record", "by its own clock");
	tap_is_int(host_silent_ms(&heard, 5000, 9000), 4000, "the first record", "as long as there is no other");
	tap_is_int(host_silent_ms(&heard, 9100, 9150), 0, "another one", "it has just spoken");
	tap_is_int(host_silent_ms(&heard, 9100, 9400), 250, "the same again", "by our clock");
	memset(&heard, 0, sizeof(heard));
	tap_ok(host_silent_ms(&heard, 1000, 90000000) >= HOST_GONE_MS, "a clock that is behind", "is taken for gone at first");
	tap_is_int(host_silent_ms(&heard, 1250, 90000250), 0, "a clock that is behind", "until it speaks again");
	tap_ok(host_silent_ms(&heard, 1250, 90000250 + HOST_GONE_MS) >= HOST_GONE_MS, "a clock that is behind", "and stops");
	memset(&heard, 0, sizeof(heard));
	tap_ok(host_silent_ms(&heard, 90000000, 1000) < -HOST_AHEAD_MS, "a clock that is ahead", "is no server at first");
	tap_is_int(host_silent_ms(&heard, 90000250, 1250), 0, "a clock that is ahead", "until it speaks again");
}

/* Servers of the same user that have just yielded to theirs. */
static void
test_cuts(void)
{
	static const HostSibling others[] = {
		VACUUMS(ME, 1), YIELDS(ME, 8e6), YIELDS(ME, 5e6), YIELDS(OTHER, 1e6), {ME, false, true, 100, 1, 2e6}, {ME, true, false, 100, 1, 3e6}
	};
	HostHeard	heard = {0};

	tap_is_double(host_share_compute(ME, 1, others, 1).cut_to, 0, "cuts", "nobody was cut");
	tap_is_double(host_share_compute(ME, 1, others, lengthof(others)).cut_to, 5e6, "cuts", "the deepest of this user's on this device, that vacuum");
	tap_is_double(host_share_compute(THIRD, 1, others, lengthof(others)).cut_to, 0, "cuts", "not those of other users");

	tap_is_double(host_new_cut(&heard, 1000, 5e6), 0, "a cut that is seen first", "may be an old one");
	tap_is_double(host_new_cut(&heard, 1000, 5e6), 0, "the same cut", "is no news");
	tap_is_double(host_new_cut(&heard, 2000, 4e6), 4e6, "another one", "is");
	tap_is_double(host_new_cut(&heard, 500, 3e6), 3e6, "one by a clock that was set back", "is, too");
	tap_is_double(host_new_cut(&heard, 0, 0), 0, "a server that was started again", "was never cut");
}

/* Servers that do not vacuum, and have users. */
static void
test_watching(void)
{
	static const HostSibling others[] = {
		{.owner = ME,.on_device = true,.vacuuming = true,.silent_ms = 100,.used = 4e6},
		{.owner = ME,.on_device = true,.vacuuming = true,.silent_ms = 100,.used = 1e6},
		{.owner = ME,.on_device = false,.vacuuming = true,.silent_ms = 100,.used = 8e6},
		{.owner = OTHER,.on_device = true,.vacuuming = true,.silent_ms = 100,.used = 9e6},
		{.owner = OTHER,.on_device = true,.silent_ms = 100,.watches = true,.cut_to = 1e6},
		{.owner = ME,.on_device = false,.silent_ms = 100,.watches = true,.cut_to = 1e6},
		{.owner = ME,.on_device = true,.silent_ms = 100,.watches = true,.cut_to = 3e6},
	};
	static const HostSibling idle = {.owner = ME,.on_device = true,.silent_ms = 3600000};
	HostShare	share = host_share_compute(ME, 0, others, lengthof(others) - 1);

	tap_is_int(share.yielding, 2, "who watches", "sees the vacuums of the same user on the device");
	tap_is_double(share.yielding_used, 5e6, "who watches", "and what they use");
	tap_ok(!share.watched && share.cut_to == 0, "who watches for another user, or elsewhere", "is not heard");
	share = host_share_compute(ME, 0, others, lengthof(others));
	tap_ok(share.watched, "who watches for this user", "is known");
	tap_is_double(share.cut_to, 3e6, "who watches for this user", "is heard");
	tap_is_double(share.device, 1 / 3.0 / 2, "who watches", "has no share");

	tap_ok(host_watches(true, HOST_SILENT_MS - 1), "who says that it watches", "does so");
	tap_ok(!host_watches(false, 100), "who does not say so", "does not watch");
	tap_ok(!host_watches(true, HOST_SILENT_MS), "who is silent", "does not watch");
	tap_ok(!host_watches(true, -HOST_AHEAD_MS - 1), "who speaks tomorrow", "does not watch");

	tap_ok(!host_has_users(false, 100), "who has none", "has no users");
	tap_ok(host_has_users(true, 100), "who has some", "has users");
	tap_ok(host_has_users(false, HOST_SILENT_MS), "who is silent", "may have users");
	tap_ok(host_has_users(false, -HOST_AHEAD_MS - 1), "who speaks tomorrow", "may have users");
	tap_ok(!host_share_compute(ME, 1, others, 3).users, "others vacuum, without users", "is known");
	tap_ok(host_share_compute(ME, 1, others, 4).users, "another user's server vacuums", "it may have users");
	tap_ok(!host_share_compute(ME, 1, others + 4, 3).users, "others do not vacuum", "they would watch if they had users");
	for (int device = 0; device <= 1; device++)
	{
		HostSibling busy = {.owner = ME,.on_device = device,.vacuuming = true,.silent_ms = 100,.users = true};

		tap_is_bool(host_share_compute(ME, 1, &busy, 1).users, device, "another server vacuums, with users",
					"matters on the device alone");
	}

	share = host_share_compute(ME, 0, others, lengthof(others) - 1);
	tap_ok(begun(share, HOST_WATCH_MS - 1).watched, "a vacuum begins beside others", "as if they had users");
	tap_ok(!begun(share, HOST_WATCH_MS).watched, "a vacuum begins beside others", "until they had time to say so");
	tap_ok(begun(share, 500 + 250).watched, "a vacuum begins beside others", "and that has been read");
	tap_ok(!begun(share, 4 * 250 - 20).watched, "a vacuum begins beside others", "its fourth step is enough, even if it comes early");
	share = host_share_compute(ME, 0, others + 2, 4);
	tap_ok(!begun(share, 0).watched, "a vacuum begins beside none of its user's on the device", "and is not watched");
	share = host_share_compute(ME, 0, &idle, 1);
	tap_ok(begun(share, 0).watched, "a vacuum begins beside one that has said nothing for long", "as if it had users");
}

int
main(void)
{
	static const HostSibling mixed[] = {
		VACUUMS(ME, 1), VACUUMS(ME, 3.5), VACUUMS(OTHER, 100), VACUUMS(OTHER, 2), VACUUMS(THIRD, 0)
	};

	for (size_t i = 0; i < lengthof(cases); i++)
	{
		HostShare	share = host_share_compute(ME, cases[i].urgency, cases[i].others, cases[i].n);

		tap_is_double(share.device, cases[i].device, cases[i].name, "of the device");
		tap_is_double(share.processors, cases[i].processors, cases[i].name, "of the processors");
		tap_is_int(share.on_device, cases[i].on_device, cases[i].name, "others on the device");
		tap_is_int(share.on_machine, cases[i].on_machine, cases[i].name, "others on the machine");
	}
	for (size_t i = 0; i < lengthof(workers); i++)
		tap_is_int(host_share_workers(workers[i].workers, workers[i].share), workers[i].expected,
				   "workers that are left", "");
	test_begin();
	test_pause();
	test_silence();
	test_cuts();
	test_watching();
	check_sum("two", mixed, 2);
	check_sum("of two users", mixed, 4);
	check_sum("of three users", mixed, 5);
	return tap_done();
}
