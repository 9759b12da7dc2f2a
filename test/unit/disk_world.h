/*
 * disk_world.h
 *		A simulated disk, and servers on it whose users wait for it, for tests of
 *		policy/throttle.
 *
 * The disk is a queue that empties at its capacity.  A commit waits its own
 * time and that of the queue.  Users are sampled twenty times a step, as the
 * governor does, so few of them give noisy numbers (Poisson).
 */
#ifndef SWEEP_TEST_DISK_WORLD_H
#define SWEEP_TEST_DISK_WORLD_H

#include "tap.h"
#include "throttle.h"

#define MB		RATES_MB
#define DT		0.25

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

static inline double
uniform(uint64_t *seed)
{
	return (tap_random(seed) + 0.5) / 2147483648.0;
}

/* Knuth's for means up to 30, above it the normal approximation */
static inline double
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

static inline Server
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
static inline void
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

static inline void
run(Disk *disk, Server **servers, int count, double seconds)
{
	for (int i = 0; i < (int) (seconds / DT); i++)
		step_all(disk, servers, count);
}

static inline void
forget(Server *sv)
{
	sv->vacuumed = sv->waited = sv->commits = sv->commits_hurt = 0;
}

static inline void
ok_between(double got, double low, double high, const char *name, const char *what)
{
	if (!tap_ok(got >= low && got <= high, name, what))
		printf("#      got: %g\n# expected: %g to %g\n", got, low, high);
}

#endif							/* SWEEP_TEST_DISK_WORLD_H */
