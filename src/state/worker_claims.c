/*
 * worker_claims.c
 *		The tables that own workers have claimed, as others see them.
 *
 * Anybody asks what is claimed.  The governor and sweep.cancel() make a worker
 * let go of its table.  A worker takes and gives up its own claim in its place
 * (worker_slot.c).  All of that is under LOCK_WORKERS, which is held for a
 * look at the array and no longer.
 */
#include "state/worker_claims.h"

#include <signal.h>

#include "server/clock.h"
#include "shmem.h"

static void
lock(LWLockMode mode)
{
	LWLockAcquire(shmem_lock(LOCK_WORKERS), mode);
}

static void
unlock(void)
{
	LWLockRelease(shmem_lock(LOCK_WORKERS));
}

void
worker_claims_get(WorkerClaims *claims)
{
	claims->count = 0;
	lock(LW_SHARED);
	for (int i = 0; i < SWEEP_WORKERS_LIMIT; i++)
	{
		const WorkerSlot *w = &sweep_shared->workers[i];

		if (w->relid != InvalidOid)
		{
			DecisionKey *key = &claims->keys[claims->count++];

			key->dboid = w->relid_shared ? InvalidOid : w->dboid;
			key->relid = w->relid;
		}
	}
	unlock();
}

/*
 * Cancels what a worker does to the table that it has claimed.  If it ignores
 * that, give_way ends it.  Returns false if it is no worker of ours.
 */
bool
worker_claims_cancel(int pid)
{
	TimestampTz now = clock_now();
	bool		ours = false;

	lock(LW_EXCLUSIVE);
	for (int i = 0; i < SWEEP_WORKERS_LIMIT && !ours; i++)
	{
		WorkerSlot *w = &sweep_shared->workers[i];

		ours = w->state == WORKER_RUNNING && w->pid == pid && w->relid != InvalidOid;
		if (!ours)
			continue;
		w->cancelled = true;
		w->told_at = now;
		if (w->let_go_at == 0)
			w->let_go_at = now;
		kill(pid, SIGINT);
	}
	unlock();
	return ours;
}

/*
 * Dead rows against the threshold, of the table that is vacuumed and was the worst
 * when that began (0: of none is it known).
 */
double
worker_claims_worst_ratio(void)
{
	double		worst = 0;

	lock(LW_SHARED);
	for (int i = 0; i < SWEEP_WORKERS_LIMIT; i++)
	{
		const WorkerSlot *w = &sweep_shared->workers[i];

		if (w->relid != InvalidOid)
			worst = Max(worst, w->dead_ratio);
	}
	unlock();
	return worst;
}

/* Copies the workers that have claimed a table, and returns how many. */
int
worker_claims_copy(WorkerClaim claims[SWEEP_WORKERS_LIMIT])
{
	int			n = 0;

	lock(LW_SHARED);
	for (int i = 0; i < SWEEP_WORKERS_LIMIT; i++)
	{
		const WorkerSlot *w = &sweep_shared->workers[i];

		if (w->state != WORKER_RUNNING || w->pid == 0 || w->relid == InvalidOid)
			continue;
		claims[n].slot = i;
		claims[n].pid = w->pid;
		claims[n].relid = w->relid;
		claims[n].patient = w->patient;
		claims[n].cancelled = w->cancelled;
		claims[n].let_go_at = w->let_go_at;
		claims[n].told_at = w->told_at;
		n++;
	}
	unlock();
	return n;
}

/*
 * Cancels what a worker does to the table that it has claimed, or ends the
 * worker.  Nothing happens if it has given up its claim meanwhile, for which
 * it takes this lock.
 */
void
worker_claims_make_let_go(const WorkerClaim *claim, bool terminate, TimestampTz now)
{
	WorkerSlot *w = &sweep_shared->workers[claim->slot];
	bool		told;

	lock(LW_EXCLUSIVE);
	told = w->state == WORKER_RUNNING && w->pid == claim->pid && w->relid == claim->relid &&
		w->let_go_at == claim->let_go_at && (!terminate || w->terminated_at == 0);
	if (told)
	{
		if (w->let_go_at == 0)
			w->let_go_at = now;
		w->told_at = now;
		if (terminate)
			w->terminated_at = now;
		kill(w->pid, terminate ? SIGTERM : SIGINT);
	}
	unlock();
	if (told && terminate)
		ereport(LOG,
				(errmsg("pg_sweep: worker with PID %d is ended, because its vacuum has ignored a cancel request",
						claim->pid)));
}
