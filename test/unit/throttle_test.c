/*
 * throttle_test.c
 *		policy/throttle: what a step decides, limit by limit, and with sensors that
 *		fail.  Users on a disk: throttle_disk_test.c.
 */
#include "tap.h"
#include "throttle.h"

#define MB		RATES_MB
#define DT		0.25
#define STEPS_5S	20

typedef struct Server
{
	ThrottleState state;
	ThrottleSettings s;
	ThrottleReading r;
	ThrottleResult out;
} Server;

static void
ok_between(double got, double low, double high, const char *name, const char *what)
{
	if (!tap_ok(got >= low && got <= high, name, what))
		printf("#      got: %g\n# expected: %g to %g\n", got, low, high);
}

static Server
busy(double rate)
{
	Server		sv = {0};

	sv.s.floor = 2 * MB;
	sv.r.produced_rows_s = -1;
	sv.r.vacuums = sv.r.yielding = 1;
	sv.r.io_pressure_pct = sv.r.cpu_pressure_pct = -1;
	sv.r.used.total = sv.r.yielding_used = rate;
	sv.r.used.wal = rate / 4;
	return sv;
}

/* Steps in which the vacuums use what they are allowed, up to demand. */
static void
steps(Server *sv, int count, double demand)
{
	for (int i = 0; i < count; i++)
	{
		throttle_step(&sv->state, &sv->s, &sv->r, DT, &sv->out);
		sv->r.used.total = sv->out.allowed.total > 0 ? fmin(demand, sv->out.allowed.total) : demand;
		sv->r.yielding_used = sv->r.used.total;
		sv->r.used.wal = sv->r.used.total / 4;
		if (sv->out.allowed.wal > 0)
			sv->r.used.wal = fmin(sv->r.used.wal, sv->out.allowed.wal);
	}
}

static void
test_no_limit(void)
{
	Server		sv = busy(500 * MB);

	sv.r.wal = SENSOR_OK;
	sv.r.slot_left_bytes = -1;
	sv.s.limits[LIMIT_WAL_DISK] = 80;
	steps(&sv, 100, 500 * MB);
	tap_is_double(sv.out.allowed.total, 0, "no limit, not adaptive", "unlimited");
	tap_is_int(sv.out.binding, LIMIT_NONE, "no limit, not adaptive", "nothing binds");
	tap_is_int(sv.out.decision, THROTTLE_STEADY, "no limit, not adaptive", "decision");

	sv.s.limits[LIMIT_WRITE] = 20 * MB;
	sv.r.used.write = 19.9 * MB;
	steps(&sv, 1, 500 * MB);
	tap_is_double(sv.out.allowed.write, 20 * MB, "a ceiling", "holds as it is");
	tap_is_double(sv.out.allowed.total, 0, "a ceiling", "does not limit the total");
	tap_is_int(sv.out.binding, LIMIT_WRITE, "a ceiling", "binds");
	tap_is_int(sv.out.reason, THROTTLE_REASON_CEILING, "a ceiling", "reason");

	sv.r.vacuums = sv.r.yielding = 0;
	steps(&sv, 1, 0);
	tap_is_int(sv.out.decision, THROTTLE_NO_VACUUM, "no vacuum", "decision");
}

/* What is said of a limit, by how much of it is used up. */
static void
test_reasons_of_a_number(void)
{
	static const struct
	{
		double		busy_pct;
		ThrottleReason reason;
	}			cases[] = {
		{30, THROTTLE_REASON_CALM},
		{39, THROTTLE_REASON_NEAR},
		{41, THROTTLE_REASON_DEVICE},
	};

	for (int i = 0; i < 3; i++)
	{
		Server		sv = busy(50 * MB);

		sv.s.limits[LIMIT_DEVICE] = 40;
		sv.r.disk = SENSOR_OK;
		sv.r.busy_pct = cases[i].busy_pct;
		steps(&sv, 1, 50 * MB);
		tap_is_int(sv.out.limits[LIMIT_DEVICE].reason, cases[i].reason, "a device at 40 %", "reason");
	}
}

static void
test_step_response(void)
{
	Server		sv = busy(0);
	double		before;
	double		lowest = 1e12;

	sv.s.limits[LIMIT_IO_LATENCY] = 5;
	sv.r.disk = SENSOR_OK;
	sv.r.latency_ms = 1;
	steps(&sv, 40, 200 * MB);
	tap_ok(sv.out.allowed.total == 0 || sv.out.allowed.total >= 200 * MB, "latency far below its limit", "not held");

	sv.r.latency_ms = 6;
	steps(&sv, 8, 200 * MB);
	tap_ok(sv.out.allowed.total > 0 && sv.out.allowed.total < 200 * MB, "latency over its limit", "backs off");
	tap_is_int(sv.out.binding, LIMIT_IO_LATENCY, "latency over its limit", "binds");
	tap_is_int(sv.out.reason, THROTTLE_REASON_LATENCY, "latency over its limit", "reason");

	before = sv.out.allowed.total;
	steps(&sv, 1, 200 * MB);
	ok_between(sv.out.allowed.total / before, 0.5, 1, "latency over its limit", "at most halved in a step");

	sv.r.latency_ms = 100;
	for (int i = 0; i < 400; i++)
	{
		before = sv.out.allowed.total;
		steps(&sv, 1, 200 * MB);
		lowest = fmin(lowest, sv.out.allowed.total / before);
	}
	ok_between(lowest, 0.5, 1, "latency far over its limit", "at most halved in a step");
	tap_is_double(sv.out.allowed.total, 2 * MB, "latency stays over its limit", "down to the floor");
	tap_is_int(sv.out.decision, THROTTLE_FLOOR, "latency stays over its limit", "says so");

	sv.r.latency_ms = 4.7;
	steps(&sv, 40, 200 * MB);
	tap_is_double(sv.out.allowed.total, 2 * MB, "latency just below its limit", "does not grow");
	sv.r.latency_ms = 1;
	steps(&sv, 12, 200 * MB);
	tap_ok(sv.out.allowed.total > 2 * MB && sv.out.allowed.total < 6 * MB, "latency is good again", "grows slowly at first");
	tap_is_int(sv.out.decision, THROTTLE_RECOVER, "latency is good again", "says so");
	steps(&sv, 400, 200 * MB);
	tap_ok(sv.out.allowed.total >= 200 * MB, "latency is good again", "all of it within 100 s");
}

/* A cut is not repeated before it can have been felt, and starts from what was used. */
static void
test_reaction(void)
{
	Server		sv = busy(0);
	int			cuts = 0;

	sv.s.limits[LIMIT_IO_LATENCY] = 5;
	sv.r.disk = SENSOR_OK;
	sv.r.latency_ms = 1;
	steps(&sv, 60, 80 * MB);
	sv.r.latency_ms = 20;
	for (int i = 0; i < 16; i++)
	{
		steps(&sv, 1, 80 * MB);
		cuts += sv.out.decision == THROTTLE_BACK_OFF;
		if (cuts == 1 && sv.out.decision == THROTTLE_BACK_OFF)
			tap_is_double(sv.out.allowed.total, 40 * MB, "backing off", "from what was used");
	}
	ok_between(cuts, 3, 4, "over its limit for 4 s", "once a second");
}

static void
test_wal_dangers(void)
{
	static const struct
	{
		const char *name;
		BudgetLimit limit;
		ThrottleReason reason;
		bool		failing;
		double		behind;
		double		disk_pct;
		double		left;
	}			cases[] = {
		{"archiving fails", LIMIT_ARCHIVER, THROTTLE_REASON_ARCHIVER_FAILS, true, 0, 10, -1},
		{"archiving is behind", LIMIT_ARCHIVER, THROTTLE_REASON_ARCHIVER_BEHIND, false, 2e9, 10, -1},
		{"WAL's disk at 85 %", LIMIT_WAL_DISK, THROTTLE_REASON_WAL_DISK, false, 0, 85, -1},
		{"a slot with 15 % left", LIMIT_SLOTS, THROTTLE_REASON_SLOT, false, 0, 10, 150 * MB},
	};

	for (size_t i = 0; i < lengthof(cases); i++)
	{
		Server		sv = busy(3000 * MB);

		sv.s.limits[LIMIT_WAL_DISK] = 80;
		sv.s.slot_keep_bytes = 1000 * MB;
		sv.r.wal = SENSOR_OK;
		sv.r.wal_disk_used_pct = 10;
		sv.r.slot_left_bytes = -1;
		steps(&sv, 20, 3000 * MB);
		tap_is_double(sv.out.allowed.wal, 0, cases[i].name, "before: nothing limits");

		sv.r.archiver_failing = cases[i].failing;
		sv.r.archiver_behind_bytes = cases[i].behind;
		sv.r.wal_disk_used_pct = cases[i].disk_pct;
		sv.r.slot_left_bytes = cases[i].left;
		steps(&sv, STEPS_5S, 3000 * MB);
		tap_is_double(sv.out.allowed.wal, 2 * MB, cases[i].name, "WAL is at the floor within 5 s");
		tap_is_double(sv.out.allowed.total, 0, cases[i].name, "what is only read is not limited");
		tap_is_int(sv.out.binding, cases[i].limit, cases[i].name, "binds");
		tap_is_int(sv.out.reason, cases[i].reason, cases[i].name, "reason");
		tap_is_int(sv.out.decision, THROTTLE_FLOOR, cases[i].name, "decision");

		sv.r.produced_rows_s = 1e6;
		steps(&sv, 4 * 600, 3000 * MB);
		tap_ok(sv.out.allowed.wal > 8 * MB, cases[i].name, "the floor rises while garbage piles up");
		sv.r.produced_rows_s = 0;
		steps(&sv, 4 * 2400, 3000 * MB);
		tap_ok(sv.out.allowed.wal < 4 * MB, cases[i].name, "and comes down");

		sv.r.archiver_failing = false;
		sv.r.archiver_behind_bytes = 0;
		sv.r.wal_disk_used_pct = 79;
		sv.r.slot_left_bytes = 300 * MB;
		steps(&sv, 4, 3000 * MB);
		if (cases[i].limit == LIMIT_WAL_DISK)
			tap_ok(sv.out.allowed.wal < 4 * MB, cases[i].name, "one percent less is not over");
		sv.r.wal_disk_used_pct = 70;
		steps(&sv, 4 * 60, 3000 * MB);
		tap_ok(sv.out.allowed.wal == 0 || sv.out.allowed.wal > 100 * MB, cases[i].name, "over: it recovers");
	}
}

/*
 * A standby that takes less than a vacuum writes: a quarter of the total is WAL.  It
 * tells its position so many steps late.
 */
static void
test_replica(int late_steps, double least_used)
{
	static const double takes[] = {1, 5, 50, 1000};

	for (size_t i = 0; i < lengthof(takes); i++)
	{
		Server		sv = busy(0);
		double		lag = 0;
		double		most = 0;
		double		told[8] = {0};
		double		done = 0;
		char		name[64];

		snprintf(name, sizeof(name), "a standby that takes %g MB/s, %g s late", takes[i], late_steps * DT);
		sv.s.replica_lag_bytes = 100 * MB;
		sv.r.replicas = SENSOR_OK;
		for (int t = 0; t < 4 * 300; t++)
		{
			steps(&sv, 1, 400 * MB);
			lag = fmax(0, lag + (sv.r.used.total / 4 - takes[i] * MB) * DT);
			most = fmax(most, lag);
			told[t % 8] = lag;
			sv.r.lag_bytes = told[(t + 8 - late_steps) % 8];
			if (t > 4 * 30)
				done += sv.r.used.total / 4 * DT;
		}
		ok_between(most / (100 * MB), 0, 1, name, "the lag stays under its limit");
		ok_between(done / 270 / MB / fmin(takes[i], 100), least_used, 1.05, name, "and most of that is used");
	}
}

static void
test_broken(void)
{
	static const BudgetLimit which[] = {LIMIT_IO_LATENCY, LIMIT_DEVICE, LIMIT_REPLICA_LAG,
	LIMIT_USERS, LIMIT_WAL_DISK};

	for (size_t i = 0; i < lengthof(which); i++)
		for (int how = 0; how < 3; how++)
		{
			Server		sv = busy(50 * MB);
			char		name[64];
			bool		unlimited = false;
			bool		grew = false;
			bool		told = true;
			double		before;
			double	   *allowed = which[i] == LIMIT_WAL_DISK ? &sv.out.allowed.wal : &sv.out.allowed.total;

			snprintf(name, sizeof(name), "limit %d without its sensor, %s", which[i],
					 how == 0 ? "from the start" : how == 1 ? "later" : "while nothing is over");
			sv.s.limits[LIMIT_IO_LATENCY] = which[i] == LIMIT_IO_LATENCY ? 5 : 0;
			sv.s.limits[LIMIT_DEVICE] = which[i] == LIMIT_DEVICE ? 50 : 0;
			sv.s.replica_lag_ms = which[i] == LIMIT_REPLICA_LAG ? 5000 : 0;
			sv.s.limits[LIMIT_WAL_DISK] = which[i] == LIMIT_WAL_DISK ? 80 : 0;
			sv.s.adaptive = which[i] == LIMIT_USERS;
			sv.r.disk = sv.r.replicas = sv.r.users = sv.r.wal = SENSOR_OK;
			sv.r.slot_left_bytes = -1;
			sv.r.active = 1;
			sv.r.commits_s = -1;
			if (how > 0)
			{
				if (how == 1)
				{
					sv.r.latency_ms = 5.2;
					sv.r.busy_pct = 52;
					sv.r.lag_ms = 3000;
					sv.r.waiting = 1;
					sv.r.wal_disk_used_pct = 82;
				}
				steps(&sv, 40, 50 * MB);
			}
			before = *allowed > 0 ? *allowed : 50 * MB;
			sv.r.disk = sv.r.replicas = sv.r.users = sv.r.wal = SENSOR_BROKEN;
			sv.r.latency_ms = sv.r.waiting = sv.r.lag_ms = NAN;
			for (int t = 0; t < 4 * 120; t++)
			{
				steps(&sv, 1, 5000 * MB);
				unlimited |= *allowed <= 0;
				grew |= *allowed > fmax(before, 200 * MB) * 1.001;
				told &= sv.out.decision == THROTTLE_SENSOR_LOST && sv.out.limits[which[i]].broken;
				tap_failures += *allowed < sv.s.floor;
			}
			tap_ok(!unlimited, name, "never unlimited");
			tap_ok(!grew, name, "does not grow");
			tap_ok(told, name, "says so");

			/* and it sees again */
			sv.r.disk = sv.r.replicas = sv.r.users = sv.r.wal = SENSOR_OK;
			sv.r.latency_ms = sv.r.busy_pct = sv.r.lag_ms = 0;
			sv.r.waiting = sv.r.wal_disk_used_pct = 0;
			steps(&sv, 4 * 120, 400 * MB);
			tap_ok(*allowed <= 0 || *allowed >= (allowed == &sv.out.allowed.wal ? 100 : 400) * MB, name, "recovers when it is back");
		}
}

/* What is not a sensor of this system limits nothing. */
static void
test_absent(void)
{
	Server		sv = busy(50 * MB);

	sv.s.limits[LIMIT_DEVICE] = 20;
	sv.r.disk = SENSOR_ABSENT;
	sv.s.replica_lag_bytes = MB;
	sv.r.replicas = SENSOR_ABSENT;
	steps(&sv, 40, 50 * MB);
	tap_is_double(sv.out.allowed.total, 0, "sensors that this system does not have", "limit nothing");
	tap_ok(!sv.out.limits[LIMIT_DEVICE].used, "sensors that this system does not have", "are not said to");
}

static void
test_dead_signal(void)
{
	Server		sv = busy(0);

	/* numbers that stand still are no news: the users' sensor says 0 for ever */
	sv.s.adaptive = true;
	sv.r.users = SENSOR_OK;
	steps(&sv, 4 * 600, 300 * MB);
	tap_ok(sv.out.allowed.total == 0 || sv.out.allowed.total > 300 * MB, "nobody ever there", "not held");
	sv.r.active = sv.r.waiting = 3;
	sv.r.commits_s = -1;
	steps(&sv, 20, 300 * MB);
	ok_between(sv.out.allowed.total / MB, 2, 100, "three users that only wait", "yields to them");
	steps(&sv, 4 * 600, 300 * MB);
	tap_ok(sv.out.allowed.total >= 2 * MB, "three users that only wait, for long", "still goes on");
}

static void
test_clock(void)
{
	static const double jumps[] = {0, -5, -1e9, 11, 1e9, NAN};

	for (size_t i = 0; i < lengthof(jumps); i++)
	{
		Server		sv = busy(0);
		ThrottleState before;
		char		name[64];

		snprintf(name, sizeof(name), "%g s between two steps", jumps[i]);
		throttle_step(&sv.state, &sv.s, &sv.r, jumps[i], &sv.out);
		tap_is_double(sv.out.floor, 2 * MB, name, "as the first");

		sv.s.limits[LIMIT_IO_LATENCY] = 5;
		sv.r.disk = SENSOR_OK;
		sv.r.latency_ms = 5.3;
		steps(&sv, 40, 50 * MB);
		before = sv.state;
		sv.r.latency_ms = 500;
		throttle_step(&sv.state, &sv.s, &sv.r, jumps[i], &sv.out);
		tap_is_int(sv.out.reason, THROTTLE_REASON_CLOCK, name, "reason");
		tap_is_double(sv.out.allowed.total, before.last.allowed.total, name, "nothing is decided");
		tap_is_int(memcmp(&before, &sv.state, sizeof(before)), 0, name, "nothing is learned");
	}
}

static void
test_floor(void)
{
	Server		sv = busy(0);
	double		early;

	/* at the floor because WAL is in danger, and garbage piles up */
	sv.r.wal = SENSOR_OK;
	sv.r.slot_left_bytes = -1;
	sv.r.archiver_failing = true;
	sv.r.dead_row_bytes = 100;
	sv.r.removed_rows_s = 100;
	sv.r.produced_rows_s = 50;
	steps(&sv, 4 * 60, 300 * MB);
	tap_is_double(sv.out.floor, 2 * MB, "what dies is removed", "the floor is what is set");

	sv.r.produced_rows_s = 1000;
	steps(&sv, 4 * 300, 300 * MB);
	early = sv.out.floor;
	ok_between(early / MB, 8, 300, "more dies than is removed", "the floor rises");
	tap_ok(sv.out.allowed.wal >= early * 0.999, "more dies than is removed", "and holds over yielding");

	/* a segment in half a minute */
	for (int i = 0; i < 10; i++)
	{
		sv.r.archiver_behind_bytes += 16 * MB;
		steps(&sv, 4 * 30, 300 * MB);
	}
	tap_is_double(sv.out.floor, 2 * MB, "the danger grows", "the floor does not rise");
	steps(&sv, 4 * 400, 300 * MB);
	ok_between(sv.out.floor / MB, 8, 300, "it grows no more", "the floor rises again");

	sv.s.limits[LIMIT_WRITE] = 1 * MB;
	sv.r.used.write = 1 * MB;
	steps(&sv, 1, 300 * MB);
	tap_is_double(sv.out.allowed.write, 1 * MB, "floor against ceiling", "the ceiling holds");
	ok_between(sv.out.bloat_bytes_h, 800 * 100 * 3600.0, 900 * 100 * 3600.0, "floor against ceiling",
			   "by how much bloat grows");

	sv.r.produced_rows_s = 0;
	steps(&sv, 4 * 1200, 300 * MB);
	tap_ok(sv.out.floor < early / 2, "what dies is removed again", "the floor comes down");
	tap_is_double(sv.out.bloat_bytes_h, 0, "what dies is removed again", "no bloat grows");
}

static void
test_reclaim(void)
{
	Server		sv = busy(0);

	/* 1,000 rows for each MB: 5,000 rows/s are 5 MB/s */
	sv.s.reclaim_rows_s = 5000;
	sv.s.adaptive = true;
	sv.r.users = SENSOR_OK;
	sv.r.commits_s = -1;
	for (int i = 0; i < 4 * 600; i++)
	{
		sv.r.active = sv.r.waiting = fmin(1e6, 2 + i * 0.1);
		sv.r.removed_rows_s = sv.r.used.total / MB * 1000;
		steps(&sv, 1, 300 * MB);
	}
	ok_between(sv.out.floor / MB, 4.8, 5.2, "a reclaim rate", "is the floor that it needs");

	sv.s.reclaim_rows_s = 0;
	sv.s.reclaim_auto = true;
	sv.r.produced_rows_s = 8000;
	for (int i = 0; i < 4 * 600; i++)
	{
		sv.r.removed_rows_s = sv.r.used.total / MB * 1000;
		steps(&sv, 1, 300 * MB);
	}
	tap_ok(sv.out.floor >= 7.8 * MB, "as many as are produced", "is the floor that it needs");

	sv.s.limits[LIMIT_IO_LATENCY] = 5;
	sv.r.disk = SENSOR_OK;
	sv.r.latency_ms = 50;
	steps(&sv, 4 * 60, 300 * MB);
	ok_between(sv.out.allowed.total / MB, 2, 2, "a ceiling below it", "holds");
}

/* Users that come while a vacuum is fast: first it learns how they usually wait. */
static void
test_listens(void)
{
	Server		sv = busy(0);
	int			quiet = 0;

	sv.s.adaptive = true;
	sv.r.users = SENSOR_OK;
	sv.r.commits_s = -1;
	steps(&sv, 80, 500 * MB);
	tap_ok(sv.out.allowed.total == 0 || sv.out.allowed.total >= 500 * MB, "nobody there", "not held");
	sv.r.active = 1;
	sv.r.waiting = 0.05;
	for (int i = 0; i < 40; i++)
	{
		steps(&sv, 1, 500 * MB);
		quiet += sv.out.allowed.total > 0 && sv.out.allowed.total <= 4 * MB;
	}
	ok_between(quiet * DT, 2, 4, "users come", "three seconds to listen");
	steps(&sv, 4 * 30, 500 * MB);
	tap_ok(sv.out.allowed.total == 0 || sv.out.allowed.total >= 500 * MB, "they do not wait", "not held");

	/*
	 * a load without a vacuum, then the users of before: usual is what they
	 * do
	 */
	sv.r.vacuums = sv.r.yielding = 0;
	sv.r.waiting = 3;
	sv.r.active = 3;
	steps(&sv, 4 * 120, 0);
	sv.r.waiting = 0.05;
	sv.r.active = 1;
	sv.r.vacuums = sv.r.yielding = 1;
	quiet = 0;
	for (int i = 0; i < 40; i++)
	{
		steps(&sv, 1, 500 * MB);
		quiet += sv.out.allowed.total > 0 && sv.out.allowed.total <= 4 * MB;
	}
	ok_between(quiet * DT, 2, 4, "the first vacuum for two minutes", "listens again");
	ok_between(sv.out.users_expected, 0.04, 0.2, "after a load without a vacuum", "what was heard counts");
}

/* The next step is brought forward when users wait too long, and not otherwise. */
static void
test_urgent(void)
{
	Server		sv = busy(0);

	tap_ok(!throttle_is_urgent(&sv.state, 8, 1), "before the first step", "is not urgent");
	sv.s.adaptive = true;
	sv.r.users = SENSOR_OK;
	sv.r.commits_s = 100;
	sv.r.active = 0.2;
	sv.r.waiting = 0.12;
	steps(&sv, 80, 500 * MB);
	tap_ok(!throttle_is_urgent(&sv.state, 0.12, 0.25), "as many wait as ever", "is not urgent");
	tap_ok(!throttle_is_urgent(&sv.state, 1, 0.05), "one more waits, for 50 ms", "is not urgent yet");
	tap_ok(throttle_is_urgent(&sv.state, 1, 0.2), "one more waits, for 200 ms", "is urgent");
	tap_ok(throttle_is_urgent(&sv.state, 8, 0.05), "eight more wait, for 50 ms", "is urgent");

	sv.r.waiting = 8;
	steps(&sv, 1, 500 * MB);
	tap_is_int(sv.out.decision, THROTTLE_BACK_OFF, "a step then", "backs off");
	tap_ok(!throttle_is_urgent(&sv.state, 8, 0.2), "before the cut is felt", "is not urgent");
	tap_ok(throttle_is_urgent(&sv.state, 8, 1.1), "when it should have been", "is urgent again");

	sv.r.users = SENSOR_BROKEN;
	steps(&sv, 1, 500 * MB);
	tap_ok(!throttle_is_urgent(&sv.state, 8, 1.1), "users cannot be seen", "is not urgent");
	sv.r.users = SENSOR_OK;
	sv.s.adaptive = false;
	steps(&sv, 1, 500 * MB);
	tap_ok(!throttle_is_urgent(&sv.state, 8, 1.1), "not adaptive", "is not urgent");
}

static void
test_base_backup(void)
{
	Server		sv = busy(0);
	double		before;

	sv.s.adaptive = true;
	sv.r.users = SENSOR_OK;
	steps(&sv, 80, 100 * MB);
	sv.r.base_backups = 1;
	steps(&sv, 1, 100 * MB);
	ok_between(sv.out.allowed.total / MB, 49, 51, "a base backup begins", "half of it is its own");
	tap_is_int(sv.out.reason, THROTTLE_REASON_BASE_BACKUP, "a base backup begins", "reason");
	before = sv.out.allowed.total;
	steps(&sv, 4 * 20, 100 * MB);
	ok_between(sv.out.allowed.total / before, 1, 1.2, "while it runs", "nothing of it is taken back soon");
	sv.r.base_backups = 0;
	steps(&sv, 40, 100 * MB);
	tap_ok(sv.out.allowed.total == 0 || sv.out.allowed.total >= 100 * MB, "when it has ended", "all of it again");
}

/* Whatever is measured, the result is one that can be obeyed. */
static void
test_any_input(void)
{
	static const double odd[] = {0, 1, -1, 1e-300, 1e300, NAN, INFINITY, -INFINITY, 50, 5e8};
	uint64_t	seed = 42;
	int			wrong = 0;

	for (int i = 0; i < 200; i++)
	{
		Server		sv = busy(0);

#define ANY()	odd[tap_random(&seed) % lengthof(odd)]
		for (int t = 0; t < 100; t++)
		{
			double		total;

			sv.s.adaptive = tap_random(&seed) % 2;
			sv.s.limits[LIMIT_IO_LATENCY] = tap_random(&seed) % 2 * 5;
			sv.s.limits[LIMIT_CPU] = tap_random(&seed) % 2 * 20;
			sv.s.replica_lag_bytes = tap_random(&seed) % 2 * MB;
			sv.s.limits[LIMIT_WAL_DISK] = 80;
			sv.s.slot_keep_bytes = ANY();
			sv.r.vacuums = tap_random(&seed) % 3;
			sv.r.used.total = ANY();
			sv.r.removed_rows_s = ANY();
			sv.r.produced_rows_s = ANY();
			sv.r.disk = (tap_random(&seed) % 4);
			sv.r.users = (tap_random(&seed) % 4);
			sv.r.wal = (tap_random(&seed) % 4);
			sv.r.replicas = (tap_random(&seed) % 4);
			sv.r.cpu = (tap_random(&seed) % 4);
			sv.r.latency_ms = ANY();
			sv.r.active = ANY();
			sv.r.waiting = ANY();
			sv.r.commits_s = ANY();
			sv.r.base_backups = tap_random(&seed) % 3;
			sv.r.archiver_behind_bytes = ANY();
			sv.r.wal_disk_used_pct = ANY();
			sv.r.slot_left_bytes = ANY();
			sv.r.lag_bytes = ANY();
			sv.r.lag_ms = ANY();
			sv.r.cpu_pct = ANY();
			throttle_step(&sv.state, &sv.s, &sv.r, ANY(), &sv.out);
			total = sv.out.allowed.total;
			if (!(total == 0 || (isfinite(total) && total >= 2 * MB)) || !(sv.out.floor >= 2 * MB) ||
				sv.out.binding < LIMIT_NONE || sv.out.binding >= LIMIT_COUNT)
				wrong++;
		}
		/* and it is well again after that */
		sv = (Server)
		{
			.state = sv.state,.s =
			{
				.floor = 2 * MB,.adaptive = true
			}
		};
		sv.r.vacuums = sv.r.yielding = 1;
		sv.r.users = SENSOR_OK;
		sv.r.produced_rows_s = -1;
		steps(&sv, 4 * 1200, 100 * MB);
		wrong += !(sv.out.allowed.total == 0 || sv.out.allowed.total >= 100 * MB);
	}
	tap_is_int(wrong, 0, "20,000 steps with any numbers", "a rate or none, never below the floor");
}

int
main(void)
{
	for (int i = 0; i < THROTTLE_REASON_COUNT; i++)
		tap_failures += throttle_reason_text((ThrottleReason) i) == NULL;
	test_no_limit();
	test_reasons_of_a_number();
	test_step_response();
	test_reaction();
	test_wal_dangers();
	test_replica(2, 0.5);
	test_replica(6, 0.35);
	test_broken();
	test_absent();
	test_dead_signal();
	test_clock();
	test_floor();
	test_reclaim();
	test_listens();
	test_urgent();
	test_base_backup();
	test_any_input();
	return tap_done();
}
