/*
 * policy/partitioned.h
 *		When does a partitioned table need its own ANALYZE?  Pure.
 *
 * Core analyzes partitions, never the tables above them, which the planner
 * also needs statistics of.  The server counts changes per partition and since
 * that partition's ANALYZE; what has changed since the ANALYZE of the table
 * above is worked out from that.
 */
#ifndef SWEEP_POLICY_PARTITIONED_H
#define SWEEP_POLICY_PARTITIONED_H

#include <stdbool.h>
#include <stdint.h>

/* Times are in microseconds of any one epoch; 0: never. */
typedef struct PartitionedLeaf
{
	double		reltuples;		/* negative: unknown */
	int64_t		live_tuples;
	int64_t		mod_since_analyze;
	double		analyze_threshold;	/* its own; negative: none */
	int64_t		analyzed_at;	/* by a user */
	int64_t		autoanalyzed_at;
} PartitionedLeaf;

typedef struct PartitionedTree
{
	int64_t		analyzed_at;	/* the table above; 0: never */
	int64_t		counted;		/* of the leaves' changes, those that this
								 * ANALYZE has seen already */

	/* filled by partitioned_add_leaf() */
	double		rows;
	int64_t		live_tuples;
	int64_t		mod_before;		/* of leaves last analyzed before it */
	int64_t		mod_after;		/* of leaves analyzed since */
	double		analyzed_since; /* changes that made those be analyzed */
} PartitionedTree;

typedef struct PartitionedNeed
{
	bool		due;
	double		changes;		/* since its ANALYZE, at least */
	double		threshold;		/* must be exceeded */
} PartitionedNeed;

extern void partitioned_add_leaf(PartitionedTree *tree, const PartitionedLeaf *leaf);

/* base, scale: autovacuum_analyze_threshold, autovacuum_analyze_scale_factor */
extern PartitionedNeed partitioned_need(const PartitionedTree *tree, double base, double scale);

/* What `counted` will be after an ANALYZE now. */
extern int64_t partitioned_counted(const PartitionedTree *tree);

#endif							/* SWEEP_POLICY_PARTITIONED_H */
