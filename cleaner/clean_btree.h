/*
 * clean_btree.h
 *		Removes entries of dead rows from a btree, each found by its key.
 */
#ifndef CLEAN_BTREE_H
#define CLEAN_BTREE_H

#include "postgres.h"

#include "access/nbtree.h"

#include "clean_rows.h"

/*
 * Removes the entries of all rows of the batch from one of its btrees, and
 * notes in each row that its entry was removed.
 */
extern void clean_btree(CleanRows *rows, CleanTarget *target, int which, CleanCounts *counts);

#endif							/* CLEAN_BTREE_H */
