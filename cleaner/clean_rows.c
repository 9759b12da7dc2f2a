/*
 * clean_rows.c
 *		Rows that died, and the keys under which indexes have them.
 *
 * A page is looked at in three steps, with a pin all the time:
 *
 * 1. Under a share lock: which HOT chains are dead as a whole?  Their last
 *    member is copied.
 * 2. Without a lock: the keys.  They may be computed by code of the owner,
 *    which may raise an error.  Then nothing has been changed.
 * 3. Under a cleanup lock, taken only if it is free: the page is pruned.
 *
 * Nobody else can prune between 1 and 3, because that takes a page that only
 * one process has pinned.  So what was dead then becomes LP_DEAD now.
 */
#include "clean_rows.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/itup.h"
#include "access/sysattr.h"
#include "access/transam.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "utils/memutils.h"

#include "clean_compat.h"
#include "clean_cost.h"
#include "clean_point.h"

/* A row of one page, with its keys. */
typedef struct DeadRow
{
	OffsetNumber root;
	HeapTuple	tuple;
	bool		is_free;		/* it takes no I/O to remove its entries */
	Datum	   *values[CLEAN_INDEXES_MAX];	/* NULL: not in that index */
	bool	   *isnull[CLEAN_INDEXES_MAX];
} DeadRow;

typedef struct DeadPage
{
	int			count;
	int			left;			/* of which the keys cannot be computed */
	int			hot;			/* dead members of chains that live */
	DeadRow		rows[MaxHeapTuplesPerPage];
} DeadPage;

void
clean_rows_begin(CleanRows *rows, CleanTarget *target, int limit, int work_mem, bool only_free)
{
	rows->only_free = only_free;
	rows->page = palloc(sizeof(DeadPage));
	rows->limit = limit;
	rows->count = 0;
	rows->rows = palloc(sizeof(CleanRow) * limit);
	for (int i = 0; i < target->btrees; i++)
		rows->entries[i] = tuplesort_begin_index_btree(target->heap, target->indexes[i].rel, false, false,
													   Max(work_mem / target->btrees, 64), NULL,
													   TUPLESORT_NONE);
}

bool
clean_rows_have_room(const CleanRows *rows)
{
	return rows->count + MaxHeapTuplesPerPage <= rows->limit;
}

/* ----
 * 1. What is dead
 * ----
 */

static bool
is_dead(HeapTuple tuple, Buffer buffer, GlobalVisState *vistest)
{
	TransactionId dead_after;

	switch (HeapTupleSatisfiesVacuumHorizon(tuple, buffer, &dead_after))
	{
		case HEAPTUPLE_DEAD:
			return true;
		case HEAPTUPLE_RECENTLY_DEAD:
			return compat_is_removable(vistest, dead_after);
		default:
			return false;
	}
}

static void
point_at(HeapTuple tuple, Relation heap, Buffer buffer, OffsetNumber offset)
{
	Page		page = BufferGetPage(buffer);
	ItemId		item = PageGetItemId(page, offset);

	tuple->t_data = (HeapTupleHeader) PageGetItem(page, item);
	tuple->t_len = ItemIdGetLength(item);
	tuple->t_tableOid = RelationGetRelid(heap);
	ItemPointerSet(&tuple->t_self, BufferGetBlockNumber(buffer), offset);
}

/*
 * Follows the HOT chain that begins at a root.  If all its members are dead,
 * `last` is the last one, whose keys all indexes have: an index that was
 * built since has only these, and for an older one a HOT update changes none.
 * If one lives, *hot counts the dead ones before it.
 */
static bool
chain_is_dead(Relation heap, Buffer buffer, OffsetNumber root, GlobalVisState *vistest,
			  HeapTuple last, int *hot)
{
	Page		page = BufferGetPage(buffer);
	OffsetNumber offset = root;
	TransactionId updated_by = InvalidTransactionId;
	int			found = 0;

	/* no chain is longer than its page has items */
	for (int i = 0; i < MaxHeapTuplesPerPage; i++)
	{
		ItemId		item;
		HeapTupleData tuple;

		if (offset < FirstOffsetNumber || offset > PageGetMaxOffsetNumber(page))
			break;
		item = PageGetItemId(page, offset);
		if (ItemIdIsRedirected(item) && i == 0)
		{
			offset = ItemIdGetRedirect(item);
			continue;
		}
		if (!ItemIdIsNormal(item))
			break;
		point_at(&tuple, heap, buffer, offset);
		/* what begins a chain of its own, or belongs to another one */
		if (HeapTupleHeaderIsHeapOnly(tuple.t_data) != (offset != root))
			break;
		if (TransactionIdIsValid(updated_by) &&
			!TransactionIdEquals(HeapTupleHeaderGetXmin(tuple.t_data), updated_by))
			break;
		if (!is_dead(&tuple, buffer, vistest))
		{
			*hot += found;
			return false;
		}
		*last = tuple;
		found++;
		if (!HeapTupleHeaderIsHotUpdated(tuple.t_data))
			break;
		updated_by = HeapTupleHeaderGetUpdateXid(tuple.t_data);
		offset = ItemPointerGetOffsetNumber(&tuple.t_data->t_ctid);
	}
	return found > 0;
}

/*
 * Has the row a value in the TOAST table that an index needs?  That may have
 * been vacuumed away already.
 */
static bool
needs_toast(const CleanTarget *target, HeapTuple tuple)
{
	TupleDesc	desc = RelationGetDescr(target->heap);
	bool		needs = false;
	int			column = -1;

	if (!HeapTupleHasExternal(tuple))
		return false;
	while (!needs && (column = bms_next_member(target->columns, column)) >= 0)
	{
		AttrNumber	number = column + FirstLowInvalidHeapAttributeNumber;
		bool		isnull;
		Datum		value;

		if (number == InvalidAttrNumber)
			needs = true;		/* an expression takes the whole row */
		else if (number > 0 && TupleDescAttr(desc, number - 1)->attlen == -1)
		{
			value = heap_getattr(tuple, number, desc, &isnull);
			needs = !isnull && VARATT_IS_EXTERNAL(DatumGetPointer(value));
		}
	}
	return needs;
}

/*
 * Was the row ever committed?  One of a transaction that was aborted may have
 * been made with columns that were never committed either.  Its values must
 * not be looked at.
 */
static bool
was_committed(HeapTuple tuple)
{
	return HeapTupleHeaderXminFrozen(tuple->t_data) ||
		TransactionIdDidCommit(HeapTupleHeaderGetRawXmin(tuple->t_data));
}

static void
find_dead(DeadPage *dead, const CleanTarget *target, Buffer buffer, CleanCounts *counts)
{
	Page		page = BufferGetPage(buffer);
	OffsetNumber last_offset = PageGetMaxOffsetNumber(page);

	if (PageIsNew(page) || PageIsAllVisible(page))
		return;
	for (OffsetNumber offset = FirstOffsetNumber; offset <= last_offset; offset++)
	{
		ItemId		item = PageGetItemId(page, offset);
		HeapTupleData last;

		if (!ItemIdIsNormal(item) && !ItemIdIsRedirected(item))
			continue;
		if (ItemIdIsNormal(item) &&
			HeapTupleHeaderIsHeapOnly((HeapTupleHeader) PageGetItem(page, item)))
			continue;
		if (!chain_is_dead(target->heap, buffer, offset, target->vistest, &last, &dead->hot))
			continue;
		if (!was_committed(&last) || needs_toast(target, &last))
		{
			dead->left++;
			continue;
		}
		dead->rows[dead->count].root = offset;
		dead->rows[dead->count].tuple = heap_copytuple(&last);
		dead->count++;
	}
}

/* ----
 * 2. Keys
 * ----
 */

static void
compute_keys(DeadRow *row, const CleanRows *rows, CleanTarget *target)
{
	ExprContext *econtext = GetPerTupleExprContext(target->estate);

	row->is_free = true;
	ExecStoreHeapTuple(row->tuple, target->slot, false);
	/* no key is needed of a row that will be left */
	for (int i = 0; i < target->btrees && row->is_free; i++)
	{
		CleanIndex *index = &target->indexes[i];
		TupleDesc	desc = RelationGetDescr(index->rel);
		IndexTuple	entry;

		row->values[i] = NULL;
		if (index->predicate != NULL && !ExecQual(index->predicate, econtext))
			continue;
		row->values[i] = palloc(sizeof(Datum) * desc->natts);
		row->isnull[i] = palloc(sizeof(bool) * desc->natts);
		FormIndexDatum(index->info, target->slot, target->estate, row->values[i], row->isnull[i]);

		/*
		 * if the entry would be too large, that is known before anything is
		 * changed
		 */
		entry = index_form_tuple(desc, row->values[i], row->isnull[i]);
		if (rows->only_free)
		{
			entry->t_tid = row->tuple->t_self;
			ItemPointerSetOffsetNumber(&entry->t_tid, row->root);
			row->is_free = clean_cost_entry_is_free(target, i, entry, rows->moment);
		}
		pfree(entry);
	}
	ExecClearTuple(target->slot);
}

/* ----
 * 3. Pruning
 * ----
 */

static void
keep(CleanRows *rows, CleanTarget *target, DeadRow *row, BlockNumber block, XLogRecPtr lsn)
{
	CleanRow   *kept = &rows->rows[rows->count++];

	ItemPointerSet(&kept->tid, block, row->root);
	kept->removed = 0;
	kept->lsn = lsn;
	for (int i = 0; i < target->btrees; i++)
	{
		if (row->values[i] != NULL)
			tuplesort_putindextuplevalues(rows->entries[i], target->indexes[i].rel, &kept->tid,
										  row->values[i], row->isnull[i]);
	}
}

static void
prune(CleanRows *rows, CleanTarget *target, DeadPage *dead, Buffer buffer, CleanCounts *counts)
{
	BlockNumber block = BufferGetBlockNumber(buffer);
	Page		page = BufferGetPage(buffer);
	Buffer		vmbuffer = InvalidBuffer;
	XLogRecPtr	lsn = InvalidXLogRecPtr;
	Size		space;
	int			left = 0;

	compat_pin_map(target->heap, block, &vmbuffer);
	if (!ConditionalLockBufferForCleanup(buffer))
	{
		counts->pages_pinned++;
		left = dead->count;
	}
	else
	{
		counts->rows_hot += compat_prune(target->heap, buffer, vmbuffer, target->vistest);
		lsn = PageGetLSN(page);
		for (int i = 0; i < dead->count; i++)
		{
			if (dead->rows[i].is_free && ItemIdIsDead(PageGetItemId(page, dead->rows[i].root)))
				dead->rows[i - left] = dead->rows[i];
			else
				left++;
		}
		space = PageGetHeapFreeSpace(page);
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		RecordPageWithFreeSpace(target->heap, block, space);
		CLEAN_POINT("page_pruned");
	}
	if (BufferIsValid(vmbuffer))
		ReleaseBuffer(vmbuffer);
	for (int i = 0; i < dead->count - left; i++)
		keep(rows, target, &dead->rows[i], block, lsn);
	counts->rows += dead->count - left;
}

/* Is there something to prune, which takes no I/O?  The caller has the page locked. */
static bool
has_free_garbage(Buffer buffer, const CleanRows *rows, const CleanTarget *target)
{
	TransactionId dead_since = ((PageHeader) BufferGetPage(buffer))->pd_prune_xid;

	return !PageIsAllVisible(BufferGetPage(buffer)) && TransactionIdIsValid(dead_since) &&
		compat_is_removable(target->vistest, dead_since) &&
		clean_cost_page_is_free(buffer, rows->moment);
}

void
clean_rows_take(CleanRows *rows, CleanTarget *target, Buffer buffer, CleanCounts *counts)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "dead rows of a page",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	DeadPage   *dead = rows->page;
	int			removable = 0;

	dead->count = dead->left = dead->hot = 0;
	if (rows->only_free)
		rows->moment = clean_cost_moment();
	counts->pages++;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (!rows->only_free || has_free_garbage(buffer, rows, target))
		find_dead(dead, target, buffer, counts);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	for (int i = 0; i < dead->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		compute_keys(&dead->rows[i], rows, target);
		removable += dead->rows[i].is_free;
	}
	MemoryContextSwitchTo(old);
	counts->rows_left += dead->left;
	counts->rows_costly += dead->count - removable;
	/* a page in memory may have nothing but dead members of HOT chains */
	if (removable > 0 || (rows->only_free && dead->hot > 0 && dead->count + dead->left == 0))
	{
		CLEAN_POINT("keys_computed");
		prune(rows, target, dead, buffer, counts);
	}
	ResetPerTupleExprContext(target->estate);
	MemoryContextDelete(context);
}

static int
compare_tids(const void *a, const void *b)
{
	return ItemPointerCompare((ItemPointer) &((const CleanRow *) a)->tid,
							  (ItemPointer) &((const CleanRow *) b)->tid);
}

CleanRow *
clean_rows_find(const CleanRows *rows, ItemPointer tid)
{
	CleanRow	wanted = {.tid = *tid};

	return bsearch(&wanted, rows->rows, rows->count, sizeof(CleanRow), compare_tids);
}
