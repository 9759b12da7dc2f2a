/*
 * clock.c
 *		Now, later, and waiting: the only place that sleeps.
 *
 * Used by the launcher, the governor and the workers.  sweep.debug_clock_rate
 * divides every interval, so that a test sees a back-off of minutes end
 * within seconds.  Timestamps themselves are always real, but for
 * sweep.debug_clock_offset, with which a test sets the clock.
 *
 * Times are those of the wall clock, which administrators and time servers
 * may set back.  That makes no wait longer, because the latch counts on the
 * steady clock.  The launcher compares the two clocks and moves what is
 * remembered (see launcher.c).
 */
#include "server/clock.h"

#include <limits.h>
#include <time.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "settings.h"

/* If the clock is corrected by less than this, it was not set. */
#define SET_BACK_US		INT64CONST(1000000)

TimestampTz
clock_now(void)
{
	return clock_at(GetCurrentTimestamp());
}

TimestampTz
clock_at(TimestampTz real)
{
	return real + sweep_debug_clock_offset_s * USECS_PER_SEC;
}

TimestampTz
clock_after(TimestampTz from, int64 ms)
{
	return from + ms * 1000 / sweep_debug_clock_rate;
}

int64
clock_steady(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
		return 0;
	return (int64) t.tv_sec * USECS_PER_SEC + t.tv_nsec / 1000;
}

int64
clock_lead(void)
{
	return clock_now() - clock_steady();
}

int64
clock_set_back(int64 *lead)
{
	int64		now = clock_lead();
	int64		lost = *lead - now;

	if (lost >= 0 && lost < SET_BACK_US)
		return 0;
	*lead = now;
	return Max(lost, 0);
}

double
clock_cpu_ms(void)
{
	struct timespec used;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0)
		return 0;
	return (double) used.tv_sec * 1000 + (double) used.tv_nsec / 1e6;
}

/* A negative timeout waits for ever. */
static bool
wait_for_latch(long timeout_ms)
{
	int			events = WL_LATCH_SET | WL_EXIT_ON_PM_DEATH;
	int			rc;

	if (timeout_ms >= 0)
		events |= WL_TIMEOUT;
	rc = WaitLatch(MyLatch, events, timeout_ms, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	return (rc & WL_LATCH_SET) != 0;
}

bool
clock_wait_until_woken(TimestampTz then)
{
	return wait_for_latch(then == 0 ? -1 : TimestampDifferenceMilliseconds(clock_now(), then));
}

void
clock_wait_until(TimestampTz then)
{
	(void) clock_wait_until_woken(then);
}

void
clock_wait_until_steady(int64 then)
{
	(void) wait_for_latch((long) Min(Max((then - clock_steady() + 999) / 1000, 0), INT_MAX));
}

void
clock_pause(void)
{
	pg_usleep(20);
}
