/*
 * clean_table.h
 *		Cleans one table: batch after batch, and each again when it is ripe.
 */
#ifndef CLEAN_TABLE_H
#define CLEAN_TABLE_H

#include "clean_recycle.h"
#include "clean_walk.h"

typedef struct CleanLimits
{
	int			rows;			/* of a batch */
	int			pages;			/* of the table that a batch looks at */
	int			work_mem;		/* kB */
} CleanLimits;

/*
 * Looks at the next pages of a table, as far as one batch goes, and removes
 * the entries of the rows that died there.  A walk over a list of pages leaves
 * rows whose removal would take I/O.  Returns what is to be
 * recycled, in the current memory context, or NULL if there is nothing, or
 * with *why_not if the table cannot be cleaned.  To be called in a transaction
 * of its own.
 */
extern CleanBatch *clean_table_batch(Oid relid, CleanWalk *walk, const CleanLimits *limits,
									 CleanCounts *counts, const char **why_not);

/*
 * Recycles a batch if it is ripe and the table can be locked.  Returns true if
 * it is done with.  To be called in a transaction of its own.
 */
extern bool clean_table_recycle(Oid relid, CleanBatch *batch, CleanCounts *counts);

#endif							/* CLEAN_TABLE_H */
