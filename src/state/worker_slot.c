/*
 * worker_slot.c
 *		A worker's own place in shared memory.
 *
 * Runs in that worker.  It announces itself there, claims tables and lingers.
 * The launcher fills and frees the place (worker_pool.c).  Others look at what
 * is claimed (worker_claims.c).  Everything is under LOCK_WORKERS, which is
 * held for a look at the array and no longer.
 *
 * A place has a generation.  So a process that comes up after the launcher
 * has given it up does not take somebody else's place.
 */
#include "state/worker_slot.h"

#include "miscadmin.h"
#include "storage/ipc.h"

#include "server/bgworker.h"
#include "server/clock.h"
#include "shmem.h"

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

static void
end(int code, Datum arg)
{
	lock(LW_EXCLUSIVE);
	my_slot->relid = InvalidOid;
	my_slot->latch = NULL;
	my_slot->state = WORKER_DONE;
	unlock();
}

/* Returns false if the launcher has given us up. */
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

/* The worker has connected, and can read catalogs. */
void
worker_slot_is_up(void)
{
	lock(LW_EXCLUSIVE);
	my_slot->up = true;
	unlock();
	/* other workers may follow into this database */
	shmem_wake_launcher();
}

Oid
worker_slot_database(void)
{
	return my_slot->dboid;
}

Oid
worker_slot_owner(void)
{
	return my_slot->owner;
}

bool
worker_slot_is_for_catalogs(void)
{
	return my_slot->catalogs_only;
}

/* Is this worker to look at all tables? */
bool
worker_slot_is_survey(void)
{
	return my_slot->survey && !my_slot->catalogs_only;
}

bool
worker_slot_is_stopped(void)
{
	return my_slot->stop;
}

/* Was it told to give up its table? */
bool
worker_slot_must_let_go(void)
{
	return my_slot->let_go_at != 0;
}

/*
 * The command is over, so a request to cancel it comes too late from now on.
 */
void
worker_slot_has_let_go(void)
{
	lock(LW_EXCLUSIVE);
	my_slot->cancelled = false;
	my_slot->let_go_at = my_slot->told_at = 0;
	unlock();
	QueryCancelPending = false;
}

/*
 * Takes a table, so that no other worker does.  Returns false if one has it.
 */
static bool
claim(DecisionKey key, bool to_freeze)
{
	bool		taken = false;

	lock(LW_EXCLUSIVE);
	for (int i = 0; i < SWEEP_WORKERS_LIMIT && !taken; i++)
	{
		const WorkerSlot *w = &sweep_shared->workers[i];

		taken = w != my_slot && OidIsValid(w->relid) &&
			((to_freeze && w->freezing) ||
			 (w->relid == key.relid &&
			  (w->relid_shared ? key.dboid == InvalidOid : w->dboid == key.dboid)));
	}
	if (!taken)
	{
		my_slot->relid = key.relid;
		my_slot->relid_shared = key.dboid == InvalidOid;
		my_slot->freezing = to_freeze;
		my_slot->patient = false;
		my_slot->dead_ratio = 0;
		my_slot->cancelled = false;
		my_slot->let_go_at = my_slot->told_at = 0;
	}
	unlock();
	return !taken;
}

bool
worker_slot_claim(DecisionKey key)
{
	return claim(key, false);
}

bool
worker_slot_claim_to_freeze(DecisionKey key)
{
	return claim(key, true);
}

void
worker_slot_unclaim(void)
{
	lock(LW_EXCLUSIVE);
	my_slot->relid = InvalidOid;
	unlock();
}

/* It begins to vacuum what it has claimed. */
void
worker_slot_vacuums(double dead_ratio, bool patient)
{
	lock(LW_EXCLUSIVE);
	my_slot->dead_ratio = dead_ratio;
	my_slot->patient = patient;
	unlock();
}

/*
 * A visit is over.  visited: it saw all that it was to see, and could
 * remember all that it decided.  began: when a survey began.  It is 0 if this
 * was none, or if tables whose counters were lost have not had their turn.
 */
void
worker_slot_visited(bool visited, TimestampTz began, TimestampTz revisit_at)
{
	lock(LW_EXCLUSIVE);
	my_slot->visited = visited;
	if (visited)
	{
		my_slot->visited_at = clock_now();
		my_slot->looked_at = Max(my_slot->looked_at, began);
		if (revisit_at != 0 && (my_slot->revisit_at == 0 || revisit_at < my_slot->revisit_at))
			my_slot->revisit_at = revisit_at;
	}
	unlock();
}

void
worker_slot_surveyed(double cpu_ms)
{
	lock(LW_EXCLUSIVE);
	my_slot->survey_ms = cpu_ms;
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

/* Returns true if there is more to do. */
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
