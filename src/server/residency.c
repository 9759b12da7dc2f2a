/*
 * residency.c
 *		How much of a table is in shared buffers.
 *
 * For workers and views.  It looks up a sample of the pages in the server's
 * own buffer table, and takes one partition lock of that, shared, for each
 * look.  It pins only pages of the visibility map.
 */
#include "server/residency.h"

#include "access/visibilitymap.h"
#include "miscadmin.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"

#include "server/compat.h"

/*
 * New pages are at the table's end, so it looks back from there.  2 GB take
 * some milliseconds.
 */
#define WINDOW_PAGES	(256 * 1024)
#define SAMPLE_PAGES	256

static bool
is_in_buffers(Relation rel, BlockNumber block)
{
	BufferTag	tag;
	uint32		hash;
	LWLock	   *lock;
	int			buffer;

	compat_buffer_tag(&tag, rel, block);
	hash = BufTableHashCode(&tag);
	lock = BufMappingPartitionLock(hash);
	LWLockAcquire(lock, LW_SHARED);
	buffer = BufTableLookup(&tag, hash);
	LWLockRelease(lock);
	return buffer >= 0;
}

int64
residency_of_unfrozen(Relation rel, int64 pages, int64 unfrozen)
{
	int64		every = Max(unfrozen / SAMPLE_PAGES, 1);
	int64		last = Max(pages - WINDOW_PAGES, 0);
	int64		found = 0;
	int64		sampled = 0;
	int64		resident = 0;
	Buffer		map = InvalidBuffer;

	for (int64 block = pages - 1; block >= last && found < unfrozen; block--)
	{
		uint8		status;

		CHECK_FOR_INTERRUPTS();
		status = visibilitymap_get_status(rel, (BlockNumber) block, &map);
		if ((status & VISIBILITYMAP_ALL_VISIBLE) == 0 || (status & VISIBILITYMAP_ALL_FROZEN) != 0)
			continue;
		if (found++ % every != 0)
			continue;
		sampled++;
		resident += is_in_buffers(rel, (BlockNumber) block);
	}
	if (map != InvalidBuffer)
		ReleaseBuffer(map);
	return sampled > 0 ? found * resident / sampled : 0;
}
