/*
 * clean_target.c
 *		A table that can be cleaned, open and locked with its indexes.
 *
 * The lock on the table is VACUUM's, ShareUpdateExclusiveLock.  So there is
 * no VACUUM beside us, which could delete a page of an index or recycle a row
 * pointer, and no CREATE INDEX CONCURRENTLY, which could be building an index
 * that we do not see.  All locks are taken only if they are free.
 */
#include "clean_target.h"

#include "access/genam.h"
#include "access/nbtree.h"
#include "access/tableam.h"
#include "catalog/catalog.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"

#include "clean_compat.h"

const char	clean_not_available[] = "lock not available";

static const char *
why_not_table(Relation heap)
{
	if (heap->rd_rel->relkind != RELKIND_RELATION && heap->rd_rel->relkind != RELKIND_MATVIEW)
		return "it is neither a table nor a materialized view";
	if (heap->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
		return "it is not logged, so nothing tells whether a page has changed";
	if (IsCatalogRelation(heap) || RelationIsUsedAsCatalogTable(heap))
		return "it is a catalog";
	if (heap->rd_tableam != GetHeapamTableAmRoutine())
		return "its table access method is not heap";
	return NULL;
}

/* Why can entries of this index not be found by their keys? */
static const char *
why_not_index(Relation index)
{
	bool		heapkeyspace;
	bool		allequalimage;

	if (index->rd_rel->relam != BTREE_AM_OID)
		return "it has an index that is neither btree nor BRIN";
	_bt_metaversion(index, &heapkeyspace, &allequalimage);
	if (!heapkeyspace)
		return "it has a btree from before PostgreSQL 12";
	return NULL;
}

/*
 * Opens all indexes into which rows are put, as VACUUM does.  One that is not
 * ready is what a failed CREATE INDEX CONCURRENTLY has left, and nobody will
 * read it.
 */
static const char *
open_indexes(CleanTarget *target)
{
	List	   *list = RelationGetIndexList(target->heap);
	const char *why = NULL;
	ListCell   *lc;

	foreach(lc, list)
	{
		Oid			indexid = lfirst_oid(lc);
		Relation	index;
		CleanIndex *slot;

		if (!ConditionalLockRelationOid(indexid, RowExclusiveLock))
			return clean_not_available;
		index = index_open(indexid, NoLock);
		if (!index->rd_index->indisready || index->rd_rel->relam == BRIN_AM_OID)
		{
			index_close(index, NoLock);
			continue;
		}
		why = target->btrees == CLEAN_INDEXES_MAX ? "it has too many indexes" : why_not_index(index);
		if (why != NULL)
		{
			index_close(index, NoLock);
			break;
		}
		slot = &target->indexes[target->btrees++];
		slot->rel = index;
		slot->info = BuildIndexInfo(index);
		slot->predicate = NULL;
	}
	list_free(list);
	if (why == NULL && target->btrees == 0)
		return "it has no btree index";
	return why;
}

static void
close_relations(CleanTarget *target)
{
	for (int i = 0; i < target->btrees; i++)
		index_close(target->indexes[i].rel, NoLock);
	table_close(target->heap, NoLock);
}

/*
 * Expressions and predicates are the owner's code.  It runs as VACUUM and
 * REINDEX run it.  That begins when an index is described: functions of
 * constants are evaluated then.
 */
static void
become_owner(CleanTarget *target)
{
	GetUserIdAndSecContext(&target->saved_user, &target->saved_security);
	SetUserIdAndSecContext(target->heap->rd_rel->relowner,
						   target->saved_security | SECURITY_RESTRICTED_OPERATION);
	target->guc_level = NewGUCNestLevel();
	compat_restrict_search_path();
}

static void
become_self(CleanTarget *target)
{
	AtEOXact_GUC(false, target->guc_level);
	SetUserIdAndSecContext(target->saved_user, target->saved_security);
}

static void
prepare_keys(CleanTarget *target)
{
	ExprContext *econtext;

	target->estate = CreateExecutorState();
	econtext = GetPerTupleExprContext(target->estate);
	target->slot = MakeSingleTupleTableSlot(RelationGetDescr(target->heap), &TTSOpsHeapTuple);
	econtext->ecxt_scantuple = target->slot;
	for (int i = 0; i < target->btrees; i++)
	{
		CleanIndex *index = &target->indexes[i];

		if (index->info->ii_Predicate != NIL)
			index->predicate = ExecPrepareQual(index->info->ii_Predicate, target->estate);
	}
}

bool
clean_target_open(Oid relid, CleanTarget *target, const char **why_not)
{
	memset(target, 0, sizeof(*target));
	if (!ConditionalLockRelationOid(relid, ShareUpdateExclusiveLock))
	{
		*why_not = clean_not_available;
		return false;
	}
	target->heap = try_relation_open(relid, NoLock);
	if (target->heap == NULL)
	{
		*why_not = "it is not there any more";
		return false;
	}
	*why_not = why_not_table(target->heap);
	if (*why_not != NULL)
	{
		table_close(target->heap, NoLock);
		return false;
	}
	become_owner(target);
	*why_not = open_indexes(target);
	if (*why_not != NULL)
	{
		become_self(target);
		close_relations(target);
		return false;
	}
	target->columns = RelationGetIndexAttrBitmap(target->heap, COMPAT_INDEXED_COLUMNS);
	/* brings what it tests against up to date */
	(void) GetOldestNonRemovableTransactionId(target->heap);
	target->vistest = GlobalVisTestFor(target->heap);
	prepare_keys(target);
	return true;
}

void
clean_target_close(CleanTarget *target)
{
	ExecDropSingleTupleTableSlot(target->slot);
	FreeExecutorState(target->estate);
	become_self(target);
	close_relations(target);
}
