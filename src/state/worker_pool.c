/*
 * worker_pool.c
 *		All workers, as the launcher keeps them: started, sent again, dismissed,
 *		ended and reaped.
 *
 * The launcher fills a place and starts the process.  It sends a worker that
 * lingers again, or asks it to leave, and frees the place when the process is
 * gone.  Everything is under LOCK_WORKERS, which is held for a look at the
 * array and no longer.  Anybody may count.
 */
#include "state/worker_pool.h"

#include <signal.h>

#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/latch.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "policy/patience.h"
#include "server/bgworker.h"
#include "server/clock.h"
#include "shmem.h"

#define WORKER_START_LIMIT_MS	30000	/* after that it is not coming any
										 * more */
#define SHORT_SAID_MS			10000	/* how long it is said */
#define OVERDUE_LOOK_MS			100 /* while a worker should connect or leave */

/* launcher: the processes that it started itself */
static BackgroundWorkerHandle *handles[SWEEP_WORKERS_LIMIT];

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

/* In real milliseconds, however fast the clock of the tests runs. */
static int64
ms_since(TimestampTz then, TimestampTz now)
{
	if (then == 0)
		return -1;
	/* the clock was set back, or nobody waits for as long as that */
	return now >= then ? (now - then) / 1000 : PG_INT32_MAX;
}

/* ----
 * Anybody
 * ----
 */

/* How many workers are in a database, or in any? */
int
worker_pool_count_in(Oid dboid)
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

/*
 * Returns a worker that does not end although it was sent SIGTERM, and its
 * database.  0 if there is none.
 */
int
worker_pool_stubborn(Oid *dboid)
{
	TimestampTz now = clock_now();
	int			pid = 0;

	lock(LW_SHARED);
	for (int i = 0; i < SWEEP_WORKERS_LIMIT && pid == 0; i++)
	{
		const WorkerSlot *w = &sweep_shared->workers[i];

		if (w->state == WORKER_FREE || w->state == WORKER_DONE ||
			!patience_is_in_vain(ms_since(w->terminated_at, now)))
			continue;
		pid = w->pid;
		*dboid = w->dboid;
	}
	unlock();
	return pid;
}

/* ----
 * The launcher
 * ----
 */

/*
 * How many places of that kind are taken?  One whose worker has ended but was
 * not reaped yet counts, too.
 */
int
worker_pool_count(bool catalogs_only)
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
 * How many workers in a database hold no table, and so are about to take one?
 * for_catalogs counts those that could take a catalog.
 */
int
worker_pool_free_in(Oid dboid, bool for_catalogs)
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

/*
 * Is a worker on its way into that database?  Where one hangs, another would,
 * too.
 */
bool
worker_pool_is_connecting(Oid dboid)
{
	bool		connecting = false;

	lock(LW_SHARED);
	for (int i = 0; i < SWEEP_WORKERS_LIMIT; i++)
	{
		const WorkerSlot *w = &sweep_shared->workers[i];

		connecting = connecting ||
			(w->state != WORKER_FREE && w->state != WORKER_DONE && !w->up &&
			 (dboid == InvalidOid || w->dboid == dboid));
	}
	unlock();
	return connecting;
}

/* Takes a place for a worker.  -1 if there is none. */
static int
take_place(Oid dboid, Oid owner, bool catalogs_only, bool survey, TimestampTz now,
		   uint32 *generation)
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
		w->owner = owner;
		w->catalogs_only = catalogs_only;
		w->survey = survey;
		w->started_at = now;
	}
	unlock();
	return slot;
}

/* pid is what it was when the process was found to be gone. */
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
worker_pool_start(Oid dboid, Oid owner, bool catalogs_only, bool survey, TimestampTz now)
{
	MemoryContext context;
	uint32		generation = 0;
	int			slot = take_place(dboid, owner, catalogs_only, survey, now, &generation);
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
		sweep_shared->launcher.worker_starts++;
	else
		sweep_shared->launcher.worker_start_failures++;
	SpinLockRelease(&sweep_shared->mutex);
	if (!started)
	{
		worker_pool_note_short(0, 0);
		worker_pool_dismiss_idle();
	}
	return started;
}

void
worker_pool_note_short(int left, int wanted)
{
	SpinLockAcquire(&sweep_shared->mutex);
	sweep_shared->launcher.slots_short_at = clock_now();
	sweep_shared->launcher.slots_free = left;
	sweep_shared->launcher.slots_wanted = wanted;
	SpinLockRelease(&sweep_shared->mutex);
}

bool
worker_pool_is_short(char *text, size_t size)
{
	TimestampTz now = clock_now();
	TimestampTz at;
	int			left;
	int			wanted;

	SpinLockAcquire(&sweep_shared->mutex);
	at = sweep_shared->launcher.slots_short_at;
	left = sweep_shared->launcher.slots_free;
	wanted = sweep_shared->launcher.slots_wanted;
	SpinLockRelease(&sweep_shared->mutex);
	/* a round says it again if it is still so */
	if (at == 0 || now < at || now > TimestampTzPlusMilliseconds(at, Max(SHORT_SAID_MS, 2 * sweep_naptime_ms)))
		return false;
	if (wanted > 0)
		snprintf(text, size, "%d of %d background workers are left, and replication and parallel queries want %d: "
				 "raise max_worker_processes to %d or more",
				 Max(left, 0), max_worker_processes, wanted, max_worker_processes + wanted + 1 - Max(left, 0));
	else
		snprintf(text, size, "none of %d background workers is left: raise max_worker_processes",
				 max_worker_processes);
	return true;
}

static bool
is_idle(const WorkerSlot *w)
{
	return w->state == WORKER_LINGERING && !w->stop && w->latch != NULL;
}

/*
 * Wakes a lingering worker of that database.  Returns false if there is none.
 */
bool
worker_pool_send_again(Oid dboid, bool for_catalogs, bool survey)
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
			w->survey = survey;
			SetLatch(w->latch);
		}
	}
	unlock();
	return sent;
}

/*
 * A lingering worker leaves, because its place is wanted for another
 * database.
 */
void
worker_pool_dismiss_one(bool catalogs_only)
{
	bool		dismissed = false;

	lock(LW_EXCLUSIVE);
	/* if one is leaving anyhow, that will do */
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

/* All lingering workers leave, because others want the background workers. */
void
worker_pool_dismiss_idle(void)
{
	lock(LW_EXCLUSIVE);
	for (int i = 0; i < SWEEP_WORKERS_LIMIT; i++)
	{
		WorkerSlot *w = &sweep_shared->workers[i];

		if (!is_idle(w) || w->look_again)
			continue;
		w->stop = true;
		SetLatch(w->latch);
	}
	unlock();
}

/* Asks all workers to leave, and cancels what they are doing. */
void
worker_pool_stop_all(void)
{
	TimestampTz now = clock_now();

	lock(LW_EXCLUSIVE);
	for (int i = 0; i < SWEEP_WORKERS_LIMIT; i++)
	{
		WorkerSlot *w = &sweep_shared->workers[i];

		if (w->state == WORKER_FREE || w->state == WORKER_DONE)
			continue;
		w->stop = true;
		if (w->stop_at == 0)
			w->stop_at = now;
		if (w->pid != 0 && w->relid != InvalidOid)
			kill(w->pid, SIGINT);
		if (w->latch)
			SetLatch(w->latch);
	}
	unlock();
}

static bool
is_overdue(const WorkerSlot *w, TimestampTz now)
{
	if (w->state == WORKER_FREE || w->state == WORKER_DONE)
		return false;
	if (w->stop_at != 0 && patience_with_leaver_is_over(w->up, ms_since(w->stop_at, now)))
		return true;
	return !w->up && patience_with_starter_is_over(ms_since(w->started_at, now));
}

/*
 * Ends workers that do not connect in time, or do not leave.  Each is sent
 * one SIGTERM.  sweep.status shows those that ignore it.  Returns when to
 * look again, or 0.
 */
TimestampTz
worker_pool_end_overdue(void)
{
	TimestampTz now = clock_now();
	bool		again = false;

	for (int i = 0; i < SWEEP_WORKERS_LIMIT; i++)
	{
		WorkerSlot *w = &sweep_shared->workers[i];
		bool		end;
		int			pid;

		if (w->state == WORKER_FREE || w->state == WORKER_DONE)
			continue;
		lock(LW_EXCLUSIVE);
		end = w->terminated_at == 0 && is_overdue(w, now);
		if (end)
			w->terminated_at = now;
		pid = w->pid;
		/* a worker's end takes this lock, so the process is still there */
		if (end && pid != 0)
			kill(pid, SIGTERM);
		again = again || (w->terminated_at == 0 && (!w->up || w->stop_at != 0));
		unlock();

		/* keeps it from being started if it was not yet */
		if (end && handles[i] != NULL)
			TerminateBackgroundWorker(handles[i]);
		if (end && pid != 0)
			ereport(LOG,
					(errmsg("pg_sweep: worker with PID %d is ended, because it did not %s in time",
							pid, w->up ? "leave" : "connect")));
	}
	return again ? TimestampTzPlusMilliseconds(now, OVERDUE_LOOK_MS) : 0;
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
	 * It was started by the launcher before this one.  Until it has
	 * connected, nobody finds it by its PID.
	 */
	if (w->pid != 0 && BackendPidGetProc(w->pid) != NULL)
		return false;
	return w->state == WORKER_DONE || now > clock_after(w->started_at, WORKER_START_LIMIT_MS);
}

/* The launcher has heard of this time, and need not hear of it again. */
static void
forget_revisit(WorkerSlot *w, TimestampTz heard)
{
	lock(LW_EXCLUSIVE);
	if (w->revisit_at == heard)
		w->revisit_at = 0;
	unlock();
}

/*
 * Reports on each worker and frees the places of those that are gone.  Is
 * any?
 */
bool
worker_pool_reap(WorkerReport report, TimestampTz now)
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
		if (w.revisit_at != 0)
			forget_revisit(&sweep_shared->workers[i], w.revisit_at);

		gone = gone && free_place(i, pid);
		/* one that was sent again and did not come back has failed */
		report(&w, gone, w.visited && !w.look_again, now);
		any_gone = any_gone || gone;
	}
	return any_gone;
}

void
worker_pool_set_back(int64 us)
{
	lock(LW_EXCLUSIVE);
	for (int i = 0; i < SWEEP_WORKERS_LIMIT; i++)
	{
		WorkerSlot *w = &sweep_shared->workers[i];

		clock_move(&w->visited_at, us);
		clock_move(&w->looked_at, us);
		clock_move(&w->revisit_at, us);
		clock_move(&w->started_at, us);
		clock_move(&w->stop_at, us);
		clock_move(&w->let_go_at, us);
		clock_move(&w->told_at, us);
	}
	unlock();
}
