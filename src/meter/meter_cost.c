/*
 * meter_cost.c
 *		What vacuums spend of the cost limit: their naps, and whose part is
 *		whose.
 *
 * Runs in the process that vacuums, from its tick too, or with meter_slot_busy
 * set.  It reads this process's own variables and adds to one shared counter.
 * There are no locks.
 */
#include "meter/meter.h"

#include "commands/vacuum.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "utils/timestamp.h"

#include "meter/meter_process.h"
#include "server/compat.h"
#include "shmem.h"

/*
 * How the rate at which core's workers spend is measured.  It is looked at
 * every CORE_SAMPLE_S, smoothed over CORE_SMOOTH_S, and forgotten after
 * CORE_FORGOTTEN_S.
 */
#define CORE_SAMPLE_S		0.1
#define CORE_FORGOTTEN_S	10.0
#define CORE_SMOOTH_S		2.0

/* What our workers have of the cost limit, however busy core's are. */
#define LEAST_SHARE			0.05

void
meter_read_costs(RunCosts *costs)
{
	costs->page_hit = VacuumCostPageHit;
	costs->page_miss = VacuumCostPageMiss;
	costs->page_dirty = VacuumCostPageDirty;
	costs->limit = VacuumCostActive ? compat_cost_limit() : 0;
	costs->delay = VacuumCostActive ? compat_cost_delay() : 0;
}

/*
 * What do the server's settings allow a second, to all its workers together?
 * 0 if there is no limit.
 */
static double
credits_allowed(int limit)
{
	double		delay = autovacuum_vac_cost_delay >= 0 ? autovacuum_vac_cost_delay : VacuumCostDelay;

	return delay > 0 ? limit * 1000.0 / delay : 0;
}

/*
 * Is this one of core's workers that share the limit?  One whose table has
 * costs of its own does not share it, and may spend more.
 */
static bool
spends_the_limit(const RunCosts *costs)
{
	int			limit = autovacuum_vac_cost_limit > 0 ? autovacuum_vac_cost_limit : VacuumCostLimit;

	return meter_this.kind == PROCESS_AUTOVACUUM && costs->delay > 0 &&
		costs->limit * 1000.0 / costs->delay <= credits_allowed(limit) * 1.01;
}

/*
 * Adds the naps since the last time.  From the tick, or with meter_slot_busy
 * set.
 */
void
meter_count_naps(const RunCosts *costs)
{
	MeterNaps  *naps = &meter_this.naps;
	int64		hit = pgBufferUsage.shared_blks_hit + pgBufferUsage.local_blks_hit;
	int64		read = pgBufferUsage.shared_blks_read + pgBufferUsage.local_blks_read;
	int64		dirtied = pgBufferUsage.shared_blks_dirtied;
	int64		spent = (hit - naps->hit) * costs->page_hit + (read - naps->read) * costs->page_miss +
		(dirtied - naps->dirtied) * costs->page_dirty;

	if (VacuumSharedCostBalance != NULL)
		naps->unknown = true;
	/* a nap is four delays at most, whatever a page costs */
	if (costs->limit > 0 &&
		costs->limit * 4 < costs->page_hit + costs->page_miss + costs->page_dirty)
		naps->unknown = true;
	if (costs->limit > 0)
	{
		naps->ms += (double) spent * costs->delay / costs->limit;
		if (spends_the_limit(costs))
			pg_atomic_fetch_add_u64(&sweep_shared->core_spent, spent);
	}
	naps->hit = hit;
	naps->read = read;
	naps->dirtied = dirtied;
}

void
meter_forget_naps(void)
{
	RunCosts	costs;

	meter_read_costs(&costs);
	meter_count_naps(&costs);
	meter_this.naps.ms = 0;
	/* a command begins with none, whatever the last one has left */
	meter_this.naps.balance = VacuumCostActive ? VacuumCostBalance : 0;
	meter_this.naps.unknown = false;
}

/*
 * How many credits a second do core's workers spend now?  While they are
 * there but that is not known yet, it is all that they may spend.
 */
static double
core_spends(double allowed, TimestampTz now)
{
	static TimestampTz at = 0;
	static uint64 spent;
	static double per_s;
	uint64		spent_now = pg_atomic_read_u64(&sweep_shared->core_spent);
	double		s = (double) (now - at) / 1000000.0;

	if (pg_atomic_read_u32(&sweep_shared->core_vacuuming) == 0)
	{
		at = 0;
		return 0;
	}
	if (at == 0 || s < 0 || s > CORE_FORGOTTEN_S)
		per_s = allowed;
	else if (s >= CORE_SAMPLE_S)
		per_s += Min(s / CORE_SMOOTH_S, 1.0) * ((double) (spent_now - spent) / s - per_s);
	else
		return per_s;
	at = now;
	spent = spent_now;
	return per_s;
}

/*
 * Core's workers divide the limit among themselves only.  So ours divide what
 * those leave of it.
 */
int
meter_own_limit(int shared_limit)
{
	int			workers = (int) pg_atomic_read_u32(&sweep_shared->vacuuming);
	double		allowed = credits_allowed(shared_limit);
	double		left = 1;

	if (allowed > 0)
		left = 1 - core_spends(allowed, GetCurrentTimestamp()) / allowed;
	return Max((int) (Max(left, LEAST_SHARE) * shared_limit / Max(workers, 1)), 1);
}
