/*
 * clean_walk.c
 *		Which pages of a table are looked at, one after the other.
 *
 * A page of a list is pinned only if it is still in the buffer where it was
 * seen, so none is read.
 */
#include "clean_walk.h"

#include "access/visibilitymap.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "utils/backend_progress.h"

#include "clean_compat.h"

void
clean_walk_open(CleanWalk *walk, Relation heap)
{
	walk->heap = heap;
	walk->blocks = RelationGetNumberOfBlocks(heap);
	walk->vmbuffer = InvalidBuffer;
	walk->strategy = GetAccessStrategy(BAS_VACUUM);
	pgstat_progress_update_param(PROGRESS_VACUUM_TOTAL_HEAP_BLKS,
								 walk->cached != NULL ? walk->ncached : walk->blocks);
}

static Buffer
next_cached(CleanWalk *walk)
{
	while (walk->next < (BlockNumber) walk->ncached)
	{
		const CleanPage *page = &walk->cached[walk->next++];

		CHECK_FOR_INTERRUPTS();
		if (page->block < walk->blocks && compat_read_recent(walk->heap, page->block, page->buffer))
			return page->buffer;
	}
	return InvalidBuffer;
}

static Buffer
next_of_all(CleanWalk *walk)
{
	for (; walk->next < walk->blocks; walk->next++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!VM_ALL_VISIBLE(walk->heap, walk->next, &walk->vmbuffer))
			return ReadBufferExtended(walk->heap, MAIN_FORKNUM, walk->next++, RBM_NORMAL, walk->strategy);
	}
	return InvalidBuffer;
}

Buffer
clean_walk_next(CleanWalk *walk)
{
	Buffer		buffer;

	compat_vacuum_delay_point();
	buffer = walk->cached != NULL ? next_cached(walk) : next_of_all(walk);
	walk->ended = !BufferIsValid(buffer);
	pgstat_progress_update_param(PROGRESS_VACUUM_HEAP_BLKS_SCANNED, walk->next);
	return buffer;
}

void
clean_walk_close(CleanWalk *walk)
{
	if (BufferIsValid(walk->vmbuffer))
		ReleaseBuffer(walk->vmbuffer);
	FreeAccessStrategy(walk->strategy);
	walk->heap = NULL;
}
