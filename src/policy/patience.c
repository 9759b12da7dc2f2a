/*
 * policy/patience.c
 *		How long a worker may keep others waiting, and what follows.
 */
#include "patience.h"

/*
 * This long, so that a vacuum that is about to end is not cancelled in vain.
 */
#define WANTED_MS		100

/*
 * A patient vacuum lets the deadlock checker of who waits end it, as it ends
 * autovacuum's.  This is for a deadlock_timeout that is longer.
 */
#define PATIENT_MS		2000

/*
 * Twice the workers' lock_timeout (bgworker.h), which only code of a
 * database's owner can have switched off.
 */
#define WAITS_MS		10000

/* A cancel may come between two commands, where it is dropped. */
#define CANCEL_AGAIN_MS	500

/* By then code that catches the cancel has had its time to clean up. */
#define IGNORED_MS		1000

/* sweep.mode = off leaves no worker within two seconds */
#define LEAVE_MS		500

/* Twice lock_timeout.  A new process needs some milliseconds. */
#define CONNECT_MS		10000

#define IN_VAIN_MS		2000

static PatienceStep
next_step(int64_t ms, int64_t limit_ms, int64_t cancelled_ms, int64_t again_ms)
{
	if (ms < limit_ms)
		return PATIENCE_WAIT;
	if (cancelled_ms >= IGNORED_MS)
		return PATIENCE_TERMINATE;
	return again_ms < 0 || again_ms >= CANCEL_AGAIN_MS ? PATIENCE_CANCEL : PATIENCE_WAIT;
}

PatienceStep
patience_with_holder(bool patient, int64_t wanted_ms, int64_t cancelled_ms, int64_t again_ms)
{
	return next_step(wanted_ms, patient ? PATIENT_MS : WANTED_MS, cancelled_ms, again_ms);
}

PatienceStep
patience_with_waiter(int64_t waits_ms, int64_t cancelled_ms, int64_t again_ms)
{
	return next_step(waits_ms, WAITS_MS, cancelled_ms, again_ms);
}

/* Before it has connected it holds nothing, and looks at nothing. */
bool
patience_with_leaver_is_over(bool up, int64_t told_ms)
{
	return !up || told_ms >= LEAVE_MS;
}

bool
patience_with_starter_is_over(int64_t started_ms)
{
	return started_ms >= CONNECT_MS;
}

bool
patience_is_in_vain(int64_t terminated_ms)
{
	return terminated_ms >= IN_VAIN_MS;
}
