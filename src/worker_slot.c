/*
 * worker_slot.c
 *		The workers' places in shared memory: taken, claimed from, given back.
 *
 * The launcher fills a place and starts the process; the worker announces
 * itself in it, claims tables and lingers; the launcher sends it again, asks it
 * to leave, and frees the place when the process is gone.  Everything under
 * LOCK_WORKERS, which is held for a look at the array and no longer.
 *
 * A place has a generation, so that a process that comes up after the launcher
 * has given it up does not take somebody else's.
 */
#include "worker_slot.h"

#include <signal.h>

#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/procarray.h"
#include "utils/memutils.h"

#include "bgworker.h"
#include "clock.h"

#define WORKER_START_LIMIT_MS	30000	/* then it is not coming any more */

/* launcher: the processes that it started itself */
static BackgroundWorkerHandle *handles[SWEEP_WORKERS_LIMIT];

/* worker: its own place */
static WorkerSlot *my_slot = NULL;

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

/* ----
 * Anybody
 * ----
 */

void
worker_slots_claims(WorkerClaims *claims)
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

/* Workers that run in a database, or in any. */
int
worker_slots_count_in(Oid dboid)
{
	int			n = 0;

	lock(LW_SHARED);
	for (int i = 0; i < SWEEP_WORKERS_LIMIT; i++)
	{
		const WorkerSlot *w = &sweep_shared->workers[i];

		n += w->state != WORKER_FREE && w->state != WORKER_DONE &&
			(dboid == InvalidOid || w->dboid == dboid);
	}
	unlock();
	return n;
}

/* ----
 * The launcher
 * ----
 */

/*
 * Places of that kind that are taken, also by what has ended and was not
 * reaped yet.
 */
int
worker_slots_count(bool catalogs_only)
{
	int			n = 0;

	lock(LW_SHARED);
	for (int i = 0; i < SWEEP_WORKERS_LIMIT; i++)
	{
		const WorkerSlot *w = &sweep_shared->workers[i];

		n += w->state != WORKER_FREE && w->catalogs_only == catalogs_only;
	}
	unlock();
	return n;
}

/*
 * Workers in a database that hold no table, so are about to take one: a
 * catalog, or any table.
 */
int
worker_slots_free_in(Oid dboid, bool for_catalogs)
{
	int			n = 0;

	lock(LW_SHARED);
	for (int i = 0; i < SWEEP_WORKERS_LIMIT; i++)
	{
		const WorkerSlot *w = &sweep_shared->workers[i];

		n += w->state != WORKER_FREE && w->state != WORKER_DONE && !w->stop &&
			w->dboid == dboid && w->relid == InvalidOid &&
			(for_catalogs || !w->catalogs_only);
	}
	unlock();
	return n;
}

/* Takes a place for a worker; -1: there is none. */
static int
take_place(Oid dboid, bool catalogs_only, TimestampTz now, uint32 *generation)
{
	int			slot = -1;

	lock(LW_EXCLUSIVE);
	for (int i = 0; i < SWEEP_WORKERS_LIMIT && slot < 0; i++)
	{
		WorkerSlot *w = &sweep_shared->workers[i];

		if (w->state != WORKER_FREE)
			continue;
		slot = i;
		*generation = (w->generation + 1) % (PG_UINT32_MAX / SWEEP_WORKERS_LIMIT);
		memset(w, 0, sizeof(*w));
		w->generation = *generation;
		w->state = WORKER_STARTING;
		w->dboid = dboid;
		w->catalogs_only = catalogs_only;
		w->started_at = now;
	}
	unlock();
	return slot;
}

/* pid: as it was when it was found to be gone. */
static bool
free_place(int slot, int pid)
{
	WorkerSlot *w = &sweep_shared->workers[slot];
	bool		ok;

	lock(LW_EXCLUSIVE);
	ok = w->pid == pid || handles[slot] != NULL;
	if (ok)
	{
		w->state = WORKER_FREE;
		w->pid = 0;
		w->relid = InvalidOid;
	}
	unlock();
	if (!ok)
		return false;			/* it has come up after all */

	if (handles[slot])
		pfree(handles[slot]);
	handles[slot] = NULL;
	return true;
}

bool
worker_slots_start(Oid dboid, bool catalogs_only, TimestampTz now)
{
	MemoryContext context;
	uint32		generation = 0;
	int			slot = take_place(dboid, catalogs_only, now, &generation);
	bool		started;

	if (slot < 0)
		return false;

	/* the handle outlives this round */
	context = MemoryContextSwitchTo(TopMemoryContext);
	handles[slot] = bgworker_start_worker(slot, generation);
	MemoryContextSwitchTo(context);
	started = handles[slot] != NULL;
	if (!started)
		(void) free_place(slot, 0);

	SpinLockAcquire(&sweep_shared->mutex);
	if (started)
		sweep_shared->worker_starts++;
	else
		sweep_shared->worker_start_failures++;
	SpinLockRelease(&sweep_shared->mutex);
	return started;
}

static bool
is_idle(const WorkerSlot *w)
{
	return w->state == WORKER_LINGERING && !w->stop && w->latch != NULL;
}

/* Wakes a lingering worker of that database; false if there is none. */
bool
worker_slots_send_again(Oid dboid, bool for_catalogs)
{
	bool		sent = false;

	lock(LW_EXCLUSIVE);
	for (int i = 0; i < SWEEP_WORKERS_LIMIT && !sent; i++)
	{
		WorkerSlot *w = &sweep_shared->workers[i];

		sent = is_idle(w) && w->dboid == dboid && (for_catalogs || !w->catalogs_only);
		if (sent)
		{
			w->look_again = true;
			SetLatch(w->latch);
		}
	}
	unlock();
	return sent;
}

/* Its place is wanted for another database: a lingering worker leaves. */
void
worker_slots_dismiss_one(bool catalogs_only)
{
	bool		dismissed = false;

	lock(LW_EXCLUSIVE);
	/* one that is leaving will do */
	for (int i = 0; i < SWEEP_WORKERS_LIMIT; i++)
	{
		const WorkerSlot *w = &sweep_shared->workers[i];

		dismissed = dismissed ||
			(w->catalogs_only == catalogs_only &&
			 (w->state == WORKER_DONE || (w->state != WORKER_FREE && w->stop)));
	}
	for (int i = 0; i < SWEEP_WORKERS_LIMIT && !dismissed; i++)
	{
		WorkerSlot *w = &sweep_shared->workers[i];

		dismissed = is_idle(w) && !w->look_again && w->catalogs_only == catalogs_only;
		if (dismissed)
		{
			w->stop = true;
			SetLatch(w->latch);
		}
	}
	unlock();
}

/* Asks all workers to leave: what they are at is cancelled. */
void
worker_slots_stop_all(void)
{
	lock(LW_EXCLUSIVE);
	for (int i = 0; i < SWEEP_WORKERS_LIMIT; i++)
	{
		WorkerSlot *w = &sweep_shared->workers[i];

		if (w->state == WORKER_FREE || w->state == WORKER_DONE)
			continue;
		w->stop = true;
		if (w->pid != 0 && w->relid != InvalidOid)
			kill(w->pid, SIGINT);
		if (w->latch)
			SetLatch(w->latch);
	}
	unlock();
}

/* Is the process of this place gone for good? */
static bool
is_gone(int slot, TimestampTz now)
{
	const WorkerSlot *w = &sweep_shared->workers[slot];
	pid_t		pid;

	if (handles[slot] != NULL)
	{
		BgwHandleStatus status = GetBackgroundWorkerPid(handles[slot], &pid);

		return status == BGWH_STOPPED || status == BGWH_POSTMASTER_DIED;
	}

	/*
	 * started by the launcher before this one; until it is connected nobody
	 * finds it
	 */
	if (w->pid != 0 && BackendPidGetProc(w->pid) != NULL)
		return false;
	return w->state == WORKER_DONE || now > clock_after(w->started_at, WORKER_START_LIMIT_MS);
}

/* Reports on each worker and frees the places of those that are gone; true if any is. */
bool
worker_slots_reap(WorkerReport report, TimestampTz now)
{
	bool		any_gone = false;

	for (int i = 0; i < SWEEP_WORKERS_LIMIT; i++)
	{
		WorkerSlot	w;
		int			pid = sweep_shared->workers[i].pid;
		bool		gone;

		if (sweep_shared->workers[i].state == WORKER_FREE)
			continue;

		/* what it wrote last is read after its end is known */
		gone = is_gone(i, now);
		lock(LW_SHARED);
		w = sweep_shared->workers[i];
		unlock();

		gone = gone && free_place(i, pid);
		/* one that was sent again and did not come back has failed */
		report(&w, gone, w.visited && !w.look_again, now);
		any_gone = any_gone || gone;
	}
	return any_gone;
}

/* ----
 * A worker
 * ----
 */

static void
end(int code, Datum arg)
{
	lock(LW_EXCLUSIVE);
	my_slot->relid = InvalidOid;
	my_slot->latch = NULL;
	my_slot->state = WORKER_DONE;
	unlock();
}

/* false: the launcher has given us up. */
bool
worker_slot_begin(Datum arg)
{
	WorkerSlot *w = &sweep_shared->workers[bgworker_arg_slot(arg)];
	bool		ok;

	lock(LW_EXCLUSIVE);
	ok = w->state == WORKER_STARTING && w->generation == bgworker_arg_generation(arg);
	if (ok)
	{
		w->state = WORKER_RUNNING;
		w->pid = MyProcPid;
		w->latch = MyLatch;
	}
	unlock();
	if (ok)
	{
		my_slot = w;
		before_shmem_exit(end, (Datum) 0);
	}
	return ok;
}

Oid
worker_slot_database(void)
{
	return my_slot->dboid;
}

bool
worker_slot_is_for_catalogs(void)
{
	return my_slot->catalogs_only;
}

bool
worker_slot_is_stopped(void)
{
	return my_slot->stop;
}

/* Takes a table, so that no other worker does; false when one has it. */
bool
worker_slot_claim(DecisionKey key)
{
	bool		taken = false;

	lock(LW_EXCLUSIVE);
	for (int i = 0; i < SWEEP_WORKERS_LIMIT && !taken; i++)
	{
		const WorkerSlot *w = &sweep_shared->workers[i];

		taken = w != my_slot && w->relid == key.relid &&
			(w->relid_shared ? key.dboid == InvalidOid : w->dboid == key.dboid);
	}
	if (!taken)
	{
		my_slot->relid = key.relid;
		my_slot->relid_shared = key.dboid == InvalidOid;
	}
	unlock();
	return !taken;
}

void
worker_slot_unclaim(void)
{
	lock(LW_EXCLUSIVE);
	my_slot->relid = InvalidOid;
	unlock();
}

/* A visit is over; did it see all tables and could remember all it decided? */
void
worker_slot_visited(bool visited, TimestampTz began, TimestampTz revisit_at)
{
	lock(LW_EXCLUSIVE);
	my_slot->visited = visited;
	if (visited)
	{
		my_slot->visited_at = clock_now();
		my_slot->looked_at = began;
		my_slot->revisit_at = revisit_at;
	}
	unlock();
}

void
worker_slot_linger(void)
{
	lock(LW_EXCLUSIVE);
	my_slot->state = WORKER_LINGERING;
	unlock();
}

bool
worker_slot_is_wanted(void)
{
	return my_slot->look_again;
}

/* true: there is more to do. */
bool
worker_slot_linger_end(void)
{
	bool		again;

	lock(LW_EXCLUSIVE);
	again = my_slot->look_again;
	my_slot->look_again = false;
	if (again)
		my_slot->visited = false;
	my_slot->state = again ? WORKER_RUNNING : WORKER_DONE;
	unlock();
	return again;
}
