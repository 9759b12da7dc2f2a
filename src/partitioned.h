/*
 * partitioned.h
 *		The partitioned tables of one database, and their own ANALYZE.
 */
#ifndef SWEEP_PARTITIONED_H
#define SWEEP_PARTITIONED_H

#include "candidates.h"
#include "policy/partitioned.h"

/*
 * candidate: mod is what has changed in the partitions since the last ANALYZE
 * of the table itself, thresholds.analyze what it must exceed; neither vacuum
 * nor insert thresholds.
 */
typedef struct PartitionedTable
{
	Candidate	candidate;
	bool		never_analyzed;
	bool		due;
	int64		counted;		/* changes that an ANALYZE now would see */
	int			partitions;		/* at all levels */
	bool		foreign;		/* some of them */
} PartitionedTable;

/*
 * All of this database, as a list in the current memory context; candidates as
 * of candidates_collect().  Within the caller's transaction.
 */
extern List *partitioned_collect(List *candidates);

/* The same in a transaction of its own; NIL when sweep.analyze_partitioned is off. */
extern List *partitioned_read(List *candidates);

/* Why it is not analyzed now; DECISION_NONE: it is, or DECISION_BELOW_THRESHOLD. */
extern DecisionKind partitioned_decide_about(const PartitionedTable *table);

/* Remembers it where it has to be waited for; true: analyze it now. */
extern bool partitioned_decide(const PartitionedTable *table);

/* Claimed by the caller, and due when it was read. */
extern void partitioned_analyze(PartitionedTable *table);

#endif							/* SWEEP_PARTITIONED_H */
