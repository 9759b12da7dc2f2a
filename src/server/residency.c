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

/* The sample of a whole relation: so many stretches of so many pages. */
#define STRETCHES		64
#define STRETCH_PAGES	1024
#define PROBES			1024	/* of their pages are looked up, about */

/* Which buffer has that page, or -1. */
static int
find_buffer(Relation rel, BlockNumber block)
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
	return buffer;
}

static bool
is_in_buffers(Relation rel, BlockNumber block)
{
	return find_buffer(rel, block) >= 0;
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

/* ----
 * Samples of a whole relation
 * ----
 */

typedef struct Sampling
{
	Relation	rel;
	int64		every;			/* so many pages for one that is looked up */
	int64		looked_at;
	int64		not_visible;
	int64		between;
	int64		probed;
	int64		resident;
	int64		probed_not_visible;
	int64		dirty;
} Sampling;

/* A vacuum would look at this page.  The buffer may get another page any time. */
static void
add_page(Sampling *s, BlockNumber block, bool visible)
{
	int			buffer;

	if (visible)
		s->between++;
	else
		s->not_visible++;
	if ((s->not_visible + s->between) % s->every != 0)
		return;
	buffer = find_buffer(s->rel, block);
	s->probed++;
	s->resident += buffer >= 0;
	if (visible)
		return;
	s->probed_not_visible++;
	s->dirty += buffer >= 0 && (compat_buffer_state(GetBufferDescriptor(buffer)) & BM_DIRTY) != 0;
}

/* A stretch of the table.  Runs at its ends count as long ones. */
static void
sample_stretch(Sampling *s, BlockNumber from, BlockNumber to, int skip_pages, Buffer *map)
{
	BlockNumber last = InvalidBlockNumber;	/* that was not all-visible */

	for (BlockNumber block = from; block < to; block++)
	{
		s->looked_at++;
		if ((visibilitymap_get_status(s->rel, block, map) & VISIBILITYMAP_ALL_VISIBLE) != 0)
			continue;
		if (last != InvalidBlockNumber && block - last - 1 < (BlockNumber) skip_pages)
		{
			for (BlockNumber b = last + 1; b < block; b++)
				add_page(s, b, true);
		}
		add_page(s, block, false);
		last = block;
	}
}

static PageSample
result_of(const Sampling *s)
{
	PageSample	sample = {0};

	sample.not_visible = (double) s->not_visible / Max(s->looked_at, 1);
	sample.between = (double) s->between / Max(s->looked_at, 1);
	sample.resident = (double) s->resident / Max(s->probed, 1);
	sample.dirty = (double) s->dirty / Max(s->probed_not_visible, 1);
	return sample;
}

PageSample
residency_sample_table(Relation rel, BlockNumber begin, BlockNumber end, int skip_pages)
{
	BlockNumber pages = end - begin;
	bool		whole = pages <= STRETCHES * STRETCH_PAGES;
	int			stretches = whole ? 1 : STRETCHES;
	BlockNumber distance = pages / stretches;
	Sampling	s = {.rel = rel};
	Buffer		map = InvalidBuffer;

	s.every = Max(Min((int64) pages, STRETCHES * STRETCH_PAGES) / PROBES, 1);
	for (int i = 0; i < stretches; i++)
	{
		BlockNumber from = begin + distance * i;

		CHECK_FOR_INTERRUPTS();
		sample_stretch(&s, from, whole ? end : from + STRETCH_PAGES, skip_pages, &map);
	}
	if (map != InvalidBuffer)
		ReleaseBuffer(map);
	return result_of(&s);
}

PageSample
residency_sample_index(Relation rel, BlockNumber pages)
{
	BlockNumber distance = Max(pages / SAMPLE_PAGES, 1);
	Sampling	s = {.rel = rel,.every = 1};

	for (BlockNumber block = 0; block < pages && s.looked_at < SAMPLE_PAGES; block += distance)
	{
		s.looked_at++;
		add_page(&s, block, false);
	}
	return result_of(&s);
}
