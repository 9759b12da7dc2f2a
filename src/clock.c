/*
 * clock.c
 *		Now, later, and waiting: the only place that sleeps.
 *
 * Used by the launcher, the governor and the workers.  sweep.debug_clock_rate divides every
 * interval, so that a test sees a back-off of minutes end within seconds;
 * timestamps themselves are always real.
 */
#include "clock.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "settings.h"

TimestampTz
clock_now(void)
{
	return GetCurrentTimestamp();
}

TimestampTz
clock_after(TimestampTz from, int64 ms)
{
	return from + ms * 1000 / sweep_debug_clock_rate;
}

bool
clock_wait_until_woken(TimestampTz then)
{
	int			events = WL_LATCH_SET | WL_EXIT_ON_PM_DEATH;
	long		timeout_ms = -1;
	int			rc;

	if (then != 0)
	{
		timeout_ms = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), then);
		events |= WL_TIMEOUT;
	}

	rc = WaitLatch(MyLatch, events, timeout_ms, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	return (rc & WL_LATCH_SET) != 0;
}

void
clock_wait_until(TimestampTz then)
{
	(void) clock_wait_until_woken(then);
}

void
clock_pause(void)
{
	pg_usleep(20);
}
