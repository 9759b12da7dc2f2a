/*
 * throttle_loads_test.c
 *		policy/throttle: users who come, leave and pause, who change, and who wait for
 *		something else.
 */
#include "disk_world.h"

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

/* Users come for so short a time that they are still listened to when they leave. */
static void
test_users_leave_before_a_vacuum(void)
{
	for (uint64_t seed = 1; seed <= 3; seed++)
	{
		Disk		disk = {60 * MB, 0};
		Server		sv = server(0, 0, seed);
		Server	   *all[] = {&sv};

		run(&disk, all, 1, 30);
		sv.tps = 2000;
		run(&disk, all, 1, 3);
		sv.tps = 0;
		run(&disk, all, 1, 1.5);
		sv.demand = 300 * MB;
		run(&disk, all, 1, 0.25);
		ok_between(sv.out.allowed.total / MB, 100, INFINITY, "users, gone before a vacuum", "hold nothing");
	}
}

/*
 * Users have trouble that is not the vacuums' doing, while short vacuums pause.  When it is
 * over, and a large vacuum comes, it is not held by that.
 */
static void
test_trouble_beside_short_vacuums(void)
{
	static const double demands[] = {0.7, 3, 10};

	for (size_t i = 0; i < lengthof(demands); i++)
		for (int pairs = 2; pairs <= 10; pairs += 8)
		{
			double		rate = 0;
			const int	servers = 20;
			char		name[80];

			for (int seed = 1; seed <= servers; seed++)
			{
				Disk		disk = {300 * MB, 0};
				Server		sv = server(200, 0, seed);
				Server	   *all[] = {&sv};

				run(&disk, all, 1, 30);
				sv.demand = demands[i] * MB;
				run(&disk, all, 1, 20);
				sv.own_wait_s = 0.02;
				for (int j = 0; j < pairs; j++)
				{
					sv.demand = demands[i] * MB;
					run(&disk, all, 1, 1.5);
					sv.demand = 0;
					run(&disk, all, 1, 0.5);
				}
				sv.own_wait_s = 0;
				run(&disk, all, 1, 3);
				sv.demand = 60 * MB;
				run(&disk, all, 1, 10);
				rate += sv.r.used.total / servers;
			}
			snprintf(name, sizeof(name), "short vacuums of %g MB/s beside trouble of %d s", demands[i], 2 * pairs);
			ok_between(rate / MB, 40, 60.1, name, "do not hold the next one");
		}
}

/* Where short vacuums are the trouble, they are held. */
static void
test_short_vacuums_on_slow_disk(void)
{
	static const double pauses[] = {0.25, 0.5, 2};

	for (size_t i = 0; i < lengthof(pauses); i++)
	{
		double		hurt = 0;
		double		used = 0;
		const int	servers = 20;
		char		name[64];

		for (int seed = 1; seed <= servers; seed++)
		{
			Disk		disk = {15 * MB, 0};
			Server		sv = server(100, 0, seed);
			Server	   *all[] = {&sv};

			run(&disk, all, 1, 30);
			forget(&sv);
			for (int j = 0; j < 100; j++)
			{
				sv.demand = 60 * MB;
				run(&disk, all, 1, 1.5);
				sv.demand = 0;
				run(&disk, all, 1, pauses[i]);
			}
			hurt += sv.commits_hurt / sv.commits / servers;
			used += sv.vacuumed / (150 * 14.2 * MB) / servers;
		}
		snprintf(name, sizeof(name), "short vacuums on a slow disk, with pauses of %g s", pauses[i]);
		ok_between(hurt, 0, 0.005, name, "few commits wait");
		ok_between(used, 0.5, 1, name, "the disk is used");
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

int
main(void)
{
	test_few_large_commits();
	test_after_large_commits();
	test_users_leave();
	test_users_leave_short_vacuums();
	test_users_leave_before_a_vacuum();
	test_trouble_beside_short_vacuums();
	test_short_vacuums_on_slow_disk();
	test_users_pause(0.75, 0.01, 0.5, "pauses of less than a second");
	test_users_pause(2, 0.02, 0.5, "pauses of two seconds");
	test_users_pause(4, 0.02, 0.5, "pauses of four seconds");
	test_few_users_stay();
	return tap_done();
}
