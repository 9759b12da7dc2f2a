/*
 * clean_walk.h
 *		Which pages of a table are looked at, one after the other.
 */
#ifndef CLEAN_WALK_H
#define CLEAN_WALK_H

#include "postgres.h"

#include "storage/block.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "worker/clean_job.h"

/*
 * All pages that are not all-visible, or those of a list, which were in memory
 * a moment ago.  It goes on from batch to batch.
 */
typedef struct CleanWalk
{
	const CleanPage *cached;	/* the list, NULL: the whole table */
	int			ncached;
	BlockNumber next;			/* a block, or a place in the list */
	bool		ended;

	/* while a batch has the table open */
	Relation	heap;
	BlockNumber blocks;
	Buffer		vmbuffer;
	BufferAccessStrategy strategy;
} CleanWalk;

extern void clean_walk_open(CleanWalk *walk, Relation heap);

/* The next page, pinned, or InvalidBuffer at the end. */
extern Buffer clean_walk_next(CleanWalk *walk);

/* After an error it is not called. */
extern void clean_walk_close(CleanWalk *walk);

#endif							/* CLEAN_WALK_H */
