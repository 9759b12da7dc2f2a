/*
 * dry_run.c
 *		In mode observe: a vacuum is noted, not made.
 *
 * Runs in a worker.  It looks at a sample of the table's and its indexes'
 * pages: which of them are all-visible, in memory and dirty.  It reads none
 * but those of the visibility map.
 */
#include "postgres.h"

#include "worker/dry_run.h"

#include <math.h>

#include "access/genam.h"
#include "access/transam.h"
#include "access/visibilitymap.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "policy/trial_cost.h"
#include "server/horizon.h"
#include "server/peek.h"
#include "server/residency.h"
#include "server/table_stats.h"
#include "settings.h"
#include "state/trial.h"
#include "state/worker_slot.h"
#include "worker/remember.h"
#include "worker/statement.h"

/* Which part of the dead rows had index entries of their own, and which is of updates? */
static void
add_shares(TrialHeap *heap, const Candidate *c)
{
	PgStat_StatTabEntry stats;
	double		changed;

	heap->cold_share = heap->update_share = 1;
	if (!table_stats_read(c->key.dboid, c->key.relid, &stats))
		return;
	changed = (double) (stats.tuples_updated + stats.tuples_deleted);
	if (changed <= 0)
		return;
	heap->cold_share = 1 - (double) stats.tuples_hot_updated / changed;
	heap->update_share = (double) stats.tuples_updated / changed;
}

/* New rows fill the end of the table, unless garbage has made room elsewhere. */
static void
add_tail(TrialHeap *heap, Relation rel, BlockNumber pages)
{
	PageSample	sample;

	if (heap->new_inserted <= heap->new_dead)
		return;
	heap->tail = (heap->new_inserted - heap->new_dead) / Max(heap->rows_per_page, 1);
	heap->tail = Min(ceil(heap->tail), (double) pages);
	sample = residency_sample_table(rel, pages - (BlockNumber) heap->tail, pages, TRIAL_SKIP_PAGES);
	heap->tail_not_visible = sample.not_visible;
	heap->tail_resident = sample.resident;
	heap->tail_dirty = sample.dirty;
}

static TrialHeap
look_at_heap(const Candidate *c, Relation rel, BlockNumber pages)
{
	PageSample	sample = residency_sample_table(rel, 0, pages, TRIAL_SKIP_PAGES);
	TrialHeap	heap = {0};

	heap.pages = pages;
	heap.not_visible = sample.not_visible * pages;
	heap.between = sample.between * pages;
	heap.resident = sample.resident;
	heap.dirty = sample.dirty;
	heap.rows_per_page = c->weight.rows_per_page;
	heap.new_dead = (double) c->counters.dead;
	heap.new_inserted = (double) c->counters.ins;
	heap.dead = heap.new_dead + (double) c->trial.dead;
	heap.inserted = heap.new_inserted + (double) c->trial.ins;
	add_shares(&heap, c);
	add_tail(&heap, rel, pages);
	return heap;
}

/* What an index adds, and to what. */
typedef struct IndexCost
{
	TrialCost  *cost;
	const TrialHeap *heap;
} IndexCost;

static void
add_index(Relation index, void *arg)
{
	const IndexCost *to = arg;
	BlockNumber pages = RelationGetNumberOfBlocks(index);
	PageSample	sample = residency_sample_index(index, pages);
	TrialIndex	trial;

	trial.pages = pages;
	trial.resident = sample.resident;
	trial.dirty = sample.dirty;
	trial_cost_add_index(to->cost, to->heap, &trial);
}

/* Two passes over the table, and the indexes between them.  One that is locked is left out. */
static void
add_indexes(TrialCost *cost, const TrialHeap *heap, Relation rel)
{
	IndexCost	to = {cost, heap};
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *lc;

	if (indexes != NIL)
		trial_cost_add_second_pass(cost, heap);
	foreach(lc, indexes)
		(void) peek(lfirst_oid(lc), add_index, &to);
	list_free(indexes);
}

/* An aggressive vacuum also reads what is all-visible and not frozen, and freezes it. */
static void
add_unfrozen(TrialCost *cost, const TrialHeap *heap, Relation rel)
{
	BlockNumber visible;
	BlockNumber frozen;
	double		pages;

	visibilitymap_count(rel, &visible, &frozen);
	pages = (double) visible - (double) Min(frozen, visible);
	cost->cleaned += pages;
	cost->scanned += pages;
	cost->least_read += pages * (1 - heap->resident);
	cost->most_read += pages * (1 - heap->resident);
	cost->least_dirtied += pages * (1 - heap->dirty);
	cost->most_dirtied += pages * (1 - heap->dirty);
}

static TrialRange
range(double least, double most)
{
	TrialRange	r = {(int64) (least + 0.5), (int64) (most + 0.5)};

	return r;
}

/* As the record of a vacuum that was made, in the middle of the range. */
static RunRecord
as_run(const TrialCost *cost, BlockNumber pages, bool indexes)
{
	RunRecord	run;

	memset(&run, 0, sizeof(run));
	run.command = RUN_VACUUM;
	run.outcome = RUN_DONE;
	run.pages = pages;
	run.index_pass = indexes;
	run.used.blks_read = (int64) ((cost->least_read + cost->most_read) / 2);
	run.used.blks_dirtied = (int64) ((cost->least_dirtied + cost->most_dirtied) / 2);
	run.used.blks_hit = Max((int64) cost->scanned - run.used.blks_read, 0);
	run.costs.page_hit = VacuumCostPageHit;
	run.costs.page_miss = VacuumCostPageMiss;
	run.costs.page_dirty = VacuumCostPageDirty;
	return run;
}

static TrialVacuum
as_note(const Candidate *c, const Verdict *verdict, const TrialCost *cost, BlockNumber pages)
{
	Thresholds	core = threshold_core(&c->rules.settings, c->row.reltuples, c->row.pages, c->row.frozen_pages);
	TrialVacuum v = {0};

	v.for_inserts = candidate_is_due_by_inserts(c);
	v.read = range(cost->least_read, cost->most_read);
	v.dirtied = range(cost->least_dirtied, cost->most_dirtied);
	v.frozen = verdict->eager ? (int64) cost->cleaned : 0;
	v.pages = pages;
	v.dead = c->counters.dead + c->trial.dead;
	v.inserted = c->counters.ins + c->trial.ins;
	v.core_threshold = core.vacuum;
	v.core_insert = core.insert;
	return v;
}

static void
note(const Candidate *c, const Verdict *verdict, Relation rel)
{
	VacuumMoment moment;
	BlockNumber pages = RelationGetNumberOfBlocks(rel);
	TrialHeap	heap = look_at_heap(c, rel, pages);
	TrialCost	cost = trial_cost_heap(&heap);
	RunRecord	run;
	TrialVacuum vacuum;
	int64		lost = decisions_lost();

	bool		indexes = (trial_cleans_indexes(&heap) || verdict->options.all_indexes) &&
		!verdict->options.keep_indexes;

	if (indexes)
		add_indexes(&cost, &heap, rel);
	if (verdict->catch_up)
		add_unfrozen(&cost, &heap, rel);
	moment.horizon = horizon_of_database(c->key.dboid, c->row.catalog_horizon);
	moment.next_xid = ReadNextFullTransactionId();
	run = as_run(&cost, pages, indexes);
	vacuum = as_note(c, verdict, &cost, pages);
	remember_noted(c, verdict, &run, &moment);
	/* what could not be remembered comes again, and must not count twice */
	if (decisions_lost() == lost)
		trial_note(c->key, c->row.schemaname, c->row.relname, &vacuum);
}

/* What is to be done, and what came of it. */
typedef struct DryRun
{
	const Candidate *c;
	const Verdict *verdict;
	bool		locked;
} DryRun;

static void
look(void *arg)
{
	DryRun	   *dry = arg;
	MemoryContext context = CurrentMemoryContext;
	Relation	rel;

	StartTransactionCommand();
	/* VACUUM would skip it then.  Core's may be at work there */
	rel = statement_must_wait(dry->c->key.relid, ShareUpdateExclusiveLock) ? NULL : peek_open(dry->c->key.relid);
	dry->locked = rel == NULL;
	if (rel != NULL)
	{
		note(dry->c, dry->verdict, rel);
		peek_close(rel);
	}
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
}

/* As a vacuum that came to nothing: it is tried again, less and less often. */
static void
remember_failure(const Candidate *c, const Verdict *verdict, RunOutcome outcome)
{
	VacuumMoment moment = {{0}};
	RunRecord	run;

	memset(&run, 0, sizeof(run));
	run.command = RUN_VACUUM;
	run.outcome = outcome;
	remember_run(c, c, verdict, &run, &moment);
}

void
dry_run(const Candidate *c, const Verdict *verdict)
{
	DryRun		dry = {c, verdict, false};
	int			sqlstate = statement_try_call(look, &dry, c->key.relid, "trial", c->row.relname);

	worker_slot_has_let_go();
	if (sqlstate == ERRCODE_QUERY_CANCELED)
		remember_failure(c, verdict, RUN_CANCELLED);
	else if (sqlstate != 0)
		remember_failure(c, verdict, RUN_FAILED);
	else if (dry.locked)
		remember_failure(c, verdict, RUN_SKIPPED);
}
