/*
 * hold.c
 *		No new vacuums by pg_sweep for a while: sweep.hold().
 *
 * It is one time in shared memory.  The launcher, the workers and views read
 * it without a lock.  The header of the ledger's file keeps it over a
 * restart, and is written whenever the time has changed.  A hold ends by
 * itself, so nobody has to come back to switch vacuums on again.
 */
#include "state/hold.h"

#include "server/clock.h"
#include "shmem.h"
#include "state/duration.h"

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
	LWLockRelease(shmem_lock(LOCK_LEDGER));
	return was_on;
}

void
hold_set_back(int64 us)
{
	TimestampTz until;

	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_EXCLUSIVE);
	until = (TimestampTz) pg_atomic_read_u64(&sweep_shared->held_until);
	if (until != 0)
		pg_atomic_write_u64(&sweep_shared->held_until, (uint64) (until - us));
	LWLockRelease(shmem_lock(LOCK_LEDGER));
}

/*
 * The note is newer than the file, which on a standby is of its base backup.
 * Another server's clock may have set the time.
 */
void
hold_carried(TimestampTz until)
{
	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_EXCLUSIVE);
	hold_restore(until);
	LWLockRelease(shmem_lock(LOCK_LEDGER));
}

/*
 * The clock may have been set back.  That must not make a hold longer than a
 * user could make it.
 */
void
hold_restore(TimestampTz until)
{
	if (!sweep_shared->ledger.hold_said)
		pg_atomic_write_u64(&sweep_shared->held_until,
							(uint64) Min(until, clock_now() + DURATION_LIMIT_DAYS * USECS_PER_DAY));
}
