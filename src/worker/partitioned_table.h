/*
 * partitioned_table.h
 *		The partitioned tables of one database, and their own ANALYZE.
 */
#ifndef SWEEP_PARTITIONED_TABLE_H
#define SWEEP_PARTITIONED_TABLE_H

#include "policy/partition_tree.h"
#include "worker/candidate.h"

/*
 * A partitioned table.  candidate.counters.mod is what has changed in the
 * partitions since the last ANALYZE of the table itself.
 * candidate.weight.thresholds.analyze is what that must exceed.  There are no
 * vacuum or insert thresholds.
 */
typedef struct PartitionedTable
{
	Candidate	candidate;
	bool		never_analyzed;
	bool		due;
	int64		counted;		/* changes that an ANALYZE now would see */
	int			partitions;		/* at all levels */
	bool		foreign;		/* some partitions are foreign tables */
} PartitionedTable;

/*
 * Finds all of this database, as a list in the current memory context.
 * `candidates` comes from candidates_collect().  Within the caller's
 * transaction.
 */
extern List *partitioned_table_collect(List *candidates);

/*
 * The same in a transaction of its own.  NIL when sweep.analyze_partitioned
 * is off.
 */
extern List *partitioned_table_read(List *candidates);

/*
 * Why is the table not analyzed now?  DECISION_NONE if it is, and
 * DECISION_BELOW_THRESHOLD if it is not due.
 */
extern DecisionKind partitioned_table_verdict(const PartitionedTable *table);

/*
 * Remembers the verdict if something has to be waited for.  Returns true if
 * the table is to be analyzed now.
 */
extern bool partitioned_table_remember(const PartitionedTable *table);

/*
 * Analyzes a table that the caller has claimed, and that was due when it was
 * read.
 */
extern void partitioned_table_analyze(PartitionedTable *table);

#endif							/* SWEEP_PARTITIONED_TABLE_H */
