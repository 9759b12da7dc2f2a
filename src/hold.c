/*
 * hold.c
 *		No new vacuums by pg_sweep for a while: sweep.hold().
 *
 * One time in shared memory, read by the launcher, the workers and views
 * without a lock.  It is kept over a restart in the header of the ledger's
 * file, so whoever changes it counts as a change of the ledger.  It ends by
 * itself: nobody has to come back to switch vacuums on again.
 */
#include "hold.h"

#include "clock.h"
#include "duration.h"
#include "shmem.h"

TimestampTz
hold_until(void)
{
	TimestampTz until = (TimestampTz) pg_atomic_read_u64(&sweep_shared->held_until);

	return until > clock_now() ? until : 0;
}

bool
hold_is_on(void)
{
	return hold_until() != 0;
}

bool
hold_set(TimestampTz until)
{
	bool		was_on = hold_is_on();

	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_EXCLUSIVE);
	pg_atomic_write_u64(&sweep_shared->held_until, (uint64) until);
	sweep_shared->ledger.hold_said = true;
	sweep_shared->ledger.changes++;
	LWLockRelease(shmem_lock(LOCK_LEDGER));
	return was_on;
}

/* A clock that was set back must not make it longer than it can be made. */
void
hold_restore(TimestampTz until)
{
	if (!sweep_shared->ledger.hold_said)
		pg_atomic_write_u64(&sweep_shared->held_until,
							(uint64) Min(until, clock_now() + DURATION_LIMIT_DAYS * USECS_PER_DAY));
}
