/*
 * lock_waiter.c
 *		Who waits for a table that this process has locked.
 *
 * A worker whose vacuum is cancelled asks this before it lets go.  Most often
 * the process that waits has cancelled it.
 */
#include "server/lock_waiter.h"

#include "miscadmin.h"
#include "storage/lock.h"

int
lock_waiter_first(Oid dboid, Oid relid)
{
	LockData   *locks = GetLockStatusData();
	TimestampTz since = 0;
	int			pid = 0;

	for (int i = 0; i < locks->nelements; i++)
	{
		const LockInstanceData *lock = &locks->locks[i];

		if (lock->locktag.locktag_type != LOCKTAG_RELATION || lock->waitLockMode == NoLock ||
			lock->locktag.locktag_field2 != relid ||
			(lock->locktag.locktag_field1 != dboid && lock->locktag.locktag_field1 != InvalidOid))
			continue;
		/* waitStart is set a moment after the wait has begun */
		if (pid == 0 || (lock->waitStart != 0 && lock->waitStart < since))
		{
			pid = lock->pid;
			since = lock->waitStart != 0 ? lock->waitStart : PG_INT64_MAX;
		}
	}

	/*
	 * freed at once, because a visit may see many cancels and a server many
	 * locks
	 */
	pfree(locks->locks);
	pfree(locks);
	return pid;
}
