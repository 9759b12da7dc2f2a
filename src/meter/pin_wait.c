/*
 * pin_wait.c
 *		A vacuum that waits for somebody's pin on a page: not for long.
 *
 * An ordinary vacuum leaves a pinned page alone.  An aggressive one waits for
 * it, without limit.  So an idle cursor would keep a worker, and nobody else
 * could vacuum the table.  Where the worker chose to be aggressive it gives
 * up instead.
 *
 * The tick, a signal handler, looks at what its own process waits for.  It
 * asks for a cancel as the handler of SIGINT does.  It only stores, and sets
 * the latch that every timeout sets.
 */
#include "meter/pin_wait.h"

#include "miscadmin.h"
#include "storage/proc.h"

#include "server/compat.h"

#define PIN_WAIT_LIMIT_MS	2000

static volatile sig_atomic_t bounded = false;
static volatile sig_atomic_t gave_up = false;
static volatile int waited_ms = 0;

void
pin_wait_begin(bool is_bounded)
{
	bounded = false;
	gave_up = false;
	waited_ms = 0;
	bounded = is_bounded;
}

bool
pin_wait_end(void)
{
	bounded = false;
	return gave_up;
}

void
pin_wait_tick(int interval_ms)
{
	if (!bounded || gave_up)
		return;
	if (MyProc->wait_event_info != COMPAT_WAIT_FOR_PIN)
	{
		waited_ms = 0;
		return;
	}
	waited_ms += interval_ms;
	if (waited_ms < PIN_WAIT_LIMIT_MS)
		return;
	gave_up = true;
	InterruptPending = true;
	QueryCancelPending = true;
}
