/*
 * governor.c
 *		The process that finds out what vacuums may use.
 *
 * It is one static background worker without a database.  It reads shared
 * memory and what the system tells, and decides (policy/throttle).  Then it
 * publishes the Budget and divides it among the vacuums that run
 * (policy/share).  It takes four steps a second while a vacuum runs or while
 * it listens to users whom it does not know, else one, or two where other
 * servers might disturb its users.  A vacuum that begins wakes it, and users
 * who wait too long bring the next step forward.  When it is gone its budget
 * is stale within two seconds, and every vacuum is as fast as without
 * pg_sweep.  Between the steps it looks whether users wait for an own vacuum
 * (give_way).
 *
 * Locks: It takes LOCK_STEER briefly.  While a vacuum is paused, it also
 * takes those of the lock table.  It waits for its latch only.
 */
#include "governor/governor.h"

#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "governor/give_way.h"
#include "server/bgworker.h"
#include "server/breaker.h"
#include "server/clock.h"
#include "settings.h"
#include "shmem.h"
#include "state/worker_claims.h"

#define PACE_TIMES		2.0		/* see PACE_OF_USERS */
#define STEP_MS				250 /* while a vacuum runs */
#define IDLE_MS				1000
#define HOST_IDLE_MS		500 /* the same with users, and servers that might
								 * disturb them */
#define WOKEN_MS			50	/* between two steps, whoever wakes it */
#define USERS_MS			10	/* between two looks at who waits */
#define HOST_MS				50	/* between two looks for cuts that others tell */
#define ERROR_MS			5000	/* after a step that failed */
#define URGENCY_TAU_S		5.0 /* what is told of it is an average over so
								 * long */

static ThrottleState throttle;
static ThrottleResult last_result;
static TimestampTz last_step = 0;
static bool has_neighbours = false; /* servers of its user, on the device */
static uint64 steps = 0;

static void
publish_step(const GovernorVacuums *vacuums, const ThrottleReading *reading,
			 const ThrottleResult *result, TimestampTz now)
{
	GovernorStep step = {{0}};
	const char *reason = throttle_reason_text(result->reason);

	step.number = ++steps;
	step.at = now;
	step.vacuums = vacuums->running;
	step.measured = vacuums->used;
	step.cpu_pct = reading->cpu == SENSOR_OK ? reading->cpu_pct : -1;
	step.users_waiting = reading->users == SENSOR_OK ? reading->waiting : -1;
	step.allowed = result->allowed;
	step.floor = result->floor;
	step.binding = result->binding;
	step.decision = result->decision;
	if (result->reason_limit > 0)
	{
		double		scale = budget_limits[result->binding].scale;

		snprintf(step.reason, sizeof(step.reason), "%s: %.3g of %.3g %s", reason,
				 result->reason_measured / scale, result->reason_limit / scale,
				 budget_limits[result->binding].unit);
	}
	else
		strlcpy(step.reason, reason, sizeof(step.reason));
	budget_publish_step(&step);
}

/* Is that step worth a place among the last ones? */
static bool
is_news(const ThrottleResult *result, const GovernorVacuums *vacuums)
{
	return vacuums->all > 0 || result->decision != last_result.decision ||
		result->binding != last_result.binding || steps == 0;
}

/*
 * Of what waits, and of what is vacuumed now, which no queue has any more.  The queue
 * changes with each round and each vacuum.  Shares that jump with it would be rates that
 * jump.
 */
static double
smooth_urgency(const HostOwn *before, double dt_s)
{
	/* so that one that stays urgent has its full share soon */
	double		now = Min(Max(governor_limits_worst_ratio(), worker_claims_worst_ratio()),
						  2 * HOST_URGENCY_MOST);

	if (before->vacuums == 0)
		return now;
	return before->urgency + (now - before->urgency) * Min(1, Max(0, dt_s) / URGENCY_TAU_S);
}

/* What this server tells others of its machine. */
static void
describe_to_host(HostOwn *own, const GovernorVacuums *vacuums, bool binds, double dt_s)
{
	bool		tells = binds && vacuums->running > 0;

	own->acts = binds;
	own->urgency = tells ? smooth_urgency(own, dt_s) : 0;
	own->vacuums = tells ? vacuums->running : 0;
	own->users = sweep_adaptive && throttle_users_are_there(&throttle);
	own->used = tells ? vacuums->used : (Rates)
	{
		0
	};
}

/* Those who share the device yield as well, and their part helps, too. */
static void
tell_cut(HostOwn *own, const ThrottleResult *result)
{
	if (result->users_cut_to <= 0 || (own->vacuums == 0 && !own->watches))
		return;
	own->cut_at_ms = clock_steady() / 1000;
	own->cut_to = result->users_cut_to;
	host_directory_tell(own);
}

/*
 * Without vacuums of its own: the users wait for those of other servers on the device,
 * which yield to the cuts that they hear of.
 */
static void
watch(ThrottleReading *reading, const HostShare *share)
{
	reading->watches = true;
	reading->yielding = share->yielding;
	reading->yielding_used = share->yielding_used;
	reading->others_cut_to = 0;
}

/* Do other servers vacuum, or pause between two short vacuums? */
static bool
goes_on_elsewhere(const HostShare *share, TimestampTz now)
{
	static TimestampTz seen_at = 0;

	if (share->yielding > 0)
		seen_at = now;
	return seen_at != 0 && now >= seen_at && now - seen_at < HOST_GOES_ON_MS * INT64CONST(1000);
}

/*
 * Returns whether it must look again soon: there are vacuums that matter to it, or users
 * whom it does not know yet.
 */
static int
step(TimestampTz now)
{
	static SensorsReading sensors;
	static HostOwn own = {0};
	static bool listens = false;
	bool		watched_before = own.watches;
	GovernorVacuums vacuums;
	ThrottleSettings settings;
	ThrottleReading reading;
	ThrottleResult result;
	HostShare	share;
	bool		binds = sweep_mode == SWEEP_ACT;
	double		dt_s = last_step == 0 ? 0 : (double) (now - last_step) / 1000000.0;

	governor_vacuums_unsteer(now);
	governor_vacuums_look(&vacuums, now);
	describe_to_host(&own, &vacuums, binds, dt_s);
	share = host_directory_step(&own, now);
	has_neighbours = share.there > 0;
	own.watches = binds && sweep_adaptive && vacuums.running == 0 && goes_on_elsewhere(&share, now) &&
		throttle_has_users(&throttle);
	if (own.watches)
	{
		share.device = 1;		/* all of it is theirs */
		if (!watched_before)
			host_directory_tell(&own);	/* before they grow fast */
	}
	governor_limits_get(&settings, &share, now);
	governor_limits_read(&reading, &settings, &sensors, now);
	reading.listens = listens && vacuums.all == 0;
	reading.vacuums = vacuums.running;
	reading.yielding = vacuums.yielding;
	reading.pace = vacuums.pace;
	if (vacuums.pace_of_users)
		reading.pace += PACE_TIMES * Max(sensors.wal.wal_bytes_s - vacuums.used.wal, 0);
	reading.other_vacuums = vacuums.all - vacuums.running;
	reading.used = vacuums.used;
	reading.yielding_used = vacuums.yielding_used;
	reading.removed_rows_s = vacuums.removed_rows_s;
	reading.others_cut_to = share.cut_to;
	reading.watched = share.watched;
	reading.others_users = share.users;
	if (own.watches)
		watch(&reading, &share);
	throttle_step(&throttle, &settings, &reading, dt_s, &result);
	tell_cut(&own, &result);

	governor_vacuums_grant(&result, binds,
						   settings.adaptive || governor_limits_any(&settings));
	governor_limits_publish(&settings, &result, &sensors, &share, now, binds);
	if (is_news(&result, &vacuums))
		publish_step(&vacuums, &reading, &result, now);
	last_result = result;
	last_step = now;
	listens = binds && sweep_adaptive && vacuums.all == 0 && !own.watches &&
		throttle_wants_to_listen(&throttle);
	return Max(vacuums.all, own.watches || listens);
}

/* Until the next step, after one that returned `running` (step_try). */
static int
step_interval_ms(int running)
{
	if (running != 0)
		return running < 0 ? ERROR_MS : STEP_MS;
	return has_neighbours && sweep_adaptive && throttle_has_users(&throttle) ? HOST_IDLE_MS : IDLE_MS;
}

/* A step that fails must not end the process. */
static int
step_try(MemoryContext context, TimestampTz now)
{
	volatile int running = -1;

	PG_TRY();
	{
		running = step(now);
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		MemoryContextSwitchTo(context);
		EmitErrorReport();
		LWLockReleaseAll();
		FlushErrorState();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	MemoryContextReset(context);
	return running;
}

/* ----
 * The process
 * ----
 */

static void
set_latch(struct Latch *latch)
{
	SpinLockAcquire(&sweep_shared->mutex);
	sweep_shared->governor_latch = latch;
	SpinLockRelease(&sweep_shared->mutex);
}

static void
governor_end(int code, Datum arg)
{
	set_latch(NULL);
	host_directory_leave();
}

/*
 * When to look at the users again, until when nothing has to be done: 0 is
 * never.
 */
static int64
next_look_ms(bool busy)
{
	if (give_way_look(clock_now()))
		return busy ? USERS_MS : GIVE_WAY_LOOK_MS;
	return busy ? USERS_MS : 0;
}

/*
 * Waits for the next step, and looks at the users meanwhile.  A vacuum that
 * begins brings the step forward, and so does somebody who steers one.
 */
static void
wait_for_step(TimestampTz now, TimestampTz next, bool busy)
{
	TimestampTz soonest = TimestampTzPlusMilliseconds(now, WOKEN_MS);
	TimestampTz hear = TimestampTzPlusMilliseconds(now, HOST_MS);

	for (;;)
	{
		int64		look_ms = next_look_ms(busy);
		TimestampTz sample = look_ms > 0 ?
			Min(next, TimestampTzPlusMilliseconds(clock_now(), look_ms)) : next;

		if (clock_wait_until_woken(sample))
			next = Min(next, Max(soonest, clock_now()));
		if (ConfigReloadPending || InterruptPending)
			return;
		if (busy && sweep_adaptive)
		{
			double		dt_s = (double) (clock_now() - last_step) / 1000000.0;

			sensor_users_sample();
			if (last_step != 0 && throttle_is_urgent(&throttle, sensor_users_waiting(), dt_s))
				next = Min(next, Max(soonest, clock_now()));
			if (clock_now() >= hear)
			{
				hear = TimestampTzPlusMilliseconds(clock_now(), HOST_MS);
				if (host_directory_hears_cut())
					next = Min(next, clock_now());
			}
		}
		if (clock_now() >= next || clock_now() < now)
			return;
	}
}

void
sweep_governor_main(Datum arg)
{
	MemoryContext context;

	bgworker_prologue();
	breaker_own_process();
	context = AllocSetContextCreate(TopMemoryContext, "sweep governor", ALLOCSET_DEFAULT_SIZES);
	governor_vacuums_begin();
	MemoryContextSwitchTo(context);
	set_latch(MyLatch);
	on_shmem_exit(governor_end, (Datum) 0);
	sensors_tell = true;

	for (;;)
	{
		TimestampTz now;
		int			running;

		bgworker_end_if_told(1);
		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}

		now = clock_now();
		if (shmem_is_off())
		{
			/* nobody steers: what is stale has no effect */
			last_step = 0;
			host_directory_leave();
			clock_wait_until(0);
			continue;
		}
		running = step_try(context, now);
		wait_for_step(now, TimestampTzPlusMilliseconds(now, step_interval_ms(running)), running > 0);
	}
}
