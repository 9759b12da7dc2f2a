/*
 * partitioned_table.c
 *		The partitioned tables of one database, and their own ANALYZE.
 *
 * Core's daemon analyzes partitions, but never the tables above them.  Here
 * they are found in the catalogs, and what has changed below each is summed
 * up (policy/partition_tree.c).  Then a worker analyzes what is due.
 *
 * Runs in a worker.  It takes AccessShareLock on pg_partitioned_table and
 * pg_inherits.
 *
 * ANALYZE then locks the table itself, conditionally, and takes
 * AccessShareLock on all partitions at once.  It would wait for those.  So
 * the locks are tried before, and lock_timeout ends the wait for one that is
 * taken in between.
 */
#include "worker/partitioned_table.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_partitioned_table.h"
#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "rules.h"
#include "server/clock.h"
#include "server/compat.h"
#include "server/peek.h"
#include "server/table_stats.h"
#include "settings.h"
#include "state/ledger.h"
#include "worker/remember.h"
#include "worker/table_analyze.h"

/*
 * An ANALYZE locks no more partitions than this: a small part of the lock
 * table, which users need for themselves.
 */
#define PARTITIONS_LIMIT	256

/* A partitioned table. */
typedef struct Tree
{
	Oid			relid;			/* hash key */
	PartitionedTable *table;
	PartitionTree sums;
} Tree;

/* A partition, which may be partitioned itself. */
typedef struct Branch
{
	Oid			relid;			/* hash key */
	Oid			parent;
	bool		counted;
} Branch;

struct Forest
{
	HTAB	   *trees;
	HTAB	   *branches;		/* NULL: there are no trees */
};

static HTAB *
create_hash(const char *name, Size entrysize)
{
	HASHCTL		info = {0};

	info.keysize = sizeof(Oid);
	info.entrysize = entrysize;
	info.hcxt = CurrentMemoryContext;
	return hash_create(name, 128, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/*
 * When was the table analyzed last, and how much of its leaves' changes did
 * that see?  Only the ledger knows the latter, and only if that ANALYZE was
 * ours.  Statistics that were reset begin at 0, so then nothing was seen.
 */
static void
recall_analyze(Tree *tree)
{
	PgStat_StatTabEntry stats;
	RunRecord	run;
	bool		recorded = ledger_last(MyDatabaseId, tree->relid, RUN_ANALYZE, &run);
	TimestampTz at = 0;

	if (table_stats_read(MyDatabaseId, tree->relid, &stats))
		at = Max(compat_tab_analyzed(&stats), compat_tab_autoanalyzed(&stats));
	if (at == 0)
		tree->sums.analyzed_at = recorded ? run.ended_at : 0;
	else
	{
		tree->sums.analyzed_at = at;
		if (recorded && run.started_at <= at && at <= run.ended_at)
			tree->sums.counted = Max(run.partition_changes, 0);
	}
}

static void
add_tree(Forest *forest, Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;
	Candidate  *c;
	Tree	   *tree;
	char	   *schemaname;

	if (!HeapTupleIsValid(tuple))
		return;
	form = (Form_pg_class) GETSTRUCT(tuple);
	if (form->relpersistence != RELPERSISTENCE_TEMP)
	{
		tree = hash_search(forest->trees, &relid, HASH_ENTER, NULL);
		memset((char *) tree + sizeof(Oid), 0, sizeof(*tree) - sizeof(Oid));
		tree->table = palloc0(sizeof(PartitionedTable));
		recall_analyze(tree);

		c = &tree->table->candidate;
		c->key.dboid = MyDatabaseId;
		c->key.relid = relid;
		c->row.relkind = form->relkind;
		c->rules.enabled = true;
		c->weight.thresholds.vacuum = c->weight.thresholds.insert = c->weight.ins_early = -1;
		strlcpy(c->row.relname, NameStr(form->relname), NAMEDATALEN);
		schemaname = get_namespace_name(form->relnamespace);
		strlcpy(c->row.schemaname, schemaname ? schemaname : "", NAMEDATALEN);
		c->row.lane = lane_of(relid, c->row.schemaname);
	}
	ReleaseSysCache(tuple);
}

static void
read_trees(Forest *forest)
{
	Relation	rel = table_open(PartitionedRelationId, AccessShareLock);
	TableScanDesc scan = table_beginscan_catalog(rel, 0, NULL);
	HeapTuple	tuple;

	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		add_tree(forest, ((Form_pg_partitioned_table) GETSTRUCT(tuple))->partrelid);
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
}

/* Leaves out ordinary inheritance, because core analyzes those parents. */
static void
read_branches(Forest *forest)
{
	Relation	rel = table_open(InheritsRelationId, AccessShareLock);
	TableScanDesc scan = table_beginscan_catalog(rel, 0, NULL);
	HeapTuple	tuple;

	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_inherits form = (Form_pg_inherits) GETSTRUCT(tuple);
		Branch	   *branch;

		CHECK_FOR_INTERRUPTS();
		if (form->inhdetachpending ||
			hash_search(forest->trees, &form->inhparent, HASH_FIND, NULL) == NULL)
			continue;
		branch = hash_search(forest->branches, &form->inhrelid, HASH_ENTER, NULL);
		branch->parent = form->inhparent;
		branch->counted = false;
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
}

/* The table above a partition, or NULL. */
static Tree *
tree_above(Forest *forest, Oid relid)
{
	Branch	   *branch = hash_search(forest->branches, &relid, HASH_FIND, NULL);

	return branch ? hash_search(forest->trees, &branch->parent, HASH_FIND, NULL) : NULL;
}

/*
 * Counts a partition in all tables above it.  leaf is NULL if it has no rows
 * of its own.
 */
static void
add_partition(Forest *forest, Oid relid, const PartitionTreeLeaf *leaf, bool foreign, bool followed)
{
	for (Tree *tree = tree_above(forest, relid); tree != NULL; tree = tree_above(forest, tree->relid))
	{
		tree->table->partitions++;
		tree->table->foreign |= foreign;
		tree->table->followed |= followed;
		if (leaf)
			partition_tree_add_leaf(&tree->sums, leaf);
	}
}

/* Nobody has counted its rows, as after pg_upgrade: a page has one at least. */
static void
count_pages_as_rows(Relation rel, void *leaf)
{
	((PartitionTreeLeaf *) leaf)->reltuples = RelationGetNumberOfBlocks(rel);
}

/* Counts a partition that has no statistics, and so is no candidate. */
static void
add_quiet_partition(Forest *forest, Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	PartitionTreeLeaf leaf = {.reltuples = -1,.analyze_threshold = -1};
	char		relkind;

	if (!HeapTupleIsValid(tuple))
		return;
	relkind = ((Form_pg_class) GETSTRUCT(tuple))->relkind;
	leaf.reltuples = ((Form_pg_class) GETSTRUCT(tuple))->reltuples;
	ReleaseSysCache(tuple);
	if (leaf.reltuples < 0 && relkind == RELKIND_RELATION)
		(void) peek(relid, count_pages_as_rows, &leaf);
	add_partition(forest, relid, relkind == RELKIND_PARTITIONED_TABLE ? NULL : &leaf,
				  relkind == RELKIND_FOREIGN_TABLE, false);
}

static void
judge(Tree *tree)
{
	PartitionedTable *table = tree->table;
	ThresholdSettings settings = rules_thresholds(false);
	PartitionTreeNeed need = partition_tree_need(&tree->sums, settings.analyze_base,
												 settings.analyze_scale);
	ScoreInput	in = {.weights = compat_score_weights()};

	table->never_analyzed = tree->sums.analyzed_at == 0;
	table->due = need.due;
	table->counted = partition_tree_counted(&tree->sums);
	table->candidate.counters.analyzed_at = tree->sums.analyzed_at;
	table->candidate.row.reltuples = tree->sums.rows;
	table->candidate.counters.mod = (int64) need.changes;
	table->candidate.weight.thresholds.analyze = need.threshold;
	in.thresholds = table->candidate.weight.thresholds;
	in.mod_since_analyze = table->candidate.counters.mod;
	table->candidate.weight.score = score_compute(&in);
	/* its score is the one of ANALYZE, because it is not vacuumed */
	table->candidate.weight.score.score = table->candidate.weight.score.analyze_score;
}

Forest *
partitioned_table_begin(void)
{
	MemoryContext context = CurrentMemoryContext;
	Forest	   *forest;

	if (sweep_analyze_scope == ANALYZE_OFF)
		return NULL;
	forest = palloc0(sizeof(Forest));
	StartTransactionCommand();
	MemoryContextSwitchTo(context);
	forest->trees = create_hash("sweep partitioned tables", sizeof(Tree));
	read_trees(forest);
	if (hash_get_num_entries(forest->trees) > 0)
	{
		forest->branches = create_hash("sweep partitions", sizeof(Branch));
		read_branches(forest);
	}
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
	return forest;
}

void
partitioned_table_look(Forest *forest, const Candidate *c)
{
	PartitionTreeLeaf leaf = {
		.reltuples = c->row.reltuples,
		.live_tuples = c->counters.live,
		.mod_since_analyze = c->counters.mod,
		.analyze_threshold = c->weight.thresholds.analyze,
		.analyzed_at = c->counters.analyzed_at,
		.autoanalyzed_at = c->counters.autoanalyzed_at,
	};
	Branch	   *branch;

	/* what nobody has counted is a quiet partition */
	if (forest == NULL || forest->branches == NULL || !c->counters.counted)
		return;
	branch = hash_search(forest->branches, &c->key.relid, HASH_FIND, NULL);
	if (branch == NULL)
		return;
	branch->counted = true;
	add_partition(forest, c->key.relid, &leaf, false, table_analyze_is_followed(c));
}

static void
add_quiet_partitions(Forest *forest)
{
	HASH_SEQ_STATUS status;
	Branch	   *branch;

	hash_seq_init(&status, forest->branches);
	while ((branch = hash_seq_search(&status)) != NULL)
	{
		if (!branch->counted)
			add_quiet_partition(forest, branch->relid);
	}
}

List *
partitioned_table_end(Forest *forest)
{
	MemoryContext context = CurrentMemoryContext;
	HASH_SEQ_STATUS status;
	Tree	   *tree;
	List	   *tables = NIL;

	if (forest == NULL)
		return NIL;
	StartTransactionCommand();
	MemoryContextSwitchTo(context);
	if (forest->branches != NULL)
	{
		add_quiet_partitions(forest);
		hash_destroy(forest->branches);
	}
	hash_seq_init(&status, forest->trees);
	while ((tree = hash_seq_search(&status)) != NULL)
	{
		judge(tree);
		tables = lappend(tables, tree->table);
	}
	hash_destroy(forest->trees);
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
	pfree(forest);
	return tables;
}

/*
 * Why is the table not analyzed now?  DECISION_NONE if it is, and
 * DECISION_BELOW_THRESHOLD if it is not due.
 */
static DecisionKind
verdict_about_tree(const PartitionedTable *table)
{
	Decision	known = {.kind = DECISION_NONE};

	if (!table->due)
		return DECISION_BELOW_THRESHOLD;
	if (!candidate_is_in_scope(&table->candidate))
		return DECISION_OUT_OF_SCOPE;
	if (decision_get(table->candidate.key, &known) && clock_now() < known.not_before &&
		!(known.kind == DECISION_WOULD_ANALYZE && sweep_mode == SWEEP_ACT) &&
		!(known.kind == DECISION_ANALYZE_LATER && !table->followed))
		return known.kind;
	if (table->foreign || table->partitions > PARTITIONS_LIMIT)
		return DECISION_NOT_ANALYZED;
	if (table->followed && known.kind != DECISION_ANALYZE_LATER)
		return DECISION_ANALYZE_LATER;
	return sweep_mode == SWEEP_ACT ? DECISION_NONE : DECISION_WOULD_ANALYZE;
}

bool
partitioned_table_remember(const PartitionedTable *table)
{
	DecisionKind kind = verdict_about_tree(table);
	Decision	known;

	if (kind != DECISION_WOULD_ANALYZE && kind != DECISION_NOT_ANALYZED && kind != DECISION_ANALYZE_LATER)
		return kind == DECISION_NONE;
	if (!decision_get(table->candidate.key, &known) || known.kind != kind ||
		clock_now() >= known.not_before)
		remember_wait(&table->candidate, kind,
					  kind == DECISION_WOULD_ANALYZE ? RECHECK_OBSERVED_MS :
					  kind == DECISION_ANALYZE_LATER ? ANALYZE_FOLLOWED_MS : RECHECK_MS);
	return false;
}

typedef enum TreeState
{
	TREE_FREE,
	TREE_LOCKED,
	TREE_NOT_ANALYZED,
	TREE_GONE
} TreeState;

/*
 * Could all locks be had now?  They are not kept.  And could all rows of
 * pg_class be updated in place?  ANALYZE does that last, while it holds a
 * snapshot and those locks.  So it would not wait for them, and all its work
 * would be lost.  Partitions may have come since the survey began.
 */
static TreeState
try_locks(Oid relid)
{
	MemoryContext context = CurrentMemoryContext;
	TreeState	state = TREE_FREE;
	ListCell   *lc;

	StartTransactionCommand();
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		state = TREE_GONE;
	else
	{
		List	   *tree = find_all_inheritors(relid, NoLock, NULL);

		foreach(lc, tree)
		{
			CHECK_FOR_INTERRUPTS();
			if (list_length(tree) - 1 > PARTITIONS_LIMIT ||
				get_rel_relkind(lfirst_oid(lc)) == RELKIND_FOREIGN_TABLE)
			{
				state = TREE_NOT_ANALYZED;
				break;
			}
			if (!ConditionalLockRelationOid(lfirst_oid(lc), AccessShareLock))
			{
				state = TREE_LOCKED;
				break;
			}
			UnlockRelationOid(lfirst_oid(lc), AccessShareLock);
			if (!peek_row_is_free(lfirst_oid(lc)))
			{
				state = TREE_LOCKED;
				break;
			}
		}
	}
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
	return state;
}

/* Has another worker or a user analyzed the table meanwhile? */
static bool
was_analyzed_since(const PartitionedTable *table)
{
	PgStat_StatTabEntry stats;

	return table_stats_read(MyDatabaseId, table->candidate.key.relid, &stats) &&
		Max(compat_tab_analyzed(&stats), compat_tab_autoanalyzed(&stats)) >
		table->candidate.counters.analyzed_at;
}

void
partitioned_table_analyze(PartitionedTable *table)
{
	Candidate  *c = &table->candidate;
	char		reason[RUN_REASON_LEN];
	Decision	known;
	TreeState	state;

	if (was_analyzed_since(table) || !partitioned_table_remember(table))
		return;
	state = try_locks(c->key.relid);
	if (state == TREE_GONE)
		return;
	if (state == TREE_NOT_ANALYZED)
	{
		remember_wait(c, DECISION_NOT_ANALYZED, RECHECK_MS);
		return;
	}

	if (table->never_analyzed)
		snprintf(reason, sizeof(reason), "partitioned table without statistics of its own");
	else
		snprintf(reason, sizeof(reason), "changes in partitions " INT64_FORMAT " > %.0f",
				 c->counters.mod, c->weight.thresholds.analyze);
	c->decision = decision_get(c->key, &known) ? &known : NULL;
	table_analyze_partitioned(c, reason, table->counted, state == TREE_LOCKED);
	c->decision = NULL;
}
