/*
 * horizon.c
 *		From which transaction on nothing can be removed, in any database.
 *
 * Core's GetOldestNonRemovableTransactionId() answers only for the database of
 * the asking process.  The launcher is in none and asks for all.
 *
 * Source: ComputeXidHorizons() in PostgreSQL's procarray.c (15 to 19).
 */
#include "horizon.h"

#include "access/twophase.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/snapmgr.h"

#include "compat.h"

static TransactionId
older(TransactionId a, TransactionId b)
{
	if (!TransactionIdIsNormal(b))
		return a;
	return TransactionIdPrecedes(b, a) ? b : a;
}

/*
 * Is there a process?  A walsender that left keeps the xmin that its standby
 * had sent; only the latch says that it is gone (InitProcess(), ProcKill()).
 */
static bool
is_in_use(volatile PGPROC *proc)
{
	return proc->procLatch.owner_pid != 0;
}

/* Vacuums, and decoding, whose snapshots are of catalogs: the slot holds those. */
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
 * The oldest transaction that this process needs rows of that database for, or
 * next_xid.
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
 * Is there such a transaction?  Its entry keeps the id when it has ended,
 * but the dense array no longer has that id at its place.
 */
static bool
is_prepared(volatile PGPROC *proc)
{
	return TransactionIdIsNormal(proc->xid) &&
		ProcGlobal->xids[proc->pgxactoff] == proc->xid;
}

/* None is more than 2^31 behind, or the server would have stopped. */
static uint64
behind_by(TransactionId next_xid, TransactionId xid)
{
	return TransactionIdIsNormal(xid) ? (uint32) (next_xid - xid) : 0;
}

/* catalog: for what logical decoding reads as well, see GlobalVisHorizonKindForRel(). */
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

	behind = behind_by(next_xid, horizon) + compat_defer_cleanup_age();

	ProcArrayGetReplicationSlotXmin(&slot_xmin, &slot_catalog_xmin);
	behind = Max(behind, behind_by(next_xid, slot_xmin));
	if (catalog || dboid == InvalidOid)
		behind = Max(behind, behind_by(next_xid, slot_catalog_xmin));

	return FullTransactionIdFromU64(U64FromFullTransactionId(next) -
									Min(behind, U64FromFullTransactionId(next)));
}

/* What this process holds beyond the statement that asks. */
static TransactionId
oldest_of_myself(volatile PGPROC *proc, TransactionId next_xid)
{
	TransactionId oldest = older(next_xid, proc->xid);

	return IsolationUsesXactSnapshot() ? older(oldest, proc->xmin) : oldest;
}

HorizonHolder *
horizon_holders(int *count)
{
	TransactionId next_xid = ReadNextTransactionId();
	HorizonHolder *holders = palloc(sizeof(HorizonHolder) * ProcGlobal->allProcCount);
	int			n = 0;

	LWLockAcquire(ProcArrayLock, LW_SHARED);
	for (uint32 i = 0; i < ProcGlobal->allProcCount; i++)
	{
		volatile PGPROC *proc = &ProcGlobal->allProcs[i];
		TransactionId oldest;

		if (!is_in_use(proc) || proc->pid == 0 || is_left_out(proc))
			continue;
		oldest = proc->pid == MyProcPid ? oldest_of_myself(proc, next_xid) :
			older(older(next_xid, proc->xid), proc->xmin);
		if (!TransactionIdPrecedes(oldest, next_xid))
			continue;
		holders[n].pid = proc->pid;
		holders[n].dboid = is_for_all(proc) ? InvalidOid : proc->databaseId;
		holders[n].oldest = oldest;
		holders[n++].age = behind_by(next_xid, oldest);
	}
	LWLockRelease(ProcArrayLock);
	*count = n;
	return holders;
}
