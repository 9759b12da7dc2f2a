/*
 * table_tree.h
 *		The partitioned table that a table is a partition of.
 */
#ifndef SWEEP_TABLE_TREE_H
#define SWEEP_TABLE_TREE_H

#include "postgres.h"

/*
 * How many relations has it?  1: the table is no partition.  Called inside a
 * transaction.  Takes AccessShareLock on pg_inherits for a moment.
 */
extern int	table_tree_size(Oid relid);

#endif							/* SWEEP_TABLE_TREE_H */
