/*
 * policy/partition_tree.c
 *		When does a partitioned table need its own ANALYZE?  Pure.
 *
 * A leaf's counter starts again at the leaf's own ANALYZE, not at that of the
 * table above.  Say that a leaf had M changes at the ANALYZE above, and has m
 * now.  If it was not analyzed in between, m - M have come.  If it was
 * analyzed, that was for at least as many changes as its threshold t, and as
 * M.  So at least max(t, M) - M + m have come.  Only the sum of all M is
 * known (`counted`).  So two sums are certainly not too large, and the larger
 * of them is taken:
 *
 *    sum of all m + sum of t of the leaves analyzed since - counted
 *    sum of m of the leaves analyzed since + the rest's, beyond counted
 *
 * A user who analyzes a leaf does not wait for its threshold.  But "ANALYZE
 * parent" does the leaves right after the parent, and a bulk load is often
 * followed by an ANALYZE of the leaf.  So an ANALYZE soon after the one above
 * says nothing.  A later one counts as t.
 */
#include "partition_tree.h"

#define SOON	(INT64_C(10) * 60 * 1000 * 1000)

static double
larger(double a, double b)
{
	return a > b ? a : b;
}

void
partition_tree_add_leaf(PartitionTree *tree, const PartitionTreeLeaf *leaf)
{
	bool		by_server = leaf->autoanalyzed_at > tree->analyzed_at;
	bool		by_user = leaf->analyzed_at > tree->analyzed_at;
	int64_t		mod = leaf->mod_since_analyze > 0 ? leaf->mod_since_analyze : 0;

	tree->rows += larger(leaf->reltuples, 0);
	tree->live_tuples += leaf->live_tuples > 0 ? leaf->live_tuples : 0;

	if (!by_server && !by_user)
	{
		tree->mod_before += mod;
		return;
	}
	tree->mod_after += mod;
	if (by_server || leaf->analyzed_at - tree->analyzed_at > SOON)
		tree->analyzed_since += larger(leaf->analyze_threshold, 0);
}

PartitionTreeNeed
partition_tree_need(const PartitionTree *tree, double base, double scale)
{
	PartitionTreeNeed need;
	double		all = (double) tree->mod_before + (double) tree->mod_after +
		tree->analyzed_since - (double) tree->counted;
	double		rest = (double) tree->mod_before - (double) tree->counted;

	need.threshold = base + scale * tree->rows;
	need.changes = larger(larger(all, 0), (double) tree->mod_after + larger(rest, 0));

	/* without statistics of its own any row will do */
	if (tree->analyzed_at == 0)
	{
		need.changes = larger(need.changes, larger(tree->rows, (double) tree->live_tuples));
		need.threshold = 0;
	}
	need.due = need.changes > need.threshold;
	return need;
}

int64_t
partition_tree_counted(const PartitionTree *tree)
{
	return tree->mod_before + tree->mod_after;
}
