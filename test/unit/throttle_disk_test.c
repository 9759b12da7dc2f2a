/*
 * throttle_disk_test.c
 *		policy/throttle: yielding to users on a simulated disk.
 */
#include "disk_world.h"

static void
test_idle(void)
{
	static const double speeds[] = {15, 100, 500, 3000};

	for (size_t i = 0; i < lengthof(speeds); i++)
	{
		Disk		disk = {speeds[i] * 2 * MB, 0};
		Server		sv = server(0, speeds[i] * MB, 1);
		Server	   *all[] = {&sv};
		char		name[64];

		snprintf(name, sizeof(name), "idle server, vacuum of %g MB/s", speeds[i]);
		run(&disk, all, 1, 60);
		run(&disk, all, 1, 5);
		forget(&sv);
		sv = server(0, 0, 1);
		run(&disk, all, 1, 60);
		sv.demand = speeds[i] * MB;
		run(&disk, all, 1, 5);
		ok_between(sv.r.used.total / sv.demand, 0.8, 1, name, "at least 80 % of its speed within 5 s");
		forget(&sv);
		run(&disk, all, 1, 60);
		ok_between(sv.vacuumed / (60 * sv.demand), 0.99, 1, name, "and not held afterwards");
	}
}

static void
test_fast_disk(void)
{
	static const double loads[] = {20, 100, 1000, 20000};

	for (size_t i = 0; i < lengthof(loads); i++)
	{
		Disk		disk = {2000 * MB, 0};
		Server		sv = server(loads[i], 300 * MB, 7 + i);
		Server	   *all[] = {&sv};
		char		name[64];

		snprintf(name, sizeof(name), "fast disk, %g commits a second", loads[i]);
		sv.demand = 0;
		run(&disk, all, 1, 30);
		sv.demand = 300 * MB;
		run(&disk, all, 1, 15);
		forget(&sv);
		run(&disk, all, 1, 600);
		ok_between(sv.vacuumed / (600 * sv.demand), 0.95, 1, name, "noise does not throttle");
	}
}

static void
test_slow_disk(void)
{
	static const double loads[] = {20, 100, 300};

	for (size_t i = 0; i < lengthof(loads); i++)
		for (uint64_t seed = 1; seed <= 3; seed++)
		{
			Disk		disk = {15 * MB, 0};
			Server		sv = server(loads[i], 0, seed);
			Server	   *all[] = {&sv};
			double		left = 15 * MB - loads[i] * COMMIT_BYTES;
			char		name[64];

			snprintf(name, sizeof(name), "slow disk, %g commits a second, %d", loads[i], (int) seed);
			run(&disk, all, 1, 30);
			sv.demand = 60 * MB;
			forget(&sv);
			run(&disk, all, 1, 300);
			ok_between(sv.vacuumed / (300 * left), 0.4, 1, name, "uses what users leave");
			ok_between(sv.commits_hurt / sv.commits, 0, loads[i] < 100 ? 0.06 : 0.01, name, "few commits wait for it");
			/* twenty a second are seen late */
			ok_between(sv.waited / sv.commits / COMMIT_S, 1, loads[i] < 100 ? 5 : 1.5, name, "nor on average");
		}
}

/* What is too much is found out gently: of forty vacuums' first 40 s. */
static void
test_first_visit(void)
{
	double		hurt = 0;
	const int	vacuums = 40;

	for (int seed = 1; seed <= vacuums; seed++)
	{
		Disk		disk = {15 * MB, 0};
		Server		sv = server(100, 0, seed);
		Server	   *all[] = {&sv};

		run(&disk, all, 1, 30);
		sv.demand = 60 * MB;
		forget(&sv);
		run(&disk, all, 1, 40);
		hurt += sv.commits_hurt / sv.commits;
	}
	ok_between(hurt / vacuums, 0, 0.003, "a slow disk, from the start", "few commits wait for it");
}

/* The next vacuums know it, and find out all the same when the disk is a faster one. */
static void
test_next_visits(void)
{
	double		hurt[4] = {0};
	double		part = 0;
	double		fast = 0;
	const int	servers = 200;

	for (int seed = 1; seed <= servers; seed++)
	{
		Disk		disk = {15 * MB, 0};
		Server		sv = server(100, 0, seed);
		Server	   *all[] = {&sv};

		run(&disk, all, 1, 30);
		for (size_t i = 0; i < lengthof(hurt); i++)
		{
			sv.demand = 60 * MB;
			forget(&sv);
			run(&disk, all, 1, 40);
			hurt[i] += sv.commits_hurt / sv.commits / servers;
			part += sv.vacuumed / (40 * 14.2 * MB) / lengthof(hurt) / servers;
			sv.demand = 0;
			run(&disk, all, 1, 120);
		}
		disk.capacity = 2000 * MB;
		for (int i = 0; i < 4; i++)
		{
			sv.demand = 60 * MB;
			forget(&sv);
			run(&disk, all, 1, 40);
			sv.demand = 0;
			run(&disk, all, 1, 120);
		}
		fast += sv.vacuumed / (40 * 60 * MB) / servers;
	}
	ok_between(fast, 0.6, 1, "a disk that was slow", "is found out to be fast");
	for (size_t i = 1; i < lengthof(hurt); i++)
		ok_between(hurt[i], 0, hurt[0] * 0.8, "the next vacuum on a slow disk", "fewer commits wait than for the first");
	ok_between(part, 0.4, 1, "the next vacuums on a slow disk", "use what users leave");
}

static void
test_no_learning_time(void)
{
	Disk		disk = {15 * MB, 0};
	Server		sv = server(100, 60 * MB, 3);
	Server	   *all[] = {&sv};

	run(&disk, all, 1, 120);
	ok_between(sv.vacuumed / (120 * 14.2 * MB), 0.3, 1, "a vacuum at once after the start", "rate");
	ok_between(sv.commits_hurt / sv.commits, 0, 0.06, "a vacuum at once after the start", "commits that wait");
}

/* Users load the disk fully, and wait as long when the vacuum has given way. */
static void
test_overload(void)
{
	Disk		disk = {15 * MB, 0};
	Server		sv = server(100, 0, 5);
	Server	   *all[] = {&sv};
	double		lowest = 1e12;

	run(&disk, all, 1, 30);
	sv.demand = 60 * MB;
	for (int i = 0; i < 4 * 300; i++)
	{
		/* as much as it empties in a step, and 3 MB */
		disk.backlog = disk.capacity * DT + 3 * MB;
		step_all(&disk, all, 1);
		lowest = fmin(lowest, sv.out.allowed.total);
		if (i == 4 * 60)
			forget(&sv);
	}
	ok_between(lowest / MB, 2, 60, "users wait whatever the vacuum does", "never below the floor");
	ok_between(sv.vacuumed / 240 / MB, 3.5, 60, "users wait whatever the vacuum does", "cuts are taken back");
}

/* The same on a device that is known to have room: they wait for something else. */
static void
test_idle_device(void)
{
	Disk		disk = {1000 * MB, 0};
	Server		sv = server(300, 0, 6);
	Server	   *all[] = {&sv};

	sv.r.disk = SENSOR_OK;
	sv.r.busy_pct = 15;
	sv.r.latency_ms = 0.2;
	sv.r.io_pressure_pct = 10;
	sv.r.cpu_pressure_pct = 95;
	run(&disk, all, 1, 30);
	sv.demand = 200 * MB;
	sv.r.waiting = 0;
	forget(&sv);
	for (int i = 0; i < 4 * 80; i++)
	{
		/*
		 * it listens, and grows gently: there may be a limit that the device
		 * does not tell
		 */
		if (i == 4 * 20)
			sv.vacuumed = 0;
		/* busy processors: each of them waits twenty times as long */
		disk.backlog = 20 * COMMIT_S * disk.capacity;
		step_all(&disk, all, 1);
	}
	ok_between(sv.vacuumed / (60 * sv.demand), 0.95, 1.01, "users wait for a processor", "after 20 s the vacuum does not");
}

/*
 * A cloud disk whose burst budget is used up, and a container's limit, say nothing of
 * themselves.  The kernel sees users wait.  Or it sees them wait too short a time, but
 * no processor that they could wait for.
 */
static void
test_untold_limit(double io_pressure_pct, double cpu_pressure_pct, const char *name)
{
	Disk		disk = {15 * MB, 0};
	Server		sv = server(300, 0, 7);
	Server	   *all[] = {&sv};

	sv.r.disk = SENSOR_OK;
	sv.r.busy_pct = 15;
	sv.r.latency_ms = 0.2;
	sv.r.io_pressure_pct = io_pressure_pct;
	sv.r.cpu_pressure_pct = cpu_pressure_pct;
	run(&disk, all, 1, 30);
	sv.demand = 60 * MB;
	run(&disk, all, 1, 60);
	forget(&sv);
	run(&disk, all, 1, 120);
	ok_between(sv.commits_hurt / sv.commits, 0, 0.05, name, "is found");
	ok_between(sv.vacuumed / (120 * 12 * MB), 0.3, 1, name, "and used");
}

/* What was queued before a cut is done before the vacuum goes on, at half its rate. */
static void
test_drain(void)
{
	Disk		disk = {15 * MB, 0};
	Server		sv = server(100, 0, 12);
	Server	   *all[] = {&sv};
	double		cut_to;

	run(&disk, all, 1, 30);
	sv.demand = 60 * MB;
	for (int i = 0; i < 4 * 120 && sv.out.decision != THROTTLE_BACK_OFF; i++)
		step_all(&disk, all, 1);
	cut_to = sv.state.valves[LIMIT_USERS].allowed;
	ok_between(cut_to / MB, 5, 15, "a cut", "leaves half");
	disk.backlog = 6 * MB;
	step_all(&disk, all, 1);
	ok_between(disk.backlog / MB, 2, 3, "a cut", "something is queued");
	ok_between(sv.out.allowed.total / sv.out.floor, 1, 1, "a cut", "which is waited for");
	for (int i = 0; i < 4 && sv.out.allowed.total <= sv.out.floor; i++)
		step_all(&disk, all, 1);
	ok_between(disk.backlog / MB, 0, 0.1, "a cut", "until it is done");
	ok_between(sv.out.allowed.total / cut_to, 0.99, 1.05, "a cut", "then it is half");
}

/*
 * A fast disk, on which all stand still for a moment every half minute, whatever the
 * vacuum does: the kernel writes back.
 */
static void
test_bursts(void)
{
	Disk		disk = {1000 * MB, 0};
	Server		sv = server(60, 0, 9);
	Server	   *all[] = {&sv};

	sv.r.disk = SENSOR_OK;
	sv.r.latency_ms = 0.1;
	sv.r.cpu_pressure_pct = 5;
	for (int i = 0; i < 4 * 180; i++)
	{
		bool		still = i % 100 >= 97;

		if (i == 4 * 30)
			sv.demand = 250 * MB;
		if (i == 4 * 60)
			sv.vacuumed = 0;
		sv.r.busy_pct = still ? 95 : 20;
		sv.r.io_pressure_pct = still ? 90 : 12;
		if (still)
			disk.backlog = 0.28 * disk.capacity;
		step_all(&disk, all, 1);
	}
	ok_between(sv.vacuumed / (120 * sv.demand), 0.6, 1, "a fast disk that stands still now and then", "is used");
}

/* A slow disk, and more dies than is removed at what users leave. */
static void
test_garbage(void)
{
	Disk		disk = {3 * MB, 0};
	Server		sv = server(200, 0, 8);
	Server	   *all[] = {&sv};

	sv.s.floor = 0.5 * MB;
	run(&disk, all, 1, 30);
	sv.demand = 60 * MB;
	sv.r.removed_rows_s = 100;
	sv.r.produced_rows_s = 1000;
	run(&disk, all, 1, 900);
	ok_between(sv.out.floor / MB, 2, 60, "garbage piles up on a slow disk", "the floor rises");
}

static void
test_load_grows(void)
{
	Disk		disk = {200 * MB, 0};
	Server		sv = server(100, 0, 11);
	Server	   *all[] = {&sv};

	run(&disk, all, 1, 30);
	sv.demand = 100 * MB;
	run(&disk, all, 1, 30);
	sv.tps = 2000;
	run(&disk, all, 1, 10);
	forget(&sv);
	run(&disk, all, 1, 60);
	ok_between(sv.vacuumed / (60 * sv.demand), 0.95, 1, "twenty times the commits", "is not a slower disk");
}

/* What a table grows by is not waited for, on a disk that can take it. */
static void
test_pace(void)
{
	Disk		disk = {2000 * MB, 0};
	Server		sv = server(100, 0, 13);
	Server	   *all[] = {&sv};

	run(&disk, all, 1, 30);
	sv.demand = 60 * MB;
	sv.r.pace = 40 * MB;
	run(&disk, all, 1, 1);
	ok_between(sv.r.used.total / MB, 40, 60, "a growing table", "is followed at once");
}

int
main(void)
{
	test_idle();
	test_fast_disk();
	test_slow_disk();
	test_first_visit();
	test_next_visits();
	test_no_learning_time();
	test_overload();
	test_idle_device();
	test_untold_limit(80, 95, "a limit that the device does not tell, but the kernel");
	test_untold_limit(30, 5, "a limit that nobody tells, with free processors");
	test_drain();
	test_bursts();
	test_garbage();
	test_load_grows();
	test_pace();
	return tap_done();
}
