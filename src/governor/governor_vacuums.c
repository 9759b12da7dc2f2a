/*
 * governor_vacuums.c
 *		Which vacuums run, what they use, and what each of them is granted.
 *
 * Only the governor runs this.  It reads the meter slots and writes the
 * grants.  When the time of a sweep.slow() is over, it takes back what that
 * asked for.
 */
#include "governor/governor.h"

#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/memutils.h"

#include "meter/meter.h"
#include "meter/pacer.h"
#include "policy/share.h"
#include "server/clock.h"
#include "server/compat.h"
#include "server/lock_waiter.h"
#include "settings.h"
#include "shmem.h"

#define WEIGHT_MAX		4.0
#define DEMAND_GROWTH	1.25	/* a vacuum may use more than it does */
#define USES_ITS_SHARE	0.8		/* of it, and it would use more */
#define ENDED_TAU_S		0.25	/* what has ended is counted over so long */
#define LEAST_DEMAND	(64 * 1024.0)	/* bytes/s, or it would never grow */

/* What is known of one process.  The index is that of its meter slot. */
typedef struct Vacuum
{
	bool		here;			/* in this look */
	bool		eligible;		/* the budget is about it */
	bool		yields;			/* it gives way to users who wait */
	uint32		pace_kb;		/* see pacer_begin() */
	int			pid;
	uint32		run;
	TimestampTz started_at;
	uint8		starter;
	int			leader_pid;
	Oid			dboid;
	Oid			relid;

	TimestampTz at;				/* the sample that it was known by */
	RunCounters used;			/* as that told it */
	double		counted[PACER_ENDED];	/* bytes, in all looks */
	int64		dead;			/* rows that it has found in this pass */
	Rates		rates;
	double		removed_rows_s;
	PacerGrant	grant;			/* as it was given last */
} Vacuum;

/* What runs that have ended have moved, as it was at the last look. */
typedef struct Ended
{
	uint64		bytes[PACER_ENDED];
} Ended;

static Vacuum *vacuums;			/* shmem_meter_count() of them */
static Ended *ended;			/* and of these */
static TimestampTz looked_at = 0;
static MeterSlot *slot;			/* too large for the stack, and just one */
static ShareMember *members;
static double *shares;
static int *places;

void
governor_vacuums_begin(void)
{
	int			n = shmem_meter_count();

	vacuums = MemoryContextAllocZero(TopMemoryContext, sizeof(Vacuum) * n);
	ended = MemoryContextAllocZero(TopMemoryContext, sizeof(Ended) * n);
	slot = MemoryContextAllocZero(TopMemoryContext, sizeof(MeterSlot));
	members = MemoryContextAllocZero(TopMemoryContext, sizeof(ShareMember) * n);
	shares = MemoryContextAllocZero(TopMemoryContext, sizeof(double) * n);
	places = MemoryContextAllocZero(TopMemoryContext, sizeof(int) * n);
}

/* The bytes of a run.  The last kind is of those that give way. */
static void
bytes_of(const RunCounters *used, bool yields, double bytes[PACER_ENDED])
{
	bytes[PACER_ENDED_READ] = (double) used->blks_read * BLCKSZ;
	bytes[PACER_ENDED_WRITE] = (double) used->blks_dirtied * BLCKSZ;
	bytes[PACER_ENDED_WAL] = (double) used->wal_bytes;
	bytes[PACER_ENDED_YIELDING] = !yields ? 0 :
		bytes[PACER_ENDED_READ] + bytes[PACER_ENDED_WRITE] + bytes[PACER_ENDED_WAL];
}

/*
 * What was known for a whole sample and has not been counted is given up: the governor
 * has slept.
 */
static void
give_up_uncounted(Vacuum *v)
{
	double		known[PACER_ENDED];

	bytes_of(&v->used, v->yields, known);
	for (int i = 0; i < PACER_ENDED; i++)
		v->counted[i] = Max(v->counted[i], known[i]);
}

/*
 * The rates between two samples, or two looks if that is longer: what a vacuum does in its
 * first moments is not what it does in a step.  Without a new sample they stay as they were.
 */
static void
measure(Vacuum *v, double dt_s)
{
	const MeterSample *last;
	double		s;

	if (slot->nsamples == 0)
		return;
	last = &slot->samples[(slot->nsamples - 1) % METER_WINDOW];
	s = (double) (last->at - v->at) / 1000000.0;
	if (s <= 0)
		return;
	give_up_uncounted(v);
	s = Max(s, dt_s);
	v->rates.read = Max((double) (last->used.blks_read - v->used.blks_read) * BLCKSZ / s, 0);
	v->rates.write = Max((double) (last->used.blks_dirtied - v->used.blks_dirtied) * BLCKSZ / s, 0);
	v->rates.wal = Max(((double) last->used.wal_bytes - (double) v->used.wal_bytes) / s, 0);
	v->rates.total = v->rates.read + v->rates.write + v->rates.wal;
	/* they start anew with each pass over the indexes */
	v->removed_rows_s = 0;
	if (slot->command == RUN_VACUUM)
	{
		int64		dead = slot->params[COMPAT_PROGRESS_DEAD_ROWS];

		v->removed_rows_s = (double) Max(dead - v->dead, 0) / s;
		v->dead = dead;
	}
	v->used = last->used;
	v->at = last->at;
}

static bool
does_yield(const Vacuum *v, PacerYields yields)
{
	return !pacer_is_cheap(yields, &v->used);
}

static bool
is_eligible(const Vacuum *v)
{
	switch (v->starter)
	{
		case RUN_BY_SWEEP:
			return true;
		case RUN_BY_MANUAL:
			return (sweep_steer & STEERED_MANUAL) != 0;
		case RUN_BY_AUTOVACUUM:
			return (sweep_steer & STEERED_AUTOVACUUM) != 0;
		default:
			return false;
	}
}

/* A parallel worker is what its leader is. */
static void
join_leaders(void)
{
	for (int i = 0; i < shmem_meter_count(); i++)
	{
		Vacuum	   *v = &vacuums[i];

		if (!v->here || v->leader_pid == 0)
			continue;
		v->eligible = false;
		for (int j = 0; j < shmem_meter_count(); j++)
		{
			if (vacuums[j].here && vacuums[j].pid == v->leader_pid)
				v->eligible = vacuums[j].eligible;
		}
	}
}

/*
 * Adds what runs have moved that ended since the last look, without what was counted of
 * them.  Of short runs that is all there is: they are over before anybody has looked at
 * them.  Of others it may be negative: the rate of a sample was taken for that of a step.
 */
static void
add_ended(double *bytes, int index)
{
	Vacuum	   *v = &vacuums[index];
	bool		any = false;

	for (int i = 0; i < PACER_ENDED; i++)
	{
		uint64		sum = pg_atomic_read_u64(&sweep_pacers[index].ended[i]);
		double		delta = (double) (sum - ended[index].bytes[i]);

		ended[index].bytes[i] = sum;
		any |= delta > 0;
		bytes[i] += delta;
	}
	if (!any)
		return;
	for (int i = 0; i < PACER_ENDED; i++)
		bytes[i] -= v->counted[i];
	/* it is known once */
	memset(v, 0, sizeof(*v));
}

/* Adds a vacuum that runs, and remembers what is counted of it by that. */
static void
count_running(GovernorVacuums *out, Vacuum *v, double dt_s)
{
	out->running++;
	out->yielding += v->yields;
	if (v->yields && v->pace_kb == PACE_OF_USERS_KB)
		out->pace_of_users = true;
	else if (v->yields)
		out->pace += v->pace_kb * 1024.0;
	out->yielding_used += v->yields ? v->rates.total : 0;
	out->used.read += v->rates.read;
	out->used.write += v->rates.write;
	out->used.wal += v->rates.wal;
	out->removed_rows_s += v->removed_rows_s;
	v->counted[PACER_ENDED_READ] += v->rates.read * dt_s;
	v->counted[PACER_ENDED_WRITE] += v->rates.write * dt_s;
	v->counted[PACER_ENDED_WAL] += v->rates.wal * dt_s;
	v->counted[PACER_ENDED_YIELDING] += v->yields ? v->rates.total * dt_s : 0;
}

/* Of runs that have ended, as rates: in a step one may end, or a few. */
static void
count_ended(GovernorVacuums *out, const double *bytes, double dt_s)
{
	static double rates[PACER_ENDED];

	if (dt_s > 0)
	{
		for (int i = 0; i < PACER_ENDED; i++)
			rates[i] += (bytes[i] / dt_s - rates[i]) * Min(dt_s / ENDED_TAU_S, 1);
	}
	out->used.read = Max(out->used.read + rates[PACER_ENDED_READ], 0);
	out->used.write = Max(out->used.write + rates[PACER_ENDED_WRITE], 0);
	out->used.wal = Max(out->used.wal + rates[PACER_ENDED_WAL], 0);
	out->used.total = out->used.read + out->used.write + out->used.wal;
	out->yielding_used = Max(out->yielding_used + rates[PACER_ENDED_YIELDING], 0);
}

void
governor_vacuums_look(GovernorVacuums *out, TimestampTz now)
{
	double		bytes[PACER_ENDED] = {0};
	double		dt_s = looked_at != 0 ? Max((double) (now - looked_at) / 1000000.0, 0) : 0;

	looked_at = now;
	memset(out, 0, sizeof(*out));
	for (int i = 0; i < shmem_meter_count(); i++)
	{
		Vacuum	   *v = &vacuums[i];
		uint32		run = pg_atomic_read_u32(&sweep_pacers[i].run);

		add_ended(bytes, i);
		v->here = false;
		if ((run & 1) == 0 || !meter_read(i, slot) ||
			pg_atomic_read_u32(&sweep_pacers[i].can) != PACER_CAN ||
			slot->mode == RUN_MODE_FAILSAFE)
			continue;
		if (v->pid != slot->pid || v->run != run || v->started_at != slot->started_at)
		{
			memset(v, 0, sizeof(*v));
			v->pid = slot->pid;
			v->run = run;
			v->started_at = v->at = slot->started_at;
		}
		v->here = true;
		v->starter = slot->starter;
		v->leader_pid = slot->leader_pid;
		v->dboid = slot->dboid;
		v->relid = slot->relid;
		v->eligible = is_eligible(v);
		measure(v, dt_s);
		v->pace_kb = pg_atomic_read_u32(&sweep_pacers[i].pace_kb);
		v->yields = does_yield(v, (PacerYields) pg_atomic_read_u32(&sweep_pacers[i].yields));
		out->all++;
	}
	join_leaders();
	for (int i = 0; i < shmem_meter_count(); i++)
	{
		Vacuum	   *v = &vacuums[i];

		if (v->here && v->eligible)
			count_running(out, v, dt_s);
	}
	count_ended(out, bytes, dt_s);
}

/* ----
 * Grants
 * ----
 */

/* Urgency: how far over its threshold the table is, for our own. */
static double
weight_of(const Vacuum *v)
{
	double		weight = 1;

	if (v->starter != RUN_BY_SWEEP || v->relid == InvalidOid)
		return weight;
	LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_SHARED);
	for (int i = 0; i < sweep_shared->queue_count; i++)
	{
		const QueueEntry *e = &sweep_shared->queue[i];

		if (e->key.relid == v->relid && (e->key.dboid == v->dboid || e->key.dboid == InvalidOid))
			weight = e->score;
	}
	LWLockRelease(shmem_lock(LOCK_QUEUE));
	return Min(Max(weight, 1), WEIGHT_MAX);
}

static double
demand_of(double used, double share)
{
	if (share <= 0 || used >= share * USES_ITS_SHARE)
		return -1;
	return Max(used * DEMAND_GROWTH, LEAST_DEMAND);
}

/* One of the rates: offset tells which. */
static double *
rate_at(Rates *rates, size_t offset)
{
	return (double *) ((char *) rates + offset);
}

/*
 * Divides one rate among the first n of `places`.  How much of a processor each
 * of them uses nobody tells.
 */
static void
divide(double all, int n, size_t offset)
{
	for (int i = 0; i < n; i++)
	{
		Vacuum	   *v = &vacuums[places[i]];

		members[i].weight = weight_of(v);
		members[i].demand = offset == offsetof(Rates, cpu) ? -1 :
			demand_of(*rate_at(&v->rates, offset), *rate_at(&v->grant.share, offset));
	}
	share_divide(all, members, n, shares);
	for (int i = 0; i < n; i++)
		*rate_at(&vacuums[places[i]].grant.share, offset) = shares[i];
}

/* Collects those that are paced into `places`: all, or those that give way. */
static int
collect(bool yielding_only)
{
	int			n = 0;

	for (int i = 0; i < shmem_meter_count(); i++)
	{
		if (vacuums[i].here && vacuums[i].grant.paced && (vacuums[i].yields || !yielding_only))
			places[n++] = i;
	}
	return n;
}

static bool
limits_anything(const Rates *r)
{
	return r->read > 0 || r->write > 0 || r->wal > 0 || r->total > 0 || r->cpu > 0;
}

void
governor_vacuums_grant(const ThrottleResult *result, bool binds, bool paces_own)
{
	const Rates *allowed = &result->allowed;
	bool		limited = limits_anything(allowed);
	int			n;

	for (int i = 0; i < shmem_meter_count(); i++)
	{
		Vacuum	   *v = &vacuums[i];

		if (!v->here)
			continue;
		v->grant.run = v->run;
		v->grant.paced = binds && v->eligible && (limited || (paces_own && v->starter == RUN_BY_SWEEP));
		if (!v->grant.paced)
			memset(&v->grant.share, 0, sizeof(v->grant.share));
	}

	/*
	 * What has been set is for all vacuums.  What users leave is only for
	 * those that yield.
	 */
	n = collect(false);
	divide(allowed->read, n, offsetof(Rates, read));
	divide(allowed->write, n, offsetof(Rates, write));
	divide(allowed->wal, n, offsetof(Rates, wal));
	divide(allowed->cpu, n, offsetof(Rates, cpu));
	divide(result->set_total, n, offsetof(Rates, total));
	if (allowed->total != result->set_total)
		divide(allowed->total, collect(true), offsetof(Rates, total));

	for (int i = 0; i < shmem_meter_count(); i++)
	{
		/* a process cannot use more than one */
		if (vacuums[i].grant.share.cpu >= 100 * RATES_CPU_PCT)
			vacuums[i].grant.share.cpu = 0;
		if (vacuums[i].here)
			budget_grant(i, &vacuums[i].grant);
	}
}

/* ----
 * Steering that is over
 * ----
 */

static bool
is_over(const Steer *steer, int index, TimestampTz now)
{
	const Vacuum *v = &vacuums[index];

	if (steer->run != pg_atomic_read_u32(&sweep_pacers[index].run))
		return true;
	if (steer->until != 0 && now >= steer->until)
		return true;
	if (steer->by_pid != 0 && BackendPidGetProc(steer->by_pid) == NULL)
		return true;
	/* a pause: does somebody wait for the table? */
	return steer->until != 0 && v->here && v->relid != InvalidOid &&
		lock_waiter_first(v->dboid, v->relid) != 0;
}

void
governor_vacuums_unsteer(TimestampTz now)
{
	Steer		steer;

	for (int i = 0; i < shmem_meter_count(); i++)
	{
		Steer		none = {STEER_NONE};

		if (!budget_read_steer(i, &steer) || steer.mode == STEER_NONE || !is_over(&steer, i, now))
			continue;
		LWLockAcquire(shmem_lock(LOCK_STEER), LW_EXCLUSIVE);
		/* unless it was asked for anew meanwhile */
		if (memcmp(&sweep_pacers[i].steer, &steer, sizeof(steer)) == 0)
			budget_set_steer(i, &none);
		LWLockRelease(shmem_lock(LOCK_STEER));
	}
}
