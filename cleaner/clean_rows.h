/*
 * clean_rows.h
 *		Rows that died, and the keys under which indexes have them.
 */
#ifndef CLEAN_ROWS_H
#define CLEAN_ROWS_H

#include "postgres.h"

#include "access/xlogdefs.h"
#include "storage/buf.h"
#include "storage/itemptr.h"
#include "utils/tuplesort.h"

#include "clean_target.h"
#include "worker/clean_job.h"

/* A row pointer that is LP_DEAD, with no row behind it. */
typedef struct CleanRow
{
	ItemPointerData tid;
	uint16		removed;		/* btrees from which its entry was removed */
	XLogRecPtr	lsn;			/* of its page, when it became LP_DEAD */
} CleanRow;

struct DeadPage;

/* A batch of dead rows, in the order of their row pointers. */
typedef struct CleanRows
{
	CleanRow   *rows;
	int			count;
	int			limit;
	struct DeadPage *page;		/* what is looked at */
	bool		only_free;		/* only rows of which the removal takes no I/O */
	XLogRecPtr	moment;			/* if only_free: see clean_cost.h */
	Tuplesortstate *entries[CLEAN_INDEXES_MAX]; /* of each btree */
} CleanRows;

/*
 * Begins a batch of at most `limit` rows (at least MaxHeapTuplesPerPage).
 * work_mem in kB is for all the sorts together.
 */
extern void clean_rows_begin(CleanRows *rows, CleanTarget *target, int limit, int work_mem, bool only_free);

/* Is there room for another page? */
extern bool clean_rows_have_room(const CleanRows *rows);

/*
 * Looks at a page of the table that the caller has pinned, prunes it if rows
 * died there, and takes those over.
 */
extern void clean_rows_take(CleanRows *rows, CleanTarget *target, Buffer buffer, CleanCounts *counts);

extern CleanRow *clean_rows_find(const CleanRows *rows, ItemPointer tid);

#endif							/* CLEAN_ROWS_H */
