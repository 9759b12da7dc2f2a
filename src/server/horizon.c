/*
 * horizon.c
 *		From which transaction on nothing can be removed, in any database.
 *
 * Core's GetOldestNonRemovableTransactionId() answers only for the database of
 * the asking process.  The launcher is in none and asks for all.
 *
 * Source: ComputeXidHorizons() in PostgreSQL's procarray.c (15 to 19).
 */
#include "server/horizon.h"

#include "access/twophase.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/snapmgr.h"

#include "server/compat.h"

static TransactionId
older(TransactionId a, TransactionId b)
{
	if (!TransactionIdIsNormal(b))
		return a;
	return TransactionIdPrecedes(b, a) ? b : a;
}

/*
 * Is there a process?  A walsender that has left keeps the xmin that its
 * standby had sent.  Only the latch says that it is gone (InitProcess(),
 * ProcKill()).
 */
static bool
is_in_use(volatile PGPROC *proc)
{
	return proc->procLatch.owner_pid != 0;
}

/*
 * Vacuums are left out.  So is decoding: its snapshots are of catalogs, and
 * the slot holds those.
 */
static bool
is_left_out(volatile PGPROC *proc)
{
	return (proc->statusFlags & (PROC_IN_VACUUM | PROC_IN_LOGICAL_DECODING)) != 0;
}

/* Does it hold back other databases' rows, too? */
static bool
is_for_all(volatile PGPROC *proc)
{
	return proc->databaseId == InvalidOid ||
		(proc->statusFlags & PROC_AFFECTS_ALL_HORIZONS) != 0;
}

/*
 * The oldest transaction for which this process needs rows of that database,
 * or next_xid.
 */
static TransactionId
oldest_of(volatile PGPROC *proc, Oid dboid, TransactionId next_xid)
{
	TransactionId oldest = older(older(next_xid, proc->xid), proc->xmin);

	if (is_left_out(proc))
		return next_xid;
	if (dboid == InvalidOid || proc->databaseId == dboid || is_for_all(proc))
		return oldest;
	return next_xid;
}

/*
 * Is there such a transaction?  Its entry keeps the id after it has ended,
 * but the dense array no longer has that id at its place.
 */
static bool
is_prepared(volatile PGPROC *proc)
{
	return TransactionIdIsNormal(proc->xid) &&
		ProcGlobal->xids[proc->pgxactoff] == proc->xid;
}

/* No id is more than 2^31 behind, or the server would have stopped. */
static uint64
behind_by(TransactionId next_xid, TransactionId xid)
{
	return TransactionIdIsNormal(xid) ? (uint32) (next_xid - xid) : 0;
}

/*
 * catalog: also for what logical decoding reads, see
 * GlobalVisHorizonKindForRel().
 */
FullTransactionId
horizon_of_database(Oid dboid, bool catalog)
{
	FullTransactionId next = ReadNextFullTransactionId();
	TransactionId next_xid = XidFromFullTransactionId(next);
	TransactionId horizon = next_xid;
	TransactionId slot_xmin = InvalidTransactionId;
	TransactionId slot_catalog_xmin = InvalidTransactionId;
	uint64		behind;

	/* the processes of prepared transactions are in an array of their own */
	LWLockAcquire(ProcArrayLock, LW_SHARED);
	for (uint32 i = 0; i < ProcGlobal->allProcCount; i++)
	{
		if (is_in_use(&ProcGlobal->allProcs[i]))
			horizon = older(horizon, oldest_of(&ProcGlobal->allProcs[i], dboid, next_xid));
	}
	for (int i = 0; i < max_prepared_xacts; i++)
	{
		if (is_prepared(&PreparedXactProcs[i]))
			horizon = older(horizon, oldest_of(&PreparedXactProcs[i], dboid, next_xid));
	}
	LWLockRelease(ProcArrayLock);
	if (!catalog && dboid != InvalidOid)
		horizon = compat_limited_horizon(horizon);

	behind = behind_by(next_xid, horizon) + compat_defer_cleanup_age();

	ProcArrayGetReplicationSlotXmin(&slot_xmin, &slot_catalog_xmin);
	behind = Max(behind, behind_by(next_xid, slot_xmin));
	if (catalog || dboid == InvalidOid)
		behind = Max(behind, behind_by(next_xid, slot_catalog_xmin));

	return FullTransactionIdFromU64(U64FromFullTransactionId(next) -
									Min(behind, U64FromFullTransactionId(next)));
}

int64
horizon_age(void)
{
	FullTransactionId horizon = horizon_of_database(InvalidOid, true);
	FullTransactionId next = ReadNextFullTransactionId();

	return (int64) (U64FromFullTransactionId(next) - U64FromFullTransactionId(horizon));
}

/* ----
 * Who holds it
 * ----
 */

/* A process or a prepared transaction, as it was at one moment. */
typedef struct Member
{
	int			pid;			/* 0: a prepared transaction */
	Oid			dboid;			/* whose horizon it holds (invalid: that of
								 * all) */
	TransactionId xid;
	TransactionId xmin;
} Member;

static Member
member_of(volatile PGPROC *proc, int pid)
{
	Member		m = {pid, is_for_all(proc) ? InvalidOid : proc->databaseId, proc->xid, proc->xmin};

	return m;
}

/*
 * Reads all processes but vacuums and decoding, for whose transactions nobody
 * waits.
 */
static Member *
read_members(int *count)
{
	Member	   *members = palloc(sizeof(Member) * (ProcGlobal->allProcCount + max_prepared_xacts));
	int			n = 0;

	LWLockAcquire(ProcArrayLock, LW_SHARED);
	for (uint32 i = 0; i < ProcGlobal->allProcCount; i++)
	{
		volatile PGPROC *proc = &ProcGlobal->allProcs[i];

		if (is_in_use(proc) && proc->pid != 0 && !is_left_out(proc) &&
			(TransactionIdIsNormal(proc->xid) || TransactionIdIsNormal(proc->xmin)))
			members[n++] = member_of(proc, proc->pid);
	}
	for (int i = 0; i < max_prepared_xacts; i++)
	{
		if (is_prepared(&PreparedXactProcs[i]))
			members[n++] = member_of(&PreparedXactProcs[i], 0);
	}
	LWLockRelease(ProcArrayLock);
	*count = n;
	return members;
}

/*
 * Whose transaction is the reason for that snapshot's xmin?  NULL if
 * nobody's.
 *
 * A snapshot is as old as the oldest transaction that ran when it was taken.
 * As long as that transaction runs, every new snapshot is as old.  So ending
 * this one would change nothing.
 */
static const Member *
inherited_from(const Member *members, int count, const Member *m)
{
	for (int i = 0; i < count; i++)
	{
		if (&members[i] != m && TransactionIdIsNormal(m->xmin) &&
			TransactionIdEquals(members[i].xid, m->xmin))
			return &members[i];
	}
	return NULL;
}

static void
add_holder(HorizonHolder *holders, int *count, int pid, Oid dboid, TransactionId oldest,
		   TransactionId next_xid)
{
	if (pid == MyProcPid || !TransactionIdPrecedes(oldest, next_xid))
		return;
	for (int i = 0; i < *count; i++)
	{
		if (holders[i].pid == pid && holders[i].dboid == dboid && holders[i].oldest == oldest)
			return;
	}
	holders[*count].pid = pid;
	holders[*count].dboid = dboid;
	holders[*count].oldest = oldest;
	holders[(*count)++].age = behind_by(next_xid, oldest);
}

HorizonHolder *
horizon_holders(int *count)
{
	TransactionId next_xid = ReadNextTransactionId();
	int			n;
	Member	   *members = read_members(&n);
	HorizonHolder *holders = palloc(sizeof(HorizonHolder) * Max(2 * n, 1));

	*count = 0;
	for (int i = 0; i < n; i++)
	{
		const Member *m = &members[i];
		const Member *source;
		TransactionId oldest = older(next_xid, m->xid);

		CHECK_FOR_INTERRUPTS();
		if (m->pid == MyProcPid)
			continue;
		source = inherited_from(members, n, m);
		if (source == NULL)
			oldest = older(oldest, m->xmin);
		else if (source->dboid != m->dboid && source->dboid != InvalidOid)
			add_holder(holders, count, source->pid, m->dboid, m->xmin, next_xid);

		/* in their own database pg_prepared_xacts shows them */
		if (m->pid != 0)
			add_holder(holders, count, m->pid, m->dboid, oldest, next_xid);
	}
	pfree(members);
	return holders;
}
