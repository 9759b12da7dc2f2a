/*
 * meter_tick.c
 *		The tick: a timer in the process that vacuums.
 *
 * It is a timeout handler.  It reads this process's own variables and stores
 * into its slot, nothing else.  There is one exception: once in a run that
 * begins with quick ticks, a tick gives its own timer the usual interval.  The
 * server has taken this timeout off its list by then, and has disabled the
 * alarm.  When the handler returns, it reads the interval and schedules anew.
 * While mainline code has set meter_slot_busy, the tick does nothing.  There
 * are no locks.
 */
#include "meter/meter.h"

#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/ps_status.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include "meter/meter_process.h"
#include "meter/pacer.h"
#include "meter/pin_wait.h"
#include "server/breaker.h"
#include "server/compat.h"
#include "shmem.h"

/*
 * A tick cuts a running cost delay short.  At most one in this many delays is
 * cut short, which keeps a vacuum's rate within 1 % of its setting.
 */
#define DELAYS_PER_TICK		50
#define SLOWEST_TICK_MS		1000

/*
 * The tick of a parallel worker until it begins.  In a longer time it could
 * be done with an index.
 */
#define PARALLEL_START_TICK_MS	4

#define TITLE_LENGTH		96

static TimeoutId tick_timeout;
static int	tick_interval_ms = 0;	/* of the running timer, once it works */
static bool tick_is_starting = false;	/* a parallel worker's, until it
										 * begins */
static bool tick_is_quick = false;	/* until the governor has seen the run */
static TimestampTz sampled_at = 0;
static char title[TITLE_LENGTH];	/* the process title without our suffix */

/* ----
 * The title
 * ----
 */

/*
 * Shows the counts behind the usual title, as in seed 002: "h=182701 m=301515
 * d=321345".
 */
static void
show_in_title(void)
{
	char		text[TITLE_LENGTH + 80];

	if (meter_slot->pid == 0 || meter_slot->relid == InvalidOid)
		return;
	snprintf(text, sizeof(text), "%s h=" INT64_FORMAT " m=" INT64_FORMAT " d=" INT64_FORMAT,
			 title, meter_slot->used.blks_hit, meter_slot->used.blks_read, meter_slot->used.blks_dirtied);
	set_ps_display(text);
}

void
meter_title_save(void)
{
	int			length;
	const char *text = get_ps_display(&length);

	strlcpy(title, text, Min(length + 1, (int) sizeof(title)));
}

void
meter_title_restore(void)
{
	set_ps_display(title);
}

/* ----
 * The timer
 * ----
 */

/*
 * The timeout handler, which only stores.  In a worker of ours it also takes
 * the worker's part of the cost limit anew, as others come and go.
 */
static void
take_tick(void)
{
	int			interval_ms = tick_is_quick ? PACER_QUICK_TICK_MS : tick_interval_ms;
	TimestampTz now;
	RunCosts	costs;

	if (meter_slot_busy || meter_slot == NULL)
		return;
	if (meter_this.kind == PROCESS_PARALLEL && !meter_is_working())
		return;					/* its vacuum has not begun yet */
	now = GetCurrentTimestamp();
	if (tick_is_starting)
	{
		/* no mainline code of ours runs when a parallel worker begins */
		tick_is_starting = false;
		pacer_forget_used();
		enable_timeout_every(tick_timeout, now, tick_interval_ms);
	}
	meter_read_costs(&costs);
	meter_count_naps(&costs);	/* before they are changed */
	pacer_tick(now, interval_ms);	/* when off, it restores the costs */
	pin_wait_tick(interval_ms);
	if (tick_is_quick && !pacer_awaits_grant(now))
	{
		tick_is_quick = false;
		enable_timeout_every(tick_timeout, now, tick_interval_ms);
	}
	if (pg_atomic_read_u32(&sweep_shared->metering) == 0)
		return;
	if (meter_this.own.active && meter_this.own.shared_limit > 0 && !pacer_steers())
		compat_cost_limit() = meter_own_limit(meter_this.own.shared_limit);
	if (now - sampled_at < (TimestampTz) PACER_TICK_MS * 900 && now >= sampled_at &&
		meter_slot->nsamples > 0)
		return;
	sampled_at = now;
	meter_sample(now);
	if (sweep_process_title)
		show_in_title();
}

static void
tick(void)
{
	int			before = breaker_enter();

	take_tick();
	breaker_leave(before);
}

/* FATAL if another library used up all user timeouts. */
void
meter_tick_register(void)
{
	tick_timeout = RegisterTimeout(USER_TIMEOUT, tick);
}

/* Starts the timer, or changes its pace to suit the cost delay (ms). */
void
meter_tick_start(double cost_delay)
{
	double		slow = Min(cost_delay * DELAYS_PER_TICK, SLOWEST_TICK_MS);
	int			interval_ms = Max(PACER_TICK_MS, (int) slow);
	int			first_ms = PACER_FIRST_TICK_MS;
	TimestampTz now;

	if (get_timeout_active(tick_timeout))
	{
		if (tick_interval_ms == interval_ms)
			return;
		meter_tick_stop();
	}
	tick_interval_ms = interval_ms;
	now = GetCurrentTimestamp();
	tick_is_starting = meter_this.kind == PROCESS_PARALLEL;
	tick_is_quick = interval_ms > PACER_QUICK_TICK_MS && pacer_awaits_grant(now);
	if (tick_is_starting)
		first_ms = interval_ms = PARALLEL_START_TICK_MS;
	else if (tick_is_quick)
		interval_ms = PACER_QUICK_TICK_MS;
	enable_timeout_every(tick_timeout, TimestampTzPlusMilliseconds(now, first_ms), interval_ms);
}

void
meter_tick_stop(void)
{
	disable_timeout(tick_timeout, false);
}
