/*
 * give_way.c
 *		Users who want a lock that an own worker holds get it soon, not only
 *		after deadlock_timeout.
 *
 * The deadlock checker of a user who waits cancels a vacuum of ours when
 * deadlock_timeout is over, as it does core's.  A user whose lock_timeout is
 * as short has failed by then.  So the governor looks twenty times a second
 * while a worker has claimed a table.  It looks at what all processes wait
 * for, which is one word each and needs no lock.  Only if one of them waits
 * for a lock does it look at the locks of the workers.  It acts only if one
 * of the workers really blocks the one who waits.
 *
 * It also ends workers that have ignored a cancel, even one by
 * sweep.cancel().  It cancels those that wait for a lock themselves for longer
 * than they may.
 *
 * When VACUUM cuts the file it holds an AccessExclusiveLock, too.  It lets go
 * of that by itself as soon as somebody waits.  It is not cancelled for that,
 * or all that it has done would have to be done again.
 *
 * Core's autovacuum workers are not users: they wait as they always did.
 *
 * Locks: It takes LOCK_WORKERS and lets go of it.  Then it takes
 * ProcArrayLock and the partitions of the lock table, shared, one at a time.
 * Nothing is allocated, and nothing here raises an error.
 */
#include "governor/give_way.h"

#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "policy/patience.h"
#include "server/clock.h"
#include "server/compat.h"
#include "server/features.h"
#include "state/worker_claims.h"

#define WAIT_CLASS_MASK		0xFF000000U

/* Does anybody wait for a lock of the kinds that a worker holds for long? */
static bool
somebody_waits(void)
{
	int			entries = Min((int) ProcGlobal->allProcCount, MaxBackends);

	for (int i = 0; i < entries; i++)
	{
		uint32		wait = ((volatile PGPROC *) &ProcGlobal->allProcs[i])->wait_event_info;

		if (wait == (PG_WAIT_LOCK | LOCKTAG_RELATION) ||
			wait == (PG_WAIT_LOCK | LOCKTAG_VIRTUALTRANSACTION))
			return true;
	}
	return false;
}

/*
 * Does a vacuum wait for whoever has changed or locked its row of pg_class?
 * It has to, or all that it has done is lost.  Its own locks are let go of
 * when somebody wants them.  What is read here without a lock may be that of
 * the next wait, which is looked at again.
 */
static bool
waits_to_end(volatile PGPROC *proc)
{
	uint32		wait = proc->wait_event_info;
	const LOCK *lock = proc->waitLock;

	if ((proc->statusFlags & PROC_IN_VACUUM) == 0)
		return false;
	return wait == (PG_WAIT_LOCK | LOCKTAG_TRANSACTION) || wait == (PG_WAIT_LOCK | LOCKTAG_TUPLE) ||
		(wait == (PG_WAIT_LOCK | LOCKTAG_RELATION) && lock != NULL &&
		 lock->tag.locktag_field2 == RelationRelationId);
}

/*
 * How long a worker itself has waited for a lock for which it may not wait
 * for ever, or -1 if it does not.
 */
static int64
waits_ms(volatile PGPROC *proc, TimestampTz now)
{
	TimestampTz since;

	if ((proc->wait_event_info & WAIT_CLASS_MASK) != PG_WAIT_LOCK || waits_to_end(proc))
		return -1;
	since = (TimestampTz) pg_atomic_read_u64(&proc->waitStart);
	return since == 0 ? 0 : Max((now - since) / 1000, 0);
}

static int64
ms_since(TimestampTz then, TimestampTz now)
{
	return then == 0 ? -1 : Max((now - then) / 1000, 0);
}

static void
look_at(const WorkerClaim *claim, bool wanted, TimestampTz now)
{
	PGPROC	   *proc = BackendPidGetProc(claim->pid);
	int64		told_ms = ms_since(claim->let_go_at, now);
	int64		again_ms = ms_since(claim->told_at, now);
	PatienceStep step;

	if (proc == NULL)
		return;
	step = patience_with_waiter(waits_ms(proc, now), told_ms, again_ms);
	if (step == PATIENCE_WAIT && claim->cancelled)
		step = patience_with_holder(false, PG_INT32_MAX, told_ms, again_ms);
	if (step == PATIENCE_WAIT && wanted)
		step = patience_with_holder(claim->patient, compat_lock_wanted_ms(proc, claim->pid, now), told_ms, again_ms);
	if (step != PATIENCE_WAIT)
		worker_claims_make_let_go(claim, step == PATIENCE_TERMINATE, now);
}

bool
give_way_look(TimestampTz now)
{
	static TimestampTz looked_at = 0;
	static bool claimed = false;
	WorkerClaim claims[SWEEP_WORKERS_LIMIT];
	bool		wanted;
	int			n;

	/* the clock may have been set back */
	if (now >= looked_at && now < TimestampTzPlusMilliseconds(looked_at, GIVE_WAY_LOOK_MS))
		return claimed;
	looked_at = now;
	n = worker_claims_copy(claims);
	claimed = n > 0;
	if (!claimed || !feature_is_ok(FEATURE_LOCKS) || !feature_is_ok(FEATURE_WORKER))
		return claimed;
	wanted = somebody_waits();
	for (int i = 0; i < n; i++)
		look_at(&claims[i], wanted, now);
	return claimed;
}
