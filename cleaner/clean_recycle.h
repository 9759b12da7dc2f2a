/*
 * clean_recycle.h
 *		Row pointers whose entries were removed become usable again, later.
 */
#ifndef CLEAN_RECYCLE_H
#define CLEAN_RECYCLE_H

#include "postgres.h"

#include "access/transam.h"
#include "storage/lock.h"

#include "clean_rows.h"

/*
 * A moment.  It is over when every transaction that ran then has ended, and
 * when nobody can see any more what was deleted before.
 */
typedef struct CleanEpoch
{
	VirtualTransactionId *running;
	int			nrunning;
	TransactionId next_xid;
} CleanEpoch;

/* One batch's row pointers of one table. */
typedef struct CleanBatch
{
	CleanEpoch	epoch;
	CleanRow   *rows;			/* in their order */
	int			count;
} CleanBatch;

/*
 * Keeps those rows of a batch whose entries were removed from every btree, in
 * the current memory context.  To be called when all of them are removed.
 */
extern CleanBatch *clean_batch_make(const CleanRow *rows, int count);
extern void clean_batch_free(CleanBatch *batch);

/*
 * Lets those who insert find the space on the pages of these rows, which are
 * in their order.
 */
extern void clean_tell_space(Relation heap, const CleanRow *rows, int count);

/* Is its epoch over?  In a transaction. */
extern bool clean_batch_is_ripe(CleanBatch *batch, Relation heap);

/*
 * Makes its row pointers usable again.  The caller has the table locked as
 * for VACUUM.
 */
extern void clean_batch_recycle(const CleanBatch *batch, Relation heap, CleanCounts *counts);

#endif							/* CLEAN_RECYCLE_H */
