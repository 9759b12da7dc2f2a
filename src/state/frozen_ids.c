/*
 * frozen_ids.c
 *		When each database's oldest ids were looked for last.
 *
 * pg_database has the oldest ids of all tables of a database.  To find them,
 * VACUUM reads all of pg_class, and others wait who want the same.  So not
 * every visit of a worker ends with that.
 */
#include "state/frozen_ids.h"

#include "server/clock.h"
#include "shmem.h"

#define TURN_MS		(60 * 1000)

bool
frozen_ids_take_turn(Oid dboid, bool oldest_moved)
{
	FrozenIdsTurn *turn = &sweep_shared->frozen_ids[dboid % FROZEN_IDS_PLACES];
	TimestampTz now = clock_now();
	bool		mine;

	LWLockAcquire(shmem_lock(LOCK_WORKERS), LW_EXCLUSIVE);
	/* the clock may have been set back */
	mine = oldest_moved || turn->dboid != dboid || now < turn->at || now >= clock_after(turn->at, TURN_MS);
	if (mine)
	{
		turn->dboid = dboid;
		turn->at = now;
	}
	LWLockRelease(shmem_lock(LOCK_WORKERS));
	return mine;
}
