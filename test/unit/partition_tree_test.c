/*
 * partition_tree_test.c
 *		policy/partition_tree: what has changed in the partitions since the ANALYZE
 *		of the table above them, by examples whose truth is known, and over
 *		random histories.  The threshold is that of relation_needs_vacanalyze() in
 *		PostgreSQL's autovacuum.c, with the rows of all leaves.
 */
#include "partition_tree.h"
#include "tap.h"

#define MINUTE	(INT64_C(60) * 1000 * 1000)
#define LEAVES	3

static const struct
{
	const char *name;
	int64_t		analyzed_at;
	int64_t		counted;
	PartitionTreeLeaf leaves[LEAVES];
	double		changes;
	double		threshold;
	bool		due;
}			cases[] = {

	/* without an ANALYZE of its own */
	{"no leaf ever had a row", 0, 0, {{-1, 0, 0, 50, 0, 0}}, 0, 0, false},
	{"emptied leaves", 0, 0, {{0, 0, 0, 50, 0, 0}, {0, 0, 0, 50, 0, 0}}, 0, 0, false},
	{"never analyzed, rows known", 0, 0, {{10, 10, 0, 51, 0, 0}}, 10, 0, true},
	{"never analyzed, rows only counted", 0, 0, {{-1, 7, 0, 50, 0, 0}}, 7, 0, true},
	{"never analyzed, changes only", 0, 0, {{-1, 0, 3, 50, 0, 0}}, 3, 0, true},
	{"never analyzed, but a leaf was", 0, 0, {{100, 100, 0, 60, 5, 0}}, 100, 0, true},

	/* leaves last analyzed before it */
	{"nothing happened", 9, 0, {{1000, 1000, 0, 150, 1, 0}}, 0, 150, false},
	{"at the threshold", 9, 0, {{1000, 1000, 150, 150, 1, 0}}, 150, 150, false},
	{"one more", 9, 0, {{1000, 1000, 151, 150, 1, 0}}, 151, 150, true},
	{"no leaf passes its own", 9, 0, {{100, 100, 60, 60, 1, 0}, {100, 100, 60, 60, 1, 0}}, 120, 70, true},
	{"a leaf that was never analyzed", 9, 0, {{-1, 500, 500, 50, 0, 0}}, 500, 50, true},
	{"negative counters are nothing", 9, 0, {{-1, -5, -5, 50, 0, 0}}, 0, 50, false},

	/* what the ANALYZE above had seen already */
	{"seen already", 9, 120, {{100, 100, 60, 60, 1, 0}, {100, 100, 60, 60, 1, 0}}, 0, 70, false},
	{"seen already, and some more", 9, 120, {{100, 100, 60, 60, 1, 0}, {100, 100, 131, 60, 1, 0}}, 71, 70, true},
	{"seen, then the leaf was analyzed", 9, 500, {{1000, 1000, 0, 150, 1, 20}}, 0, 150, false},
	{"and changed again", 9, 500, {{1000, 1000, 151, 150, 1, 20}}, 151, 150, true},

	/* leaves analyzed since by the server: for their threshold at least */
	{"analyzed since", 9, 0, {{1000, 1000, 0, 150, 1, 20}}, 150, 150, false},
	{"analyzed since, and one more", 9, 0, {{1000, 1000, 1, 150, 1, 20}}, 151, 150, true},
	{"all analyzed since", 9, 0, {{100, 100, 0, 60, 0, 20}, {100, 100, 0, 60, 0, 21}}, 120, 70, true},
	{"a leaf without a threshold", 9, 0, {{100, 100, 0, -1, 0, 20}}, 0, 60, false},

	/* by a user: soon after the one above, or later */
	{"ANALYZE parent, all in a row", 9 * MINUTE, 0,
	{{100, 100, 0, 60, 9 * MINUTE + 1, 0}, {100, 100, 0, 60, 19 * MINUTE, 0}}, 0, 70, false},
	{"ANALYZE leaf, much later", 9 * MINUTE, 0,
	{{100, 100, 0, 60, 19 * MINUTE + 1, 0}, {100, 100, 0, 60, 1, 0}}, 60, 70, false},
	{"ANALYZE of both leaves, much later", 9 * MINUTE, 0,
	{{100, 100, 0, 60, 19 * MINUTE + 1, 0}, {100, 100, 0, 60, 30 * MINUTE, 0}}, 120, 70, true},
	{"ANALYZE parent, changes since", 9 * MINUTE, 0,
	{{100, 100, 50, 60, 9 * MINUTE + 1, 0}, {100, 100, 21, 60, 9 * MINUTE + 2, 0}}, 71, 70, true},
	{"by both", 9 * MINUTE, 0, {{100, 100, 0, 60, 9 * MINUTE + 1, 9 * MINUTE + 2}}, 60, 60, false},

	{"more than 2^31 changes", 9, INT64_C(3000000000),
	{{1e10, 0, INT64_C(5000000000), 1e9, 1, 0}}, 2e9, 50 + 1e9, true},
};

typedef struct Leaf
{
	int64_t		mod;			/* the server's counter */
	int64_t		truth;			/* since the ANALYZE above */
	int64_t		autoanalyzed_at;
} Leaf;

/*
 * Random histories in which leaves are analyzed by the server when they are
 * over their threshold.  What is worked out is never more than the truth, and
 * all of it when no leaf was analyzed.
 */
static void
compare_with_truth(void)
{
	uint64_t	state = 4;
	int			too_many = 0;
	int			not_exact = 0;
	int			exact = 0;
	int			analyzed = 0;

	for (int history = 0; history < 5000; history++)
	{
		Leaf		leaves[LEAVES] = {{0}};
		int64_t		above_at = 1;
		int64_t		counted = 0;
		bool		reset = false;

		for (int64_t now = 2; now < 60; now++)
		{
			Leaf	   *leaf = &leaves[tap_random(&state) % LEAVES];
			int64_t		more = tap_random(&state) % 40;
			PartitionTree tree = {.analyzed_at = above_at,.counted = counted};
			PartitionTreeNeed need;
			int64_t		truth = 0;

			leaf->mod += more;
			leaf->truth += more;
			if (leaf->mod > 100 && tap_random(&state) % 3 == 0)
			{
				leaf->mod = 0;
				leaf->autoanalyzed_at = now;
				reset = true;
				analyzed++;
			}

			for (int i = 0; i < LEAVES; i++)
			{
				PartitionTreeLeaf p = {500, 500, leaves[i].mod, 100, 0, leaves[i].autoanalyzed_at};

				partition_tree_add_leaf(&tree, &p);
				truth += leaves[i].truth;
			}
			need = partition_tree_need(&tree, 50, 0.1);
			too_many += need.changes > truth;
			if (!reset)
			{
				not_exact += need.changes != truth;
				exact++;
			}
			if (need.due)
			{
				above_at = now;
				counted = partition_tree_counted(&tree);
				reset = false;
				for (int i = 0; i < LEAVES; i++)
					leaves[i].truth = 0;
			}
		}
	}
	tap_is_int(too_many, 0, "5,000 histories", "never more than the truth");
	tap_is_int(not_exact, 0, "5,000 histories", "exact while no leaf is analyzed");
	tap_ok(exact > 10000 && analyzed > 10000, "5,000 histories", "with and without");
}

int
main(void)
{
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		PartitionTree tree = {.analyzed_at = cases[i].analyzed_at,.counted = cases[i].counted};
		PartitionTreeNeed need;

		for (int l = 0; l < LEAVES; l++)
			partition_tree_add_leaf(&tree, &cases[i].leaves[l]);
		need = partition_tree_need(&tree, 50, 0.1);
		tap_is_double(need.changes, cases[i].changes, cases[i].name, "changes");
		tap_is_double(need.threshold, cases[i].threshold, cases[i].name, "threshold");
		tap_is_bool(need.due, cases[i].due, cases[i].name, "due");
	}
	compare_with_truth();
	return tap_done();
}
