/*
 * peek.c
 *		A table opened for a short look, if nothing is in the way.  Or its row
 *		in pg_class.
 *
 * For workers and views.  It takes AccessShareLock, only if that is free.  A
 * table whose file is missing or cannot be read cannot be looked at.  Its own
 * vacuum may fail because of that.  But a worker's look at all tables of the
 * database must not fail, or nothing there would be vacuumed any more.
 */
#include "server/peek.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "storage/smgr.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/relcache.h"
#include "utils/resowner.h"

Relation
peek_open(Oid relid)
{
	Relation	rel;

	if (!ConditionalLockRelationOid(relid, AccessShareLock))
		return NULL;
	rel = try_relation_open(relid, NoLock);
	if (rel == NULL)
	{
		UnlockRelationOid(relid, AccessShareLock);
		return NULL;
	}
	if (!RELKIND_HAS_STORAGE(rel->rd_rel->relkind) ||
		!smgrexists(RelationGetSmgr(rel), MAIN_FORKNUM))
	{
		peek_close(rel);
		return NULL;
	}
	return rel;
}

/*
 * A survey may look at all tables and indexes of a database.  So what is known
 * of them is not kept, unless it is used beside.  What this transaction has
 * made or written anew stays known.
 */
void
peek_close(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	bool		used = rel->rd_refcnt > 1 || IsCatalogRelationOid(relid);

	relation_close(rel, NoLock);
	if (!used)
		RelationCacheInvalidateEntry(relid);
	UnlockRelationOid(relid, AccessShareLock);
}

bool
peek_row_is_free(Oid relid)
{
	Relation	rel = table_open(RelationRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		is_free = true;

	ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(rel, ClassOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	/* this looks at the row in its buffer, which a syscache would have copied */
	if (HeapTupleIsValid(tuple))
	{
		HeapTupleHeader header = tuple->t_data;

		if ((header->t_infomask & HEAP_XMAX_INVALID) == 0 &&
			!HEAP_XMAX_IS_LOCKED_ONLY(header->t_infomask))
			is_free = !TransactionIdIsInProgress(HeapTupleHeaderGetUpdateXid(header));
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return is_free;
}

/*
 * A subtransaction lets go of what look() held.  Before 17 there may be none
 * while a query runs in parallel.  Then nothing is looked at.
 */
PeekResult
peek(Oid relid, void (*look) (Relation rel, void *arg), void *arg)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile PeekResult result = PEEK_NOT_FREE;

	if (IsInParallelMode())
		return PEEK_NOT_FREE;
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		Relation	rel = peek_open(relid);

		if (rel != NULL)
		{
			look(rel, arg);
			peek_close(rel);
			result = PEEK_SEEN;
		}
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
			ReThrowError(error);
		FreeErrorData(error);
		result = PEEK_FAILED;
	}
	PG_END_TRY();
	return result;
}
