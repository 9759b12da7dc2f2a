/*
 * pacer.c
 *		What makes this process's vacuum keep its share of the budget.
 *
 * Runs in the process that vacuums.  pacer_tick() is called from the meter's
 * tick, a signal handler.  It reads shared memory under change counts and
 * computes (policy/cost_delay).  It stores the result into the server's cost
 * variables and this process's PacerSlot.  It takes no locks, allocates
 * nothing and reports no error.  Mainline code that touches the same sets
 * meter_slot_busy, so that the tick does nothing meanwhile.
 *
 * What is stored where depends on the server.  In 15 the cost variables are
 * the settings themselves.  So they must be put back before anybody can SHOW
 * them or start another VACUUM.  From 16 on they are copies, which VACUUM
 * takes from the settings when it begins.  A core worker takes them again and
 * again.  There only the delay stays, for as long as a nap takes.
 */
#include "meter/pacer.h"

#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/timestamp.h"

#include "meter/meter_process.h"
#include "meter/wraparound.h"
#include "policy/cost_delay.h"
#include "policy/throttle_wal.h"
#include "server/clock.h"
#include "server/compat.h"
#include "shmem.h"

/* A tick that came much later says nothing: the clock was moved, or we slept. */
#define LONGEST_TICK_MS		10000.0

/* bytes/s, until there is a grant: a moment */
#define UNGRANTED_RATE		(4 * RATES_MB)
/* a worker's next run begins with the rate of its last one for so long */
#define CARRIED_US			USECS_PER_SEC
/* so long the governor may take for seeing that a run is not in memory */
#define UNSEEN_US			USECS_PER_SEC

/* A vacuum that reads, or logs in full, more than so much of what it looks at is not cheap. */
#define COLD_SHARE			0.05
#define COLD_PAGES			16	/* those of catalogs and of the map */

/* of vacuum_cost_delay */
#define MAX_COST_DELAY_MS	100

/* a full page of an index takes no longer, of a processor */
#define MOST_CPU_MS			0.1

typedef enum PacerMode
{
	PACER_FREE,					/* the costs are the server's */
	PACER_PACE,
	PACER_HURRY
} PacerMode;

typedef struct Wanted
{
	PacerMode	mode;
	Rates		target;
	bool		slowed;			/* by sweep.slow() */
	BudgetLimit binding;		/* what stands behind a limit on the total */
} Wanted;

typedef struct Pacer
{
	volatile bool running;
	volatile bool failsafe;
	PacerKind	kind;
	bool		keeps_costs;
	PacerYields yields;
	bool		granted;		/* the governor has seen this run */
	PacerSlot  *slot;
	int			index;
	int			leader;			/* the index of a parallel worker's leader,
								 * our own if we are none (-1: it has gone) */
	uint32		run;
	CostDelayState cost_delay;

	/* what this process was last granted, in this run or one before */
	double		carried;		/* bytes/s of all kinds (0: nothing) */
	TimestampTz carried_at;

	TimestampTz began_at;
	RunCounters began;			/* what was used until then */

	/* at the last tick */
	TimestampTz at;
	RunCounters used;
	double		cpu_ms;
	Rates		moved;			/* bytes, in this run */
	RunCounters ended;			/* by parallel workers of ours, so far */
	RunCounters inherit;		/* of that, what we are to be told yet */
	BudgetHead	head;

	/* while it steers */
	bool		steers;
	bool		seen_active;	/* VacuumCostActive was on in this run */
	bool		activated;		/* by us */
	int			limit;			/* as we set them */
	double		delay;
	int			original_limit;
	double		original_delay;
} Pacer;

static Pacer pacer;
static PacerApplied applied;

static bool
is_failsafe(void)
{
	return pacer.failsafe || compat_failsafe_active();
}

/* ms of sleep per credit that the costs in force ask for */
static double
sleep_in_force(void)
{
	return VacuumCostActive && compat_cost_limit() > 0 ?
		compat_cost_delay() / compat_cost_limit() : 0;
}

/* ----
 * What it has done
 * ----
 */

/*
 * What parallel workers did has been paced there.  It comes to our own
 * counters all at once, some time after they have told our slot.
 */
static void
leave_out_workers(RunCounters *since)
{
	RunCounters now;
	RunCounters more;

	for (int i = 0; i < RUN_COUNTERS; i++)
		((int64 *) &now)[i] = (int64) pg_atomic_read_u64(&meter_slot->ended_workers[i]);
	more = now;
	if (now.blks_hit + now.blks_read >= pacer.ended.blks_hit + pacer.ended.blks_read)
		run_counters_subtract(&more, &pacer.ended);
	pacer.ended = now;
	run_counters_add(&pacer.inherit, &more);
	if (pacer.inherit.blks_hit + pacer.inherit.blks_read == 0 ||
		since->blks_hit < pacer.inherit.blks_hit || since->blks_read < pacer.inherit.blks_read ||
		since->blks_dirtied < pacer.inherit.blks_dirtied || since->wal_bytes < pacer.inherit.wal_bytes)
		return;
	run_counters_subtract(since, &pacer.inherit);
	memset(&pacer.inherit, 0, sizeof(pacer.inherit));
}

/* False when nothing can be said of this tick. */
static bool
measure(TimestampTz now, CostDelayTick *tick)
{
	RunCounters used;
	RunCounters since;
	RunCosts	costs;
	double		before_ms = pacer.cpu_ms;
	double		cpu_ms = clock_cpu_ms();

	memset(tick, 0, sizeof(*tick));
	tick->dt_ms = (double) (now - pacer.at) / 1000.0;
	meter_read_usage(&used);
	since = used;
	run_counters_subtract(&since, &pacer.used);
	leave_out_workers(&since);
	pacer.at = now;
	pacer.used = used;
	pacer.cpu_ms = cpu_ms;
	if (tick->dt_ms <= 0 || tick->dt_ms > LONGEST_TICK_MS)
		return false;

	meter_read_costs(&costs);
	tick->credits = (double) run_cost(&since, &costs);
	tick->used.read = (double) since.blks_read * BLCKSZ;
	tick->used.write = (double) since.blks_dirtied * BLCKSZ;
	tick->used.wal = (double) since.wal_bytes;
	tick->used.cpu = Max(cpu_ms - before_ms, 0);
	pacer.moved.read += tick->used.read;
	pacer.moved.write += tick->used.write;
	pacer.moved.wal += tick->used.wal;
	return true;
}

/* ----
 * What it should do
 * ----
 */

static double
lesser(double a, double b)
{
	if (a <= 0)
		return b;
	return b <= 0 ? a : Min(a, b);
}

static void
want_slow(Wanted *wanted, const Rates *limit)
{
	Rates	   *t = &wanted->target;

	wanted->mode = PACER_PACE;
	wanted->slowed = (limit->read > 0 && limit->read == lesser(limit->read, t->read)) ||
		(limit->write > 0 && limit->write == lesser(limit->write, t->write)) ||
		(limit->total > 0 && limit->total == lesser(limit->total, t->total));
	t->read = lesser(t->read, limit->read);
	t->write = lesser(t->write, limit->write);
	t->total = lesser(t->total, limit->total);
}

/*
 * A parallel worker begins with all that its leader is granted.  The governor
 * sees the worker within a few hundredths of a second.  In that time an index
 * that is in memory would be done.
 */
static bool
leaders_grant(PacerGrant *grant)
{
	return pacer.kind == PACER_PARALLEL && !pacer.granted && pacer.leader >= 0 &&
		budget_read_grant(pacer.leader, grant) && grant->paced &&
		grant->run == pg_atomic_read_u32(&sweep_pacers[pacer.leader].run);
}

/*
 * Is this vacuum steered by somebody?  A parallel one is so as a whole: each of
 * its processes has the same part of the rate, whenever it began.
 */
static bool
is_steered(Steer *steer, TimestampTz now)
{
	PacerSlot  *slot;
	double		processes;

	if (pacer.leader < 0 || !budget_read_steer(pacer.leader, steer))
		return false;
	slot = &sweep_pacers[pacer.leader];
	if (steer->mode == STEER_NONE || steer->run != pg_atomic_read_u32(&slot->run) ||
		(steer->until != 0 && now >= steer->until))
		return false;
	processes = 1.0 + pg_atomic_read_u32(&slot->parallel_workers);
	steer->limit.read /= processes;
	steer->limit.write /= processes;
	steer->limit.total /= processes;
	return true;
}

/* Slow until the governor has seen it?  It will, between two ticks. */
static bool
awaits_grant(const PacerGrant *grant)
{
	switch (pacer.kind)
	{
		case PACER_OWN:
			return (pacer.head.adaptive || pacer.head.limited) && !pacer.keeps_costs && grant->run != pacer.run;
		case PACER_STATEMENT:
			return grant->run != pacer.run && (sweep_steer & STEERED_MANUAL) != 0 && pacer.head.limited;
		default:
			return false;
	}
}

bool
pacer_is_cheap(PacerYields yields, const RunCounters *used)
{
	double		few = COLD_PAGES + COLD_SHARE * (double) used->blks_hit;

	switch (yields)
	{
		case PACER_YIELDS_NOT:
			return true;
		case PACER_YIELDS_READING:
			return used->blks_read <= few;
		case PACER_YIELDS_COLD:
			return used->blks_read <= few && used->wal_fpi <= few;
		default:
			return false;
	}
}

/*
 * Short runs follow each other.  They would be over before the governor has
 * seen half of each, and a rate that nobody uses does not grow.  So a run
 * goes on where the last one of its worker ended.  Meanwhile another vacuum
 * may have got that share, so this is for what users leave only.  A limit
 * that has been set is kept by all of them together.
 */
static void
carry(const PacerGrant *grant, TimestampTz now)
{
	if (pacer.kind != PACER_OWN || grant->share.total <= 0)
		return;
	pacer.carried = grant->share.total;
	pacer.carried_at = now;
}

static double
ungranted_rate(TimestampTz now)
{
	if (pacer.kind != PACER_OWN || pacer.head.limited ||
		now < pacer.carried_at || now - pacer.carried_at > CARRIED_US)
		return UNGRANTED_RATE;
	return Max(pacer.carried, UNGRANTED_RATE);
}

/* The governor goes by the same, but looks at samples. */
static bool
does_yield(void)
{
	RunCounters used;

	meter_read_usage(&used);
	run_counters_subtract(&used, &pacer.began);
	return !pacer_is_cheap(pacer.yields, &used);
}

/*
 * With no vacuum to look at the governor sleeps, and its last budget is too old.
 * It has been woken at the run's beginning, but until the next tick a vacuum
 * could fill a slow disk's queue for a second.
 */
static bool
awaits_governor(TimestampTz now)
{
	return pacer.kind == PACER_OWN && !pacer.keeps_costs && now - pacer.began_at < UNSEEN_US &&
		(pacer.head.limited || (sweep_adaptive && does_yield()));
}

static Wanted
find_wanted(TimestampTz now)
{
	Wanted		wanted = {PACER_FREE};
	BudgetHead	head;
	PacerGrant	grant = {0};
	Steer		steer;

	if (pg_atomic_read_u32(&sweep_shared->metering) == 0 ||
		pg_atomic_read_u32(&pacer.slot->can) != PACER_CAN)
		return wanted;
	if (budget_read_head(&head))
		pacer.head = head;		/* else it goes stale by itself */
	if (now - pacer.head.at > BUDGET_STALE_US || pacer.head.at - now > BUDGET_STALE_US)
	{
		if (awaits_governor(now))
		{
			wanted.mode = PACER_PACE;
			wanted.target.total = ungranted_rate(now);
		}
		return wanted;
	}
	wanted.binding = pacer.head.binding;

	if (pacer.head.binds && budget_read_grant(pacer.index, &grant) &&
		grant.paced && grant.run == pacer.run)
	{
		wanted.mode = PACER_PACE;
		wanted.target = grant.share;
		pacer.granted = true;
		carry(&grant, now);
	}
	else if (pacer.head.binds && leaders_grant(&grant))
	{
		wanted.mode = PACER_PACE;
		wanted.target = grant.share;
	}
	else if (pacer.head.binds && awaits_grant(&grant))
	{
		wanted.mode = PACER_PACE;
		if (does_yield() || pacer.head.limited)
			wanted.target.total = ungranted_rate(now);
	}
	if (wanted.mode == PACER_PACE && wanted.target.total <= 0 && pacer.head.adaptive &&
		pacer.yields != PACER_YIELDS && now - pacer.began_at < UNSEEN_US && does_yield())
		wanted.target.total = ungranted_rate(now);
	if (is_steered(&steer, now))
	{
		if (steer.mode == STEER_HURRY)
			wanted.mode = PACER_HURRY;
		else
			want_slow(&wanted, &steer.limit);
	}
	return wanted;
}

/* ----
 * Steering
 * ----
 */

/*
 * The variables are the server's again.  With at_end, so is whether it naps
 * at all.
 */
static void
restore(bool at_end)
{
	if (!pacer.steers)
		return;
	if (compat_cost_delay() == pacer.delay)
		compat_cost_delay() = pacer.original_delay;
	if (pacer.kind != PACER_CORE && compat_cost_limit() == pacer.limit)
		compat_cost_limit() = pacer.original_limit;
	if (pacer.activated && VacuumCostActive)
	{
		/* a core worker's ANALYZE may follow, with the same costs */
		VacuumCostActive = (!at_end || pacer.kind == PACER_CORE) && pacer.original_delay > 0 && !is_failsafe();
		VacuumCostBalance = 0;
		/* else our own change would be taken for VACUUM's */
		pacer.seen_active = VacuumCostActive;
	}
	pacer.steers = pacer.activated = false;
	pg_atomic_write_u32(&pacer.slot->original_limit, 0);
}

/*
 * Takes over, or keeps what others have set meanwhile (a core worker after a
 * reload, VACUUM when it begins) as what is to be restored.
 */
static void
take_over(void)
{
	if (!pacer.steers || compat_cost_delay() != pacer.delay)
		pacer.original_delay = compat_cost_delay();
	if (!pacer.steers || compat_cost_limit() != pacer.limit)
		pacer.original_limit = compat_cost_limit();
	pacer.steers = true;
	pg_atomic_write_u32(&pacer.slot->original_delay, (uint32) (pacer.original_delay * 1000));
	pg_atomic_write_u32(&pacer.slot->original_limit, (uint32) pacer.original_limit);
}

/*
 * In 15 a parallel worker's settings are copies of its leader's, which may be
 * those of the leader's pacer.
 */
static void
take_originals_of_leader(void)
{
	PacerSlot  *slot = &sweep_pacers[pacer.leader];
	uint32		limit = pg_atomic_read_u32(&slot->original_limit);

	if (!COMPAT_COSTS_ARE_SETTINGS || limit == 0)
		return;
	compat_cost_limit() = (int) limit;
	compat_cost_delay() = pg_atomic_read_u32(&slot->original_delay) / 1000.0;
}

/*
 * False when VACUUM has switched naps off itself: only the failsafe does.
 * Before 16 it does not say so, but what was on and is off has been switched
 * off.
 */
static bool
may_activate(void)
{
	if (is_failsafe())
		return false;
	if (VacuumCostActive)
		pacer.seen_active = true;
	else if (pacer.seen_active && !COMPAT_FAILSAFE_IS_TOLD)
		return false;
	return true;
}

static void
apply(const CostDelayResult *result)
{
	pacer.delay = result->delay_ms;
	pacer.limit = pacer.kind == PACER_CORE ? compat_cost_limit() : result->limit;
	compat_cost_delay() = pacer.delay;
	compat_cost_limit() = pacer.limit;
	/* only a nap clears it, and it is an int: a large table would overflow it */
	if (pacer.delay <= 0)
		VacuumCostBalance = 0;
	if (!VacuumCostActive && pacer.delay > 0)
	{
		VacuumCostBalance = 0;
		VacuumCostActive = true;
		pacer.activated = pacer.seen_active = true;
	}
}

static void
publish(const Wanted *wanted, const CostDelayResult *result)
{
	memset(&applied, 0, sizeof(applied));
	if (pacer.steers)
	{
		applied.by_steer = wanted->slowed || wanted->mode == PACER_HURRY;
		applied.limited_by = result->limited_by == LIMIT_COUNT ||
			(result->limited_by == LIMIT_WAL && throttle_wal_is_danger(wanted->binding)) ?
			wanted->binding : result->limited_by;
		applied.limited = result->limited_by != LIMIT_NONE;
	}
	budget_set_applied(pacer.index, &applied);
}

/* A parallel worker learns only here that its vacuum is not to be slowed. */
static void
look_at_flags(void)
{
	uint8		flags = MyProc->statusFlags;

	if (pacer.kind == PACER_PARALLEL && MyProc->lockGroupLeader != NULL)
		flags |= MyProc->lockGroupLeader->statusFlags;
	if ((flags & PROC_VACUUM_FOR_WRAPAROUND) != 0)
		pg_atomic_write_u32(&pacer.slot->can, PACER_WRAPAROUND);
	if (pg_atomic_read_u32(&pacer.slot->can) == PACER_CAN && !may_activate())
	{
		pacer.failsafe = true;
		pg_atomic_write_u32(&pacer.slot->can, PACER_FAILSAFE);
	}
}

void
pacer_tick(TimestampTz now, int interval_ms)
{
	Wanted		wanted;
	CostDelayTick tick;
	CostDelayMeans means = {0};
	CostDelayResult result = {0};
	RunCosts	costs;

	if (!pacer.running)
		return;
	look_at_flags();
	if (!pacer.steers)
		cost_delay_unpaced(&pacer.cost_delay, sleep_in_force());
	wanted = find_wanted(now);
	if (wanted.mode == PACER_FREE)
		restore(false);
	else
		take_over();

	if (!measure(now, &tick))
		return;
	meter_read_costs(&costs);
	/* a parallel worker of 15 refuses a longer nap than a setting may ask for */
	means.tick_ms = COMPAT_COSTS_ARE_SETTINGS ? Min(interval_ms, 4 * MAX_COST_DELAY_MS) : interval_ms;
	means.page = costs.page_hit + costs.page_miss + costs.page_dirty;
	means.most.read = (double) BLCKSZ / Max(costs.page_miss, 1);
	means.most.write = means.most.wal = (double) BLCKSZ / Max(costs.page_dirty, 1);
	means.most.cpu = MOST_CPU_MS / Max(costs.page_hit, 1);
	if (pacer.kind == PACER_CORE)
		means.fixed_limit = Max(compat_cost_limit(), 1);
	if (pacer.keeps_costs && pacer.steers && pacer.original_limit > 0)
		means.least_sleep = pacer.original_delay / pacer.original_limit;

	cost_delay_step(&pacer.cost_delay, &wanted.target, &tick, &means, &result);
	if (wanted.mode == PACER_HURRY)
	{
		result.limit = pacer.original_limit;
		result.delay_ms = 0;
		result.limited_by = LIMIT_NONE;
		cost_delay_forgive(&pacer.cost_delay);
	}
	if (wanted.mode != PACER_FREE)
		apply(&result);
	if (wanted.mode != PACER_PACE)
		cost_delay_unpaced(&pacer.cost_delay, sleep_in_force());
	publish(&wanted, &result);
}

void
pacer_forget_used(void)
{
	meter_read_usage(&pacer.used);
}

/* ----
 * Begin and end of a run
 * ----
 */

bool
pacer_steers(void)
{
	return pacer.steers;
}

bool
pacer_awaits_grant(TimestampTz now)
{
	return pacer.running && pacer.kind == PACER_OWN && !pacer.keeps_costs && !pacer.granted &&
		sweep_adaptive && now - pacer.began_at < UNSEEN_US;
}

/*
 * A nap that a tick cuts short makes a vacuum faster than its costs say.  So
 * long naps have slow ticks, but not where the pacer chooses the naps.
 */
double
pacer_delay_expected(double cost_delay)
{
	BudgetHead	head;

	if (!pacer.running || pacer.kind != PACER_OWN || pacer.keeps_costs ||
		!budget_read_head(&head) || !head.binds)
		return cost_delay;
	return head.adaptive || head.limited ? 0 : cost_delay;
}

void
pacer_failsafe(void)
{
	pacer.failsafe = true;
}

static void
join_leader(void)
{
	const PGPROC *leader = MyProc->lockGroupLeader;

	pacer.leader = leader != NULL ? compat_proc_backend_index(leader) : -1;
	if (pacer.leader < 0 || pacer.leader >= shmem_meter_count())
	{
		pacer.leader = -1;
		return;
	}
	pg_atomic_fetch_add_u32(&sweep_pacers[pacer.leader].parallel_workers, 1);
	take_originals_of_leader();
}

void
pacer_begin(PacerKind kind, PacerCan can, PacerYields yields, double pace, bool keeps_costs)
{
	PacerSlot  *slot = &sweep_pacers[compat_backend_index()];

	pacer_end();
	meter_slot_busy = 1;
	pacer.kind = kind;
	pacer.keeps_costs = keeps_costs;
	pacer.yields = yields;
	pacer.index = pacer.leader = compat_backend_index();
	pacer.slot = slot;
	if (kind == PACER_PARALLEL)
		join_leader();
	pacer.failsafe = pacer.seen_active = pacer.granted = false;
	cost_delay_begin(&pacer.cost_delay);
	pacer.began_at = pacer.at = GetCurrentTimestamp();
	meter_read_usage(&pacer.used);
	pacer.cpu_ms = clock_cpu_ms();
	pacer.began = pacer.used;
	memset(&pacer.moved, 0, sizeof(pacer.moved));
	memset(&pacer.ended, 0, sizeof(pacer.ended));
	memset(&pacer.inherit, 0, sizeof(pacer.inherit));
	memset(&pacer.head, 0, sizeof(pacer.head));
	if (kind == PACER_CORE && !COMPAT_CORE_CAN_BE_STEERED)
		can = PACER_CANNOT_CORE;
	pg_atomic_write_u32(&slot->can, can);
	pg_atomic_write_u32(&slot->yields, yields);
	pg_atomic_write_u32(&slot->pace_kb, pace == PACE_OF_USERS ? PACE_OF_USERS_KB :
						(uint32) Min(pace / 1024, PACE_OF_USERS_KB - 1.0));
	pg_write_barrier();
	pacer.run = (pg_atomic_read_u32(&slot->run) + 1) | 1;
	pg_atomic_write_u32(&slot->run, pacer.run);
	pacer.running = true;
	meter_slot_busy = 0;
	shmem_wake_governor();
}

static void
add_ended(int which, double bytes)
{
	pg_atomic_uint64 *sum = &pacer.slot->ended[which];

	/* it has one writer */
	pg_atomic_write_u64(sum, pg_atomic_read_u64(sum) + (uint64) bytes);
}

/*
 * What was not seen at a tick is told at the end.  A short run has no other
 * way to tell it.
 */
static void
tell_moved(void)
{
	CostDelayTick last;
	const Rates *moved = &pacer.moved;

	(void) measure(GetCurrentTimestamp(), &last);
	if (pacer.kind != PACER_OWN || pg_atomic_read_u32(&pacer.slot->can) != PACER_CAN)
		return;
	add_ended(PACER_ENDED_READ, moved->read);
	add_ended(PACER_ENDED_WRITE, moved->write);
	add_ended(PACER_ENDED_WAL, moved->wal);
	if (does_yield())
		add_ended(PACER_ENDED_YIELDING, moved->read + moved->write + moved->wal);
}

void
pacer_end(void)
{
	static const PacerApplied nothing;
	PacerGrant	grant;

	if (!pacer.running)
		return;
	meter_slot_busy = 1;
	/* the last tick of a short run may not have seen it */
	if (budget_read_grant(pacer.index, &grant) && grant.paced && grant.run == pacer.run)
		carry(&grant, GetCurrentTimestamp());
	tell_moved();
	restore(true);
	pacer.running = false;
	if (pacer.kind == PACER_PARALLEL && pacer.leader >= 0)
		pg_atomic_fetch_sub_u32(&sweep_pacers[pacer.leader].parallel_workers, 1);
	pg_atomic_write_u32(&pacer.slot->run, pacer.run + 1);
	budget_set_applied(pacer.index, &nothing);
	meter_slot_busy = 0;
}

PacerCan
pacer_can(const VacuumStmt *stmt, bool full)
{
	if (full)
		return PACER_CANNOT_REWRITE;
	return wraparound_is_near(stmt) ? PACER_WRAPAROUND : PACER_CAN;
}
