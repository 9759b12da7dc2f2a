/*
 * lock_waiter.c
 *		Who waits for a table that this process has locked, and whom a process
 *		waits for.
 *
 * A worker whose vacuum is cancelled asks this before it lets go.  Most often
 * the process that waits has cancelled it.
 */
#include "server/lock_waiter.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"

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

/* A prepared transaction has no process, so its pid is 0. */
char *
lock_holders(int pid)
{
	ArrayType  *array = DatumGetArrayTypeP(DirectFunctionCall1(pg_blocking_pids, Int32GetDatum(pid)));
	const int32 *pids = (const int32 *) ARR_DATA_PTR(array);
	int			n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	StringInfoData text;

	if (n == 0)
		return NULL;
	initStringInfo(&text);
	for (int i = 0; i < n; i++)
	{
		appendStringInfoString(&text, i > 0 ? ", " : "");
		if (pids[i] == 0)
			appendStringInfoString(&text, "a prepared transaction");
		else
			appendStringInfo(&text, "pid %d", pids[i]);
	}
	return text.data;
}
