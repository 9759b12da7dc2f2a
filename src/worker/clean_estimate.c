/*
 * clean_estimate.c
 *		What would it cost to clean a table, by row or by a vacuum?
 *
 * The sizes are those of the files.  The visibility map tells which pages a
 * vacuum would read: one page of it covers 32,000 pages of the table.  Locks: AccessShareLock on the
 * table and its indexes, each only if it is free.
 */
#include "worker/clean_estimate.h"

#include "access/visibilitymap.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "server/peek.h"

/*
 * Larger tables are looked at in so many windows, at equal distances.  All
 * together they are 32 GB of the table, and 20 to 50 ms.
 */
#define WINDOWS			64
#define WINDOW_PAGES	65536

/* How many pages of a window would a vacuum read? */
static BlockNumber
scanned_in(Relation heap, BlockNumber from, BlockNumber to, Buffer *vmbuffer)
{
	BlockNumber scanned = 0;
	BlockNumber visible = 0;	/* in a row */

	CHECK_FOR_INTERRUPTS();
	for (BlockNumber block = from; block < to; block++)
	{
		if (VM_ALL_VISIBLE(heap, block, vmbuffer))
		{
			visible++;
			continue;
		}
		scanned += 1 + (visible < CLEAN_SKIP_PAGES ? visible : 0);
		visible = 0;
	}
	return scanned + (visible < CLEAN_SKIP_PAGES ? visible : 0);
}

static double
pages_scanned(Relation heap, BlockNumber pages)
{
	BlockNumber windows = Min(WINDOWS, (pages + WINDOW_PAGES - 1) / WINDOW_PAGES);
	Buffer		vmbuffer = InvalidBuffer;
	double		scanned = 0;
	double		looked_at = 0;

	for (BlockNumber i = 0; i < windows; i++)
	{
		BlockNumber from = (BlockNumber) ((uint64) pages * i / windows);
		BlockNumber to = Min(pages, from + WINDOW_PAGES);

		scanned += scanned_in(heap, from, to, &vmbuffer);
		looked_at += to - from;
	}
	if (BufferIsValid(vmbuffer))
		ReleaseBuffer(vmbuffer);
	return looked_at > 0 ? scanned * pages / looked_at : 0;
}

/* An index that is locked costs nothing here: whoever locks it is not for long. */
static void
add_index(Relation index, void *arg)
{
	CleanTable *t = arg;

	if (index->rd_rel->relam == BTREE_AM_OID && t->indexes < CLEAN_PLAN_INDEXES)
		t->index_pages[t->indexes++] = (double) RelationGetNumberOfBlocks(index);
}

static void
read_sizes(Relation heap, void *arg)
{
	CleanTable *t = arg;
	BlockNumber visible;
	BlockNumber frozen;
	List	   *indexes;
	ListCell   *lc;

	visibilitymap_count(heap, &visible, &frozen);
	t->pages = (double) RelationGetNumberOfBlocks(heap);
	t->visible_pages = (double) visible;
	t->scanned_pages = pages_scanned(heap, (BlockNumber) t->pages);
	indexes = RelationGetIndexList(heap);
	foreach(lc, indexes)
	{
		CHECK_FOR_INTERRUPTS();
		(void) peek(lfirst_oid(lc), add_index, t);
	}
	list_free(indexes);
}

bool
clean_estimate(const Candidate *c, double correction, CleanEstimate *estimate)
{
	MemoryContext caller = CurrentMemoryContext;
	CleanTable	t = {0};
	bool		read;

	StartTransactionCommand();
	read = peek(c->key.relid, read_sizes, &t) == PEEK_SEEN;
	CommitTransactionCommand();
	MemoryContextSwitchTo(caller);
	if (!read)
		return false;
	/* where the counters are lost: one on each page that can have some */
	t.dead = c->counters.dead > 0 ? (double) c->counters.dead : t.pages - t.visible_pages;
	t.correction = correction;
	estimate->cost = clean_cost(&t);
	estimate->plan = clean_plan(&t, &estimate->cost);
	return true;
}
