/*
 * clean_cost.c
 *		Does it cost any I/O to change a page, or to remove an index entry?
 *
 * To change a page that is in memory, has been changed since it was written
 * and since the last checkpoint began, costs nothing but a small record: it
 * will be written once, with this change or without it, and its full-page
 * image is in WAL already.  A row that was updated has its entries beside the
 * new ones, on such pages.  A row that was deleted has not: its leaves were
 * not touched, but for that of the index by which it was found.
 *
 * All this is a hint.  A page may leave the memory and a checkpoint may begin
 * right afterwards.  Then it costs a read or an image, and nothing is wrong.
 */
#include "clean_cost.h"

#include "access/nbtree.h"
#include "access/xlog.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"

#include "clean_compat.h"

XLogRecPtr
clean_cost_moment(void)
{
	return fullPageWrites ? GetRedoRecPtr() : InvalidXLogRecPtr;
}

bool
clean_cost_page_is_free(Buffer buffer, XLogRecPtr moment)
{
	return compat_buffer_is_dirty(buffer) && BufferGetLSNAtomic(buffer) > moment;
}

/* In which buffer is that block?  InvalidBuffer if it is in none. */
static Buffer
buffer_of(Relation rel, BlockNumber block)
{
	BufferTag	tag;
	uint32		hash;
	LWLock	   *lock;
	int			id;

	compat_buffer_tag(&tag, rel, block);
	hash = BufTableHashCode(&tag);
	lock = BufMappingPartitionLock(hash);
	LWLockAcquire(lock, LW_SHARED);
	id = BufTableLookup(&tag, hash);
	LWLockRelease(lock);
	return id >= 0 ? id + 1 : InvalidBuffer;
}

/* The last item of an inner page that is below the key. */
static OffsetNumber
child_for(Relation index, BTScanInsert key, Page page)
{
	OffsetNumber low = P_FIRSTDATAKEY(BTPageGetOpaque(page));
	OffsetNumber high = PageGetMaxOffsetNumber(page);

	/* the first one counts as below everything */
	while (low < high)
	{
		OffsetNumber middle = low + (high - low + 1) / 2;

		if (_bt_compare(index, key, page, middle) > 0)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* More pages than any search meets, but in a circle of damaged links. */
#define STEPS_MOST	1000

/* The leaf for that key.  InvalidBlockNumber if the index is empty or damaged. */
static BlockNumber
leaf_of(Relation index, Relation heap, BTScanInsert key)
{
	Buffer		buffer = compat_bt_root(index, heap);
	BlockNumber leaf = InvalidBlockNumber;

	for (int steps = 0; BufferIsValid(buffer) && steps < STEPS_MOST; steps++)
	{
		Page		page = BufferGetPage(buffer);
		BTPageOpaque opaque = BTPageGetOpaque(page);
		BlockNumber next;

		if (P_ISLEAF(opaque))
		{
			leaf = BufferGetBlockNumber(buffer);
			break;
		}
		if (P_IGNORE(opaque) || clean_key_is_to_the_right(index, key, page))
		{
			if (P_RIGHTMOST(opaque))
				break;
			next = opaque->btpo_next;
		}
		else
		{
			if (PageGetMaxOffsetNumber(page) < P_FIRSTDATAKEY(opaque))
				break;
			next = BTreeTupleGetDownLink((IndexTuple) PageGetItem(page, PageGetItemId(page, child_for(index, key, page))));
			if (opaque->btpo_level == 1)
			{
				leaf = next;
				break;
			}
		}
		buffer = _bt_relandgetbuf(index, buffer, next, BT_READ);
	}
	if (BufferIsValid(buffer))
		_bt_relbuf(index, buffer);
	return leaf;
}

bool
clean_cost_entry_is_free(CleanTarget *target, int which, IndexTuple entry, XLogRecPtr moment)
{
	Relation	index = target->indexes[which].rel;
	BTScanInsert key = _bt_mkscankey(index, entry);
	BlockNumber leaf;
	Buffer		buffer;
	bool		is_free;

	leaf = leaf_of(index, target->heap, key);
	pfree(key);
	if (leaf == InvalidBlockNumber)
		return false;
	buffer = buffer_of(index, leaf);
	if (!BufferIsValid(buffer) || !compat_read_recent(index, leaf, buffer))
		return false;
	is_free = clean_cost_page_is_free(buffer, moment);
	ReleaseBuffer(buffer);
	return is_free;
}
