/*
 * throttle_crowd_test.c
 *		policy/throttle: several servers on one simulated disk.
 */
#include "disk_world.h"

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
	test_two_servers();
	test_crowds();
	test_two_without_users();
	test_come_and_go();
	test_others_trouble();
	test_watchers();
	return tap_done();
}
