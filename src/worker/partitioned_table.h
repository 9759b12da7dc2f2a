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
	bool		followed;		/* new pages of some are followed */
} PartitionedTable;

typedef struct Forest Forest;

/*
 * Finds all of this database in a survey, which looks at each candidate in
 * between.  The result is in the current memory context.  Begin and end have
 * transactions of their own.  Forest is NULL, and the list empty, when
 * sweep.analyze_scope is off.
 */
extern Forest *partitioned_table_begin(void);
extern void partitioned_table_look(Forest *forest, const Candidate *c);
extern List *partitioned_table_end(Forest *forest);

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
