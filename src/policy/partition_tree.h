/*
 * policy/partition_tree.h
 *		When does a partitioned table need its own ANALYZE?  Pure.
 *
 * Core analyzes partitions, but never the tables above them, of which the
 * planner needs statistics as well.  The server counts changes per partition,
 * and since that partition's ANALYZE.  From that it is worked out here what
 * has changed since the ANALYZE of the table above.
 */
#ifndef SWEEP_POLICY_PARTITION_TREE_H
#define SWEEP_POLICY_PARTITION_TREE_H

#include <stdbool.h>
#include <stdint.h>

/* Times are in microseconds of any one epoch.  0 means never. */
typedef struct PartitionTreeLeaf
{
	double		reltuples;		/* negative: unknown */
	int64_t		live_tuples;
	int64_t		mod_since_analyze;
	double		analyze_threshold;	/* its own (negative: none) */
	int64_t		analyzed_at;	/* by a user */
	int64_t		autoanalyzed_at;
} PartitionTreeLeaf;

typedef struct PartitionTree
{
	int64_t		analyzed_at;	/* the table above (0: never) */
	int64_t		counted;		/* of the leaves' changes, those that this
								 * ANALYZE has seen already */

	/* filled by partition_tree_add_leaf() */
	double		rows;
	int64_t		live_tuples;
	int64_t		mod_before;		/* of leaves last analyzed before it */
	int64_t		mod_after;		/* of leaves analyzed since */
	double		analyzed_since; /* changes that made those be analyzed */
} PartitionTree;

typedef struct PartitionTreeNeed
{
	bool		due;
	double		changes;		/* since its ANALYZE, at least */
	double		threshold;		/* must be exceeded */
} PartitionTreeNeed;

extern void partition_tree_add_leaf(PartitionTree *tree, const PartitionTreeLeaf *leaf);

/* base, scale: autovacuum_analyze_threshold, autovacuum_analyze_scale_factor */
extern PartitionTreeNeed partition_tree_need(const PartitionTree *tree, double base, double scale);

/* What `counted` will be after an ANALYZE now. */
extern int64_t partition_tree_counted(const PartitionTree *tree);

#endif							/* SWEEP_POLICY_PARTITION_TREE_H */
