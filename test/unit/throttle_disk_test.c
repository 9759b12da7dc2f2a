/*
 * throttle_disk_test.c
 *		policy/throttle: yielding to users on a simulated disk.
 *
 * The disk is a queue that empties at its capacity.  A commit waits its own
 * time and that of the queue.  Users are sampled twenty times a step, as the
 * governor does, so few of them give noisy numbers (Poisson).
 */
#include "tap.h"
#include "throttle.h"

#define MB		RATES_MB
#define DT		0.25

/* ---- a simulated device and the servers on it */

typedef struct Disk
{
	double		capacity;		/* bytes/s */
	double		backlog;		/* bytes */
} Disk;

typedef struct Server
{
	ThrottleState state;
	ThrottleSettings s;
	ThrottleReading r;
	ThrottleResult out;
	double		tps;
	double		own_wait_s;		/* of a commit, that has nothing to do with
								 * the device */
	double		demand;			/* of its vacuum when nothing holds it, or 0:
								 * none */
	double		looks;			/* how many look now and then, on average */
	uint64_t	seed;
	double		vacuumed;
	double		waited;			/* seconds of all commits */
	double		commits;
	double		commits_hurt;	/* that waited for more than 10 ms */
} Server;

#define COMMIT_S	0.0012
#define COMMIT_BYTES	(8 * 1024.0)

static double
uniform(uint64_t *seed)
{
	return (tap_random(seed) + 0.5) / 2147483648.0;
}

/* Knuth's for means up to 30, above it the normal approximation */
static double
poisson(uint64_t *seed, double mean)
{
	double		limit = exp(-mean);
	double		product = 1;
	int			n = -1;

	if (mean > 30)
	{
		double		normal = sqrt(-2 * log(uniform(seed))) * cos(6.283185307 * uniform(seed));

		return fmax(0, floor(mean + sqrt(mean) * normal + 0.5));
	}
	do
	{
		product *= uniform(seed);
		n++;
	} while (product > limit);
	return n;
}

static Server
server(double tps, double demand, uint64_t seed)
{
	Server		sv = {0};

	sv.s.adaptive = true;
	sv.s.floor = 2 * MB;
	sv.r.users = SENSOR_OK;
	sv.r.produced_rows_s = -1;
	/* a device of which nothing is known */
	sv.r.io_pressure_pct = sv.r.cpu_pressure_pct = -1;
	sv.tps = tps;
	sv.demand = demand;
	sv.seed = seed;
	return sv;
}

/* One step of all servers on one device. */
static void
step_all(Disk *disk, Server **servers, int count)
{
	double		arrived = 0;
	double		used = 0;
	double		wait_s;

	for (int i = 0; i < count; i++)
	{
		Server	   *sv = servers[i];
		double		allowed = sv->out.allowed.total;
		double		rate = sv->demand;

		if (!sv->state.started)
			allowed = 4 * MB;
		if (allowed > 0 && allowed < rate)
			rate = allowed;
		/* a vacuum does not get more than the device gives */
		if (disk->backlog > disk->capacity * 0.2)
			rate = fmin(rate, disk->capacity / count);
		sv->r.vacuums = sv->r.yielding = sv->demand > 0 ? 1 : 0;
		sv->r.used.total = sv->r.yielding_used = rate;
		sv->vacuumed += rate * DT;
		used += rate;
		arrived += (rate + sv->tps * COMMIT_BYTES) * DT;
	}
	disk->backlog = fmax(0, disk->backlog + arrived - disk->capacity * DT);
	wait_s = COMMIT_S + disk->backlog / disk->capacity;
	for (int i = 0; i < count; i++)
	{
		Server	   *sv = servers[i];
		double		samples = poisson(&sv->seed, 20 * sv->tps * (wait_s + sv->own_wait_s)) / 20;

		if (sv->r.watches)
		{
			sv->r.yielding = used > 0;
			sv->r.yielding_used = used;
		}
		sv->r.waiting = samples;
		sv->r.active = samples * 1.2 + (sv->looks > 0 ? poisson(&sv->seed, 20 * sv->looks) / 20 : 0);
		sv->r.listens = sv->state.started && sv->demand <= 0 && throttle_wants_to_listen(&sv->state);
		sv->r.commits_s = poisson(&sv->seed, sv->tps * DT) / DT;
		sv->commits += sv->tps * DT;
		sv->waited += sv->tps * DT * wait_s;
		if (wait_s > 0.010)
			sv->commits_hurt += sv->tps * DT;
		throttle_step(&sv->state, &sv->s, &sv->r, DT, &sv->out);
	}
	/* what one tells, the others see in their next step */
	for (int i = 0; i < count; i++)
	{
		servers[i]->r.others_cut_to = 0;
		servers[i]->r.others_users = false;
		for (int j = 0; j < count && servers[i]->s.device_share > 0; j++)
		{
			if (j != i && servers[j]->out.users_cut_to > 0)
				servers[i]->r.others_cut_to = servers[j]->out.users_cut_to;
			/* one that does not vacuum says so by watching */
			if (j != i && throttle_users_are_there(&servers[j]->state))
				servers[i]->r.others_users = true;
		}
	}
}

static void
run(Disk *disk, Server **servers, int count, double seconds)
{
	for (int i = 0; i < (int) (seconds / DT); i++)
		step_all(disk, servers, count);
}

static void
forget(Server *sv)
{
	sv->vacuumed = sv->waited = sv->commits = sv->commits_hurt = 0;
}

static void
ok_between(double got, double low, double high, const char *name, const char *what)
{
	if (!tap_ok(got >= low && got <= high, name, what))
		printf("#      got: %g\n# expected: %g to %g\n", got, low, high);
}

/* ---- adaptive, by simulation */

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

/* Few large commits come by chance, and wait long.  It is not the vacuum that they wait for. */
static void
test_few_large_commits(void)
{
	static const double loads[][2] = {{6, 0.5}, {10, 0.3}, {20, 0.1}, {100, 0.02}};

	for (size_t i = 0; i < lengthof(loads); i++)
	{
		double		used = 0;
		const int	servers = 20;
		char		name[64];

		for (int seed = 1; seed <= servers; seed++)
		{
			Disk		disk = {300 * MB, 0};
			Server		sv = server(loads[i][0], 0, seed);
			Server	   *all[] = {&sv};

			sv.own_wait_s = loads[i][1];
			run(&disk, all, 1, 30);
			sv.demand = 60 * MB;
			run(&disk, all, 1, 15);
			forget(&sv);
			run(&disk, all, 1, 300);
			used += sv.vacuumed / (300 * sv.demand) / servers;
		}
		snprintf(name, sizeof(name), "%g commits a second that wait for %g s", loads[i][0], loads[i][1]);
		ok_between(used, 0.8, 1.001, name, "chance does not throttle");
	}
}

/* After them come many small ones, on a slow disk. */
static void
test_after_large_commits(void)
{
	static const double rests[] = {0, 3, 60};

	for (size_t i = 0; i < lengthof(rests); i++)
	{
		double		hurt = 0;
		double		used = 0;
		const int	servers = 20;
		char		name[64];

		for (int seed = 1; seed <= servers; seed++)
		{
			Disk		disk = {15 * MB, 0};
			Server		sv = server(20, 0, seed);
			Server	   *all[] = {&sv};

			sv.own_wait_s = 0.5;
			run(&disk, all, 1, 30);
			sv.tps = 100;
			sv.own_wait_s = 0;
			run(&disk, all, 1, rests[i]);
			forget(&sv);
			sv.demand = 60 * MB;
			run(&disk, all, 1, 20);
			hurt += sv.commits_hurt / sv.commits / servers;
			used += sv.vacuumed / (20 * 14.2 * MB) / servers;
		}
		snprintf(name, sizeof(name), "small commits, %g s after large ones", rests[i]);
		ok_between(hurt, 0, 0.03, name, "few wait for the vacuum");
		ok_between(used, 0.4, 1, name, "it uses what they leave");
	}
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
/*
 * A load that has taught what is too much ends, and nodes that ask each other stay.
 * While its users are there, or a few that were hurt, the vacuum stays slow.
 */
static void
test_users_leave(void)
{
	for (uint64_t seed = 1; seed <= 3; seed++)
	{
		Disk		disk = {60 * MB, 0};
		Server		sv = server(2000, 0, seed);
		Server	   *all[] = {&sv};
		double		before;

		sv.looks = 0.005;
		run(&disk, all, 1, 30);
		sv.demand = 300 * MB;
		run(&disk, all, 1, 60);
		ok_between(sv.out.allowed.total / MB, 2, 70, "many users", "are yielded to");
		before = sv.out.allowed.total;
		sv.tps = 0;
		run(&disk, all, 1, 0.75);
		tap_ok(sv.out.allowed.total < 1.5 * before, "many users, gone a moment ago", "are waited for");
		run(&disk, all, 1, 3);
		ok_between(sv.out.allowed.total / MB, 100, INFINITY, "many users, gone for 4 s", "hold nothing");
		sv.tps = 2000;
		run(&disk, all, 1, 2);
		ok_between(sv.out.allowed.total / MB, 2, 70, "many users, back again", "are yielded to");
	}
}

/* Each of a series of short vacuums is too short for seeing that users have left. */
static void
test_users_leave_short_vacuums(void)
{
	for (uint64_t seed = 1; seed <= 3; seed++)
	{
		Disk		disk = {60 * MB, 0};
		Server		sv = server(2000, 0, seed);
		Server	   *all[] = {&sv};

		sv.looks = 0.005;
		run(&disk, all, 1, 30);
		sv.demand = 300 * MB;
		run(&disk, all, 1, 60);
		sv.tps = 0;
		for (int i = 0; i < 4; i++)
		{
			sv.demand = 300 * MB;
			run(&disk, all, 1, 0.5);
			sv.demand = 0;
			run(&disk, all, 1, 0.25);
		}
		sv.demand = 300 * MB;
		run(&disk, all, 1, 0.25);
		ok_between(sv.out.allowed.total / MB, 100, INFINITY, "short vacuums, users have left", "nothing is held");
	}
}

/* A load that pauses again and again: what of its commits wait, and of the disk is used? */
static void
test_users_pause(double pause_s, double most_hurt, double least_used, const char *name)
{
	double		hurt = 0;
	double		commits = 0;
	double		used = 0;

	for (uint64_t seed = 1; seed <= 3; seed++)
	{
		Disk		disk = {30 * MB, 0};
		Server		sv = server(1000, 0, seed);
		Server	   *all[] = {&sv};

		run(&disk, all, 1, 30);
		sv.demand = 100 * MB;
		run(&disk, all, 1, 60);
		forget(&sv);
		for (int i = 0; i < 30; i++)
		{
			sv.tps = 1000;
			run(&disk, all, 1, 8);
			sv.tps = 0;
			run(&disk, all, 1, pause_s);
		}
		hurt += sv.commits_hurt;
		commits += sv.commits;
		used += sv.vacuumed / (30 * (8 + pause_s) * 30 * MB - sv.commits * COMMIT_BYTES) / 3;
	}
	ok_between(hurt / commits, 0, most_hurt, name, "few commits wait");
	ok_between(used, least_used, 1, name, "the disk is used");
}

/* Few and short queries are seen seldom.  They are not taken for nobody each time. */
static void
test_few_users_stay(void)
{
	double		hurt = 0;
	double		commits = 0;

	for (uint64_t seed = 1; seed <= 10; seed++)
	{
		Disk		disk = {15 * MB, 0};
		Server		sv = server(10, 0, seed);
		Server	   *all[] = {&sv};

		run(&disk, all, 1, 30);
		sv.demand = 60 * MB;
		run(&disk, all, 1, 60);
		forget(&sv);
		run(&disk, all, 1, 300);
		hurt += sv.commits_hurt;
		commits += sv.commits;
	}
	ok_between(hurt / commits, 0, 0.06, "ten commits a second", "are not forgotten each time");
}

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

/* Which of two is cut first is chance: less than 1.5 in nineteen of twenty pairs. */
static void
test_two_servers(void)
{
	int			fair[2] = {0};
	double		hurt = 0;
	const int	pairs = 40;

	for (int seed = 1; seed <= pairs; seed++)
		for (int late = 0; late <= 1; late++)
		{
			Disk		disk = {15 * MB, 0};
			Server		a = server(100, 0, seed);
			Server		b = server(100, 0, seed + 100);
			Server	   *all[] = {&a, &b};
			double		ratio;

			run(&disk, all, 2, 20);
			a.demand = 60 * MB;
			run(&disk, all, 2, late * 100);
			b.demand = 60 * MB;
			run(&disk, all, 2, 60);
			forget(&a);
			forget(&b);
			run(&disk, all, 2, 60);
			ratio = fmax(a.vacuumed / b.vacuumed, b.vacuumed / a.vacuumed);
			fair[late] += ratio < 1.5;
			hurt = fmax(hurt, fmax(a.commits_hurt / a.commits, b.commits_hurt / b.commits));
		}
	ok_between(fair[0], pairs * 0.95, pairs, "two servers on one device", "share it fairly after a minute");
	ok_between(fair[1], pairs * 0.95, pairs, "two servers on one device", "and with one that came later");
	ok_between(hurt, 0, 0.05, "two servers on one device", "few commits wait for them");
}

/* Servers that know of each other, and what is seen of them in a minute. */
typedef struct Crowd
{
	double		hurt;			/* part of the commits that waited */
	double		used;			/* part of what users left */
	int			fair;			/* of the runs */
} Crowd;

#define CROWD_LIMIT		8
#define CROWD_RUNS		20

/* busy: so many of them have users, 200 commits a second together. */
static Crowd
crowd(int count, int busy, bool know)
{
	Crowd		seen = {0};

	for (int seed = 1; seed <= CROWD_RUNS; seed++)
	{
		Disk		disk = {15 * MB, 0};
		Server		servers[CROWD_LIMIT];
		Server	   *all[CROWD_LIMIT];
		double		least = 1e18;
		double		most = 0;
		double		commits = 0;
		double		hurt = 0;

		for (int i = 0; i < count; i++)
		{
			all[i] = &servers[i];
			servers[i] = server(i < busy ? 200.0 / busy : 0, 0, seed + 100 * i);
		}
		run(&disk, all, count, 30);
		for (int i = 0; i < count; i++)
		{
			servers[i].demand = 60 * MB;
			if (know)
			{
				servers[i].s.device_share = 1.0 / count;
				servers[i].s.floor /= count;
				/* host_share_begin() */
				servers[i].r.others_users = true;
			}
		}
		run(&disk, all, count, 60);
		for (int i = 0; i < count; i++)
			forget(all[i]);
		run(&disk, all, count, 60);
		for (int i = 0; i < count; i++)
		{
			commits += servers[i].commits;
			hurt += servers[i].commits_hurt;
			seen.used += servers[i].vacuumed / (60 * (15 * MB - 200 * COMMIT_BYTES)) / CROWD_RUNS;
			least = fmin(least, servers[i].vacuumed);
			most = fmax(most, servers[i].vacuumed);
		}
		seen.hurt += hurt / commits / CROWD_RUNS;
		seen.fair += most / least < 1.5;
	}
	return seen;
}

/* Together they use a disk as one would.  Those that do not know of each other do not. */
static void
test_crowds(void)
{
	static const int counts[] = {2, 4, 8};
	Crowd		alone = crowd(1, 1, false);

	ok_between(crowd(4, 4, false).hurt, 0.1, 1, "four servers that do not know of each other", "many commits wait");
	for (size_t i = 0; i < lengthof(counts); i++)
	{
		Crowd		all = crowd(counts[i], counts[i], true);
		Crowd		one = crowd(counts[i], 1, true);
		char		name[64];

		snprintf(name, sizeof(name), "%d servers that know of each other", counts[i]);
		ok_between(all.hurt, 0, fmax(alone.hurt, 0.01), name, "as few commits wait as for one");
		ok_between(all.used, alone.used * 0.8, 1, name, "they use as much as one");
		ok_between(all.fair, CROWD_RUNS * 0.95, CROWD_RUNS, name, "and share it fairly");
		ok_between(one.hurt, 0, fmax(alone.hurt, 0.02), name, "with users on one of them: as few wait");
		ok_between(one.used, alone.used * 0.8, 1, name, "with users on one of them: as much is used");
	}
}

/* One's users begin to wait for something else.  The others are not held by that. */
static void
test_others_trouble(void)
{
	double		used = 0;
	double		hurt = 0;

	for (int seed = 1; seed <= CROWD_RUNS; seed++)
	{
		Disk		disk = {15 * MB, 0};
		Server		servers[4];
		Server	   *all[4];

		for (int i = 0; i < 4; i++)
		{
			all[i] = &servers[i];
			servers[i] = server(50, 0, seed + 100 * i);
		}
		run(&disk, all, 4, 30);
		for (int i = 0; i < 4; i++)
		{
			servers[i].demand = 60 * MB;
			servers[i].s.device_share = 0.25;
			servers[i].s.floor = 0.5 * MB;
		}
		run(&disk, all, 4, 60);
		servers[0].own_wait_s = 0.01;
		run(&disk, all, 4, 60);
		for (int i = 0; i < 4; i++)
			forget(all[i]);
		run(&disk, all, 4, 120);
		for (int i = 0; i < 4; i++)
		{
			used += servers[i].vacuumed / (120 * (15 * MB - 200 * COMMIT_BYTES)) / CROWD_RUNS;
			hurt += servers[i].commits_hurt / servers[i].commits / 4 / CROWD_RUNS;
		}
	}
	ok_between(used, 0.57, 1, "one of four has users who wait for something else", "the disk is used");
	ok_between(hurt, 0, 0.02, "one of four has users who wait for something else", "few commits wait for it");
}

/* Two vacuum where no users are, and then those of one come and go. */
static void
test_two_without_users(void)
{
	for (uint64_t seed = 1; seed <= 3; seed++)
	{
		Disk		disk = {60 * MB, 0};
		Server		servers[] = {server(200, 0, seed), server(0, 0, seed)};
		Server	   *all[] = {&servers[0], &servers[1]};

		/* how long its users wait by themselves is known */
		run(&disk, all, 2, 60);
		servers[0].tps = 0;
		run(&disk, all, 2, 60);
		for (int i = 0; i < 2; i++)
		{
			servers[i].demand = 25 * MB;
			servers[i].s.device_share = 0.5;
			servers[i].s.floor = MB;
		}
		run(&disk, all, 2, 4);
		for (int i = 0; i < 2; i++)
			ok_between(servers[i].r.used.total / servers[i].demand, 0.99, 1, "two without users", "their speed within 4 s");

		for (int i = 0; i < 2; i++)
			servers[i].demand = 100 * MB;
		servers[0].tps = 1000;
		run(&disk, all, 2, 20);
		forget(all[0]);
		run(&disk, all, 2, 60);
		ok_between(servers[0].commits_hurt / servers[0].commits, 0, 0.05, "users of one of two", "are yielded to by both");

		servers[0].tps = 0;
		run(&disk, all, 2, 7);
		for (int i = 0; i < 2; i++)
			ok_between(servers[i].r.used.total / MB, 25, 100, "two whose users have left", "their speed again");
	}
}

/* Three begin beside one that has the whole disk, and end again. */
static void
test_come_and_go(void)
{
	double		hurt = 0;
	double		least = 1;
	double		back = 0;

	for (int seed = 1; seed <= CROWD_RUNS; seed++)
	{
		Disk		disk = {15 * MB, 0};
		Server		servers[4];
		Server	   *all[4];

		for (int i = 0; i < 4; i++)
		{
			all[i] = &servers[i];
			servers[i] = server(50, 0, seed + 100 * i);
		}
		run(&disk, all, 4, 30);
		servers[0].demand = 60 * MB;
		servers[0].s.device_share = 1;
		run(&disk, all, 4, 90);
		for (int i = 0; i < 4; i++)
		{
			servers[i].demand = 60 * MB;
			servers[i].s.device_share = 0.25;
			servers[i].s.floor = 0.5 * MB;
			forget(all[i]);
		}
		run(&disk, all, 4, 60);
		for (int i = 0; i < 4; i++)
		{
			hurt += servers[i].commits_hurt / servers[i].commits / 4 / CROWD_RUNS;
			least = fmin(least, servers[i].vacuumed / servers[0].vacuumed);
			servers[i].demand = i == 0 ? 60 * MB : 0;
			servers[i].s.device_share = 1;
			servers[i].s.floor = 2 * MB;
		}
		forget(all[0]);
		run(&disk, all, 4, 30);
		back += servers[0].vacuumed / (30 * (15 * MB - 200 * COMMIT_BYTES)) / CROWD_RUNS;
		hurt += servers[0].commits_hurt / servers[0].commits / CROWD_RUNS;
	}
	ok_between(hurt, 0, 0.02, "three begin beside one, and end", "few commits wait");
	ok_between(least, 0.5, 1, "three begin beside one, and end", "it gives them their parts");
	ok_between(back, 0.5, 1, "three begin beside one, and end", "and takes them back");
}

/* Some vacuum, and others have the users.  These tell when it is too much. */
static Crowd
watchers(int vacuums, int count, bool know)
{
	Crowd		seen = {0};

	for (int seed = 1; seed <= CROWD_RUNS; seed++)
	{
		Disk		disk = {15 * MB, 0};
		Server		servers[CROWD_LIMIT];
		Server	   *all[CROWD_LIMIT];
		double		commits = 0;
		double		hurt = 0;

		for (int i = 0; i < count; i++)
		{
			all[i] = &servers[i];
			servers[i] = server(i >= vacuums ? 200.0 / (count - vacuums) : 0, 0, seed + 100 * i);
		}
		run(&disk, all, count, 60);
		for (int i = 0; i < count; i++)
		{
			servers[i].demand = i < vacuums ? 60 * MB : 0;
			if (!know)
				continue;
			servers[i].s.device_share = i < vacuums ? 1.0 / vacuums : 1;
			servers[i].s.floor *= servers[i].s.device_share;
			servers[i].r.watches = i >= vacuums;
			servers[i].r.watched = i < vacuums;
		}
		for (int i = 0; i < count; i++)
			forget(all[i]);
		run(&disk, all, count, 120);
		for (int i = 0; i < count; i++)
		{
			commits += servers[i].commits;
			hurt += servers[i].commits_hurt;
		}
		for (int i = 0; i < vacuums; i++)
			seen.used += servers[i].vacuumed / (120 * (15 * MB - 200 * COMMIT_BYTES)) / CROWD_RUNS;
		seen.hurt += hurt / commits / CROWD_RUNS;
	}
	return seen;
}

static void
test_watchers(void)
{
	static const int counts[][2] = {{1, 2}, {1, 4}, {1, 8}, {2, 4}, {4, 8}};
	Crowd		alone = crowd(1, 1, false);

	ok_between(watchers(1, 2, false).hurt, 0.5, 1.001, "users of another server that does not tell", "wait");
	for (size_t i = 0; i < lengthof(counts); i++)
	{
		Crowd		all = watchers(counts[i][0], counts[i][1], true);
		char		name[64];

		snprintf(name, sizeof(name), "%d vacuum, users of %d others tell", counts[i][0], counts[i][1] - counts[i][0]);
		ok_between(all.hurt, 0, fmax(alone.hurt, 0.02), name, "as few commits wait as where they are");
		ok_between(all.used, alone.used * 0.8, 1, name, "as much of the disk is used");
	}
	{
		Disk		disk = {60 * MB, 0};
		Server		servers[] = {server(0, 60 * MB, 1), server(200, 0, 2)};
		Server	   *both[] = {&servers[0], &servers[1]};

		servers[1].r.watches = true;
		servers[1].looks = 0.005;
		run(&disk, both, 2, 60);
		tap_ok(throttle_has_users(&servers[1].state), "users that wait for another's vacuum", "are there");
		servers[1].tps = 0;
		run(&disk, both, 2, 5);
		tap_ok(!throttle_has_users(&servers[1].state), "users that have left for 5 s", "are known to have left");
	}
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
	test_few_large_commits();
	test_after_large_commits();
	test_overload();
	test_idle_device();
	test_untold_limit(80, 95, "a limit that the device does not tell, but the kernel");
	test_untold_limit(30, 5, "a limit that nobody tells, with free processors");
	test_drain();
	test_bursts();
	test_users_leave();
	test_users_leave_short_vacuums();
	test_users_pause(0.75, 0.01, 0.5, "pauses of less than a second");
	test_users_pause(2, 0.02, 0.5, "pauses of two seconds");
	test_users_pause(4, 0.02, 0.5, "pauses of four seconds");
	test_few_users_stay();
	test_garbage();
	test_load_grows();
	test_two_servers();
	test_crowds();
	test_two_without_users();
	test_come_and_go();
	test_others_trouble();
	test_watchers();
	return tap_done();
}
