/*
 * clean_recycle.c
 *		Row pointers whose entries were removed become usable again, later.
 *
 * Why later: an index-only scan may have read an entry before it was removed,
 * and then it does not look at the row if the page is all-visible.  VACUUM
 * takes a cleanup lock on every leaf before it recycles a row pointer, so it
 * meets the scan's pin, wherever a page split has moved the entry.  We lock
 * only the leaf that has the entry.  So we wait until every transaction that
 * could have read it has ended.  A vacuum of another table does not scan this
 * one, but for a function in an index expression that reads tables although it
 * is called immutable; its snapshot is not protected from VACUUM either.
 *
 * Why only if the page's LSN is as it was: meanwhile a VACUUM may have
 * recycled the row pointer, another row may have taken it, and died.  Its
 * entry is still in the indexes.  Only VACUUM recycles a row pointer, and that
 * changes the LSN of its page, since the table is logged.
 */
#include "clean_recycle.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "pgstat.h"

#include "clean_compat.h"
#include "clean_point.h"

/* test/t/047_clean_races.pl shows what happens without either guard. */
#ifdef CLEAN_WITHOUT_LSN_CHECK
#define PAGE_IS_AS_IT_WAS(page, row)	true
#else
#define PAGE_IS_AS_IT_WAS(page, row)	(PageGetLSN(page) == (row)->lsn)
#endif
#ifdef CLEAN_WITHOUT_EPOCH
#define WAITS_FOR_EPOCH	false
#else
#define WAITS_FOR_EPOCH	true
#endif

CleanBatch *
clean_batch_make(const CleanRow *rows, int count)
{
	CleanBatch *batch = palloc0(sizeof(CleanBatch));

	batch->rows = palloc(sizeof(CleanRow) * Max(count, 1));
	memcpy(batch->rows, rows, sizeof(CleanRow) * count);
	batch->count = count;
	batch->epoch.next_xid = ReadNextTransactionId();
	batch->epoch.running = GetCurrentVirtualXIDs(InvalidTransactionId, false, false, PROC_IN_VACUUM,
												 &batch->epoch.nrunning);
	return batch;
}

void
clean_batch_free(CleanBatch *batch)
{
	pfree(batch->epoch.running);
	pfree(batch->rows);
	pfree(batch);
}

/* One page of the free space map covers about so many of the table. */
#define MAP_PAGE_COVERS	4000

/*
 * The space of each page was noted on its own page of the map.  Whoever
 * inserts begins at the root.  Pages of the map between distant rows are not
 * looked at: of a large table they would be many.
 */
void
clean_tell_space(Relation heap, const CleanRow *rows, int count)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(heap);
	int			first = 0;

	for (int i = 0; i < count; i++)
	{
		BlockNumber block = ItemPointerGetBlockNumber(&rows[i].tid);

		CHECK_FOR_INTERRUPTS();
		if (block >= blocks)
			break;				/* a VACUUM has cut the file */
		if (i + 1 < count && ItemPointerGetBlockNumber(&rows[i + 1].tid) - block < MAP_PAGE_COVERS)
			continue;
		FreeSpaceMapVacuumRange(heap, ItemPointerGetBlockNumber(&rows[first].tid), block + 1);
		first = i + 1;
	}
}

static bool
is_among(VirtualTransactionId vxid, const VirtualTransactionId *others, int count)
{
	for (int i = 0; i < count; i++)
	{
		if (VirtualTransactionIdEquals(vxid, others[i]))
			return true;
	}
	return false;
}

bool
clean_batch_is_ripe(CleanBatch *batch, Relation heap)
{
	CleanEpoch *epoch = &batch->epoch;
	int			nrunning;
	VirtualTransactionId *running = GetCurrentVirtualXIDs(InvalidTransactionId, false, false, PROC_IN_VACUUM, &nrunning);
	int			left = 0;

	/* what has ended does not come again */
	for (int i = 0; i < epoch->nrunning; i++)
	{
		if (is_among(epoch->running[i], running, nrunning))
			epoch->running[left++] = epoch->running[i];
	}
	epoch->nrunning = left;
	pfree(running);
	/* a snapshot of the catalogs would be our own horizon */
	InvalidateCatalogSnapshot();
	return !WAITS_FOR_EPOCH || (left == 0 &&
								!TransactionIdPrecedes(GetOldestNonRemovableTransactionId(heap), epoch->next_xid));
}

/* The rows [first, end) are of one page. */
static void
recycle_page(const CleanBatch *batch, int first, int end, Relation heap, CleanCounts *counts)
{
	BlockNumber block = ItemPointerGetBlockNumber(&batch->rows[first].tid);
	Buffer		buffer;
	Page		page;
	OffsetNumber unused[MaxHeapTuplesPerPage];
	int			count = 0;
	Size		space;

	CLEAN_POINT("page_before_recycling");
	buffer = ReadBuffer(heap, block);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	page = BufferGetPage(buffer);
	for (int i = first; i < end; i++)
	{
		OffsetNumber offset = ItemPointerGetOffsetNumber(&batch->rows[i].tid);

		/* the second can only be false if the first is, but it costs nothing */
		if (PAGE_IS_AS_IT_WAS(page, &batch->rows[i]) && offset <= PageGetMaxOffsetNumber(page) &&
			ItemIdIsDead(PageGetItemId(page, offset)) && !ItemIdHasStorage(PageGetItemId(page, offset)))
			unused[count++] = offset;
	}
	if (count < end - first)
		counts->pages_changed++;
	if (count == 0)
	{
		UnlockReleaseBuffer(buffer);
		return;
	}

	START_CRIT_SECTION();
	for (int i = 0; i < count; i++)
		ItemIdSetUnused(PageGetItemId(page, unused[i]));
	PageTruncateLinePointerArray(page);
	MarkBufferDirty(buffer);
	CLEAN_POINT("page_not_logged");
	compat_log_unused(heap, buffer, unused, count);
	CLEAN_POINT("page_logged");
	END_CRIT_SECTION();

	space = PageGetHeapFreeSpace(page);
	UnlockReleaseBuffer(buffer);
	RecordPageWithFreeSpace(heap, block, space);
	pgstat_update_heap_dead_tuples(heap, count);
	counts->recycled += count;
	CLEAN_POINT("page_recycled");
}

void
clean_batch_recycle(const CleanBatch *batch, Relation heap, CleanCounts *counts)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(heap);
	int			first = 0;

	while (first < batch->count)
	{
		BlockNumber block = ItemPointerGetBlockNumber(&batch->rows[first].tid);
		int			end = first + 1;

		while (end < batch->count && ItemPointerGetBlockNumber(&batch->rows[end].tid) == block)
			end++;
		compat_vacuum_delay_point();
		CHECK_FOR_INTERRUPTS();
		if (block < blocks)		/* else a VACUUM has cut the file */
			recycle_page(batch, first, end, heap, counts);
		first = end;
	}
	CLEAN_POINT("all_recycled");
	clean_tell_space(heap, batch->rows, batch->count);
	CLEAN_POINT("space_known");
}
