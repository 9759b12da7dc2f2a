/*
 * slots.c
 *		Background worker slots, and who else wants them.
 *
 * Runs in the launcher.  Which processes are background workers, and of what
 * type, is known by their PIDs.  One that the postmaster has not started yet
 * is not seen, and counts at the next look.  Locks: BackgroundWorkerLock,
 * shared, for one process at a time, while none of ours is held.
 */
#include "launcher/slots.h"

#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_subscription.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "replication/logicallauncher.h"
#include "storage/proc.h"

#include "policy/free_slots.h"
#include "server/clock.h"
#include "shmem.h"
#include "state/budget.h"
#include "state/worker_pool.h"

/* How long after a parallel query others are expected. */
#define PARALLEL_EXPECTED_MS	60000

static int	subscriptions = 0;
static TimestampTz parallel_seen_at = 0;
static FreeSlots slots;

void
slots_read_subscriptions(void)
{
	Relation	rel = table_open(SubscriptionRelationId, AccessShareLock);
	TableScanDesc scan = table_beginscan_catalog(rel, 0, NULL);
	HeapTuple	tuple;

	subscriptions = 0;
	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
		subscriptions += ((Form_pg_subscription) GETSTRUCT(tuple))->subenabled;
	table_endscan(scan);
	table_close(rel, AccessShareLock);
}

/*
 * One of a vacuum is not a query's.  Nor is one that has not joined its leader
 * yet: a query's will be seen at the next look.
 */
static bool
is_of_query(volatile PGPROC *proc)
{
	const PGPROC *leader = proc->lockGroupLeader;

	return leader != NULL && (((volatile const PGPROC *) leader)->statusFlags & PROC_IN_VACUUM) == 0;
}

static void
count(volatile PGPROC *proc, const char *type, int *used)
{
	(*used)++;
	if (strcmp(type, "parallel worker") == 0)
		slots.parallel += is_of_query(proc);
	else if (strncmp(type, "logical replication ", 20) == 0 && strcmp(type, "logical replication launcher") != 0)
		slots.logical++;
}

void
slots_look(TimestampTz now)
{
	int			used = 0;

	memset(&slots, 0, sizeof(slots));
	for (uint32 i = 0; i < ProcGlobal->allProcCount; i++)
	{
		volatile PGPROC *proc = &ProcGlobal->allProcs[i];
		int			pid = proc->pid;
		const char *type = pid != 0 ? GetBackgroundWorkerTypeByPid(pid) : NULL;

		if (type != NULL)
			count(proc, type, &used);
	}
	if (slots.parallel > 0)
		parallel_seen_at = now;
	slots.free = max_worker_processes - used;
	slots.ours = worker_pool_count_in(InvalidOid);
	slots.subscriptions = subscriptions;
	slots.max_logical = max_logical_replication_workers;
	/* the clock may have been set back */
	slots.in_parallel = parallel_seen_at != 0 && now >= parallel_seen_at &&
		now < clock_after(parallel_seen_at, PARALLEL_EXPECTED_MS);
	slots.max_parallel = max_parallel_workers;
	pg_atomic_write_u32(&sweep_shared->spare_workers,
						free_slots_spare(&slots, budget_workers() + 1));
}

bool
slots_let_begin(void)
{
	bool		begin = free_slots_let_begin(&slots);

	if (begin)
	{
		slots.free--;
		slots.ours++;
	}
	else
		worker_pool_note_short(slots.free, free_slots_wanted(&slots));
	return begin;
}

bool
slots_are_short(void)
{
	return free_slots_are_short(&slots);
}
