/*
 * clean_btree.c
 *		Removes entries of dead rows from a btree, each found by its key.
 *
 * The entries come in the order of the index.  The tree is descended for the
 * first one, and all that belong on the same leaf are removed at once, with
 * VACUUM's own record (_bt_delitems_vacuum).  The leaf is under a cleanup
 * lock, as in VACUUM: no scan holds a pin on it, and none can return from it
 * a row that is removed here.  It is taken only if it is free.
 *
 * The caller has the table locked against VACUUM, so no page of the index is
 * deleted meanwhile.  A leaf may be split before it is locked.  Then the
 * entry is to the right.
 *
 * A leaf is not emptied: only VACUUM deletes empty pages, and it only looks
 * for them when there is something to be removed.
 *
 * Sources: nbtree/README and "Efficient locking for concurrent operations on
 * B-trees" (Lehman and Yao, 1981).
 */
#include "clean_btree.h"

#include "access/nbtree.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "clean_compat.h"
#include "clean_point.h"

/*
 * After so many entries a leaf is let go.  Where somebody else has removed them
 * already, any number of them may belong on the last one.
 */
#define LOOKED_FOR_LIMIT	MaxTIDsPerBTreePage

/* What is to be removed from one leaf. */
typedef struct Leaf
{
	Buffer		buffer;
	int			ndeletable;
	int			nupdatable;
	int			nrows;
	OffsetNumber deletable[MaxIndexTuplesPerPage];
	BTVacuumPosting updatable[MaxIndexTuplesPerPage];
	CleanRow   *rows[LOOKED_FOR_LIMIT]; /* of which it is */
} Leaf;

/* The entry that is looked for, NULL at the end. */
typedef struct Wanted
{
	IndexTuple	tuple;
	BTScanInsert key;
	MemoryContext context;		/* of the key */
} Wanted;

static void
next_wanted(Wanted *wanted, Tuplesortstate *entries, Relation index)
{
	MemoryContext old;

	/* a comparison may keep things beside its key */
	MemoryContextReset(wanted->context);
	wanted->tuple = tuplesort_getindextuple(entries, true);
	old = MemoryContextSwitchTo(wanted->context);
	wanted->key = wanted->tuple != NULL ? _bt_mkscankey(index, wanted->tuple) : NULL;
	MemoryContextSwitchTo(old);
}

/*
 * The leaf for that key, under a cleanup lock, or InvalidBuffer if there is
 * none.  If somebody has it pinned, it is locked for reading, and *pinned set.
 */
static Buffer
lock_leaf(CleanTarget *target, Relation index, BTScanInsert key, bool *pinned)
{
	Buffer		buffer = compat_bt_search(index, target->heap, key);

	*pinned = false;
	if (!BufferIsValid(buffer))
		return InvalidBuffer;
	_bt_unlockbuf(index, buffer);
	for (;;)
	{
		Page		page;
		BlockNumber right;

		if (!ConditionalLockBufferForCleanup(buffer))
		{
			*pinned = true;
			_bt_lockbuf(index, buffer, BT_READ);
			return buffer;
		}
		_bt_checkpage(index, buffer);
		page = BufferGetPage(buffer);
		if (!P_IGNORE(BTPageGetOpaque(page)) && !clean_key_is_to_the_right(index, key, page))
			return buffer;
		if (P_RIGHTMOST(BTPageGetOpaque(page)))
		{
			UnlockReleaseBuffer(buffer);
			return InvalidBuffer;
		}
		right = BTPageGetOpaque(page)->btpo_next;
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
		buffer = ReadBuffer(index, right);
	}
}

/*
 * The entry with that key and row pointer, exactly, or InvalidOffsetNumber.
 * In a posting list it compares equal when the pointer is within its range.
 */
static OffsetNumber
find_entry(Relation index, BTScanInsert key, Page page)
{
	OffsetNumber low = P_FIRSTDATAKEY(BTPageGetOpaque(page));
	OffsetNumber high = PageGetMaxOffsetNumber(page);

	while (low <= high)
	{
		OffsetNumber middle = low + (high - low) / 2;
		int32		order = _bt_compare(index, key, page, middle);

		if (order == 0)
			return middle;
		if (order > 0)
			low = middle + 1;
		else
			high = middle - 1;
	}
	return InvalidOffsetNumber;
}

/* Where in a posting list is the row pointer?  -1 if it is not. */
static int
place_in_posting(IndexTuple posting, ItemPointer tid)
{
	int			low = 0;
	int			high = BTreeTupleGetNPosting(posting) - 1;

	while (low <= high)
	{
		int			middle = low + (high - low) / 2;
		int32		order = ItemPointerCompare(tid, BTreeTupleGetPostingN(posting, middle));

		if (order == 0)
			return middle;
		if (order > 0)
			low = middle + 1;
		else
			high = middle - 1;
	}
	return -1;
}

/* Returns false if the row pointer is not in that entry. */
static bool
take_from_posting(Leaf *leaf, OffsetNumber offset, IndexTuple posting, ItemPointer tid)
{
	int			place = place_in_posting(posting, tid);
	BTVacuumPosting update = leaf->nupdatable > 0 ? leaf->updatable[leaf->nupdatable - 1] : NULL;

	if (place < 0 || (update != NULL && update->updatedoffset > offset))
		return false;
	if (update != NULL && update->updatedoffset == offset &&
		update->deletetids[update->ndeletedtids - 1] >= place)
		return false;
	if (update == NULL || update->updatedoffset != offset)
	{
		update = palloc(offsetof(BTVacuumPostingData, deletetids) +
						BTreeTupleGetNPosting(posting) * sizeof(uint16));
		update->itup = posting;
		update->updatedoffset = offset;
		update->ndeletedtids = 0;
		leaf->updatable[leaf->nupdatable++] = update;
	}
	update->deletetids[update->ndeletedtids++] = place;
	return true;
}

/*
 * Returns false if there is no such entry.  Nor is there one out of order: with
 * a comparison that contradicts itself a search may end anywhere, and what is
 * removed must be in the order of the page.
 */
static bool
take_entry(Leaf *leaf, Relation index, const Wanted *wanted)
{
	Page		page = BufferGetPage(leaf->buffer);
	OffsetNumber offset = find_entry(index, wanted->key, page);
	IndexTuple	found;

	if (offset == InvalidOffsetNumber)
		return false;
	found = (IndexTuple) PageGetItem(page, PageGetItemId(page, offset));
	if (BTreeTupleIsPosting(found))
		return take_from_posting(leaf, offset, found, &wanted->tuple->t_tid);
	if (!ItemPointerEquals(&found->t_tid, &wanted->tuple->t_tid) ||
		(leaf->ndeletable > 0 && leaf->deletable[leaf->ndeletable - 1] >= offset))
		return false;
	leaf->deletable[leaf->ndeletable++] = offset;
	return true;
}

/* Posting lists of which nothing remains are removed whole, each at its place. */
static void
drop_empty_postings(Leaf *leaf)
{
	OffsetNumber merged[MaxIndexTuplesPerPage];
	int			ndeletable = 0;
	int			nupdatable = 0;
	int			next = 0;

	for (int i = 0; i < leaf->nupdatable; i++)
	{
		BTVacuumPosting update = leaf->updatable[i];

		if (update->ndeletedtids < BTreeTupleGetNPosting(update->itup))
		{
			leaf->updatable[nupdatable++] = update;
			continue;
		}
		while (next < leaf->ndeletable && leaf->deletable[next] < update->updatedoffset)
			merged[ndeletable++] = leaf->deletable[next++];
		merged[ndeletable++] = update->updatedoffset;
		pfree(update);
	}
	while (next < leaf->ndeletable)
		merged[ndeletable++] = leaf->deletable[next++];
	memcpy(leaf->deletable, merged, sizeof(OffsetNumber) * ndeletable);
	leaf->ndeletable = ndeletable;
	leaf->nupdatable = nupdatable;
}

static void
remove_entries(Leaf *leaf, Relation index, CleanCounts *counts)
{
	Page		page = BufferGetPage(leaf->buffer);
	int			there = PageGetMaxOffsetNumber(page) - P_FIRSTDATAKEY(BTPageGetOpaque(page)) + 1;

	if (leaf->nrows == 0)
		return;
	drop_empty_postings(leaf);
	if (leaf->ndeletable == there)
		counts->leaves_emptied++;
	else
	{
		_bt_delitems_vacuum(index, leaf->buffer, leaf->deletable, leaf->ndeletable,
							leaf->updatable, leaf->nupdatable);
		counts->leaves++;
		counts->entries += leaf->nrows;
		for (int i = 0; i < leaf->nrows; i++)
			leaf->rows[i]->removed++;
	}
	for (int i = 0; i < leaf->nupdatable; i++)
		pfree(leaf->updatable[i]);
}

void
clean_btree(CleanRows *rows, CleanTarget *target, int which, CleanCounts *counts)
{
	Relation	index = target->indexes[which].rel;
	Tuplesortstate *entries = rows->entries[which];
	Leaf	   *leaf = palloc(sizeof(Leaf));
	Wanted		wanted = {0};

	wanted.context = AllocSetContextCreate(CurrentMemoryContext, "key of an entry",
										   ALLOCSET_SMALL_SIZES);
	tuplesort_performsort(entries);
	CLEAN_POINT("entries_sorted");
	next_wanted(&wanted, entries, index);
	while (wanted.tuple != NULL)
	{
		int			looked_for = 0;
		bool		pinned;

		compat_vacuum_delay_point();
		leaf->buffer = lock_leaf(target, index, wanted.key, &pinned);
		if (!BufferIsValid(leaf->buffer))
		{
			counts->entries_not_found++;
			next_wanted(&wanted, entries, index);
			continue;
		}
		if (pinned)
		{
			counts->leaves_pinned++;
			do
				next_wanted(&wanted, entries, index);
			while (wanted.tuple != NULL && ++looked_for < LOOKED_FOR_LIMIT &&
				   !clean_key_is_to_the_right(index, wanted.key, BufferGetPage(leaf->buffer)));
			_bt_relbuf(index, leaf->buffer);
			continue;
		}
		leaf->ndeletable = leaf->nupdatable = leaf->nrows = 0;
		do
		{
			if (take_entry(leaf, index, &wanted))
				leaf->rows[leaf->nrows++] = clean_rows_find(rows, &wanted.tuple->t_tid);
			else
				counts->entries_not_found++;
			next_wanted(&wanted, entries, index);
		} while (wanted.tuple != NULL && ++looked_for < LOOKED_FOR_LIMIT &&
				 !clean_key_is_to_the_right(index, wanted.key, BufferGetPage(leaf->buffer)));
		remove_entries(leaf, index, counts);
		UnlockReleaseBuffer(leaf->buffer);
		CLEAN_POINT("leaf_done");
	}
	pfree(leaf);
	MemoryContextDelete(wanted.context);
}
