/*
 * clean_table.c
 *		Cleans one table: batch after batch, and each again when it is ripe.
 *
 * Locks, in this order: the table, its indexes (all conditional), a page of
 * the table, which is let go, then a page of an index.
 */
#include "clean_table.h"

#include "access/table.h"
#include "access/xact.h"
#include "commands/progress.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/backend_progress.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/snapmgr.h"

#include "clean_btree.h"
#include "clean_compat.h"
#include "clean_point.h"
#include "clean_target.h"

#define BATCH_ROWS		100000	/* 1.6 MB, and their keys within work_mem */
#define BATCH_PAGES		65536	/* 512 MB: others get at the table between
								 * batches */
#define BATCHES_WAITING	16		/* for older transactions, with 40 MB at most */

/* Looks at pages until the batch is full. */
static void
take_rows(CleanRows *rows, CleanTarget *target, CleanWalk *walk, const CleanLimits *limits,
		  CleanCounts *counts)
{
	pgstat_progress_update_param(PROGRESS_VACUUM_PHASE, PROGRESS_VACUUM_PHASE_SCAN_HEAP);
	clean_walk_open(walk, target->heap);
	for (int looked = 0; looked < limits->pages && clean_rows_have_room(rows); looked++)
	{
		Buffer		buffer = clean_walk_next(walk);

		if (!BufferIsValid(buffer))
			break;
		clean_rows_take(rows, target, buffer, counts);
		ReleaseBuffer(buffer);
		CLEAN_POINT("page_done");
	}
	clean_walk_close(walk);
}

/* Keeps those whose entry was removed from every index.  Returns how many they are. */
static int
keep_removed(CleanRows *rows, const CleanTarget *target)
{
	int			kept = 0;

	for (int i = 0; i < rows->count; i++)
	{
		if (rows->rows[i].removed == target->btrees)
			rows->rows[kept++] = rows->rows[i];
	}
	return kept;
}

CleanBatch *
clean_table_batch(Oid relid, CleanWalk *walk, const CleanLimits *limits,
				  CleanCounts *counts, const char **why_not)
{
	MemoryContext caller = CurrentMemoryContext;

	/* an error frees it, too */
	MemoryContext context = AllocSetContextCreate(TopTransactionContext, "cleaning", ALLOCSET_DEFAULT_SIZES);
	CleanTarget target;
	CleanRows	rows;
	CleanBatch *batch = NULL;
	int			kept;

	*why_not = NULL;
	MemoryContextSwitchTo(context);
	PushActiveSnapshot(GetTransactionSnapshot());
	if (clean_target_open(relid, &target, why_not))
	{
		clean_rows_begin(&rows, &target, Max(limits->rows, MaxHeapTuplesPerPage), limits->work_mem,
						 walk->cached != NULL);
		take_rows(&rows, &target, walk, limits, counts);
		pgstat_progress_update_param(PROGRESS_VACUUM_PHASE, PROGRESS_VACUUM_PHASE_VACUUM_INDEX);
		for (int i = 0; i < target.btrees; i++)
		{
			if (rows.count > 0)
				clean_btree(&rows, &target, i, counts);
			tuplesort_end(rows.entries[i]);
			CLEAN_POINT("index_done");
		}
		CLEAN_POINT("indexes_done");
		if (rows.count > 0)
			clean_tell_space(target.heap, rows.rows, rows.count);
		kept = keep_removed(&rows, &target);
		clean_target_close(&target);
		MemoryContextSwitchTo(caller);
		if (kept > 0)
			batch = clean_batch_make(rows.rows, kept);
		CLEAN_POINT("batch_made");
	}
	PopActiveSnapshot();
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return batch;
}

bool
clean_table_recycle(Oid relid, CleanBatch *batch, CleanCounts *counts)
{
	Relation	heap;
	bool		ripe;

	if (!ConditionalLockRelationOid(relid, ShareUpdateExclusiveLock))
		return false;
	heap = try_relation_open(relid, NoLock);
	if (heap == NULL)
		return true;			/* it was dropped */
	ripe = clean_batch_is_ripe(batch, heap);
	if (ripe)
		clean_batch_recycle(batch, heap, counts);
	table_close(heap, NoLock);
	return ripe;
}

/* ----
 * The whole table
 * ----
 */

/* Batches that wait until they are ripe, the oldest first. */
typedef struct Waiting
{
	CleanBatch *batches[BATCHES_WAITING];
	int			count;
} Waiting;

static void
recycle_ripe(Waiting *waiting, CleanJob *job)
{
	int			left = 0;

	for (int i = 0; i < waiting->count; i++)
	{
		bool		done;

		StartTransactionCommand();
		pgstat_progress_update_param(PROGRESS_VACUUM_PHASE, PROGRESS_VACUUM_PHASE_VACUUM_HEAP);
		done = clean_table_recycle(job->relid, waiting->batches[i], &job->counts);
		CommitTransactionCommand();
		if (done)
		{
			CLEAN_POINT("recycling_committed");
			clean_batch_free(waiting->batches[i]);
		}
		else
			waiting->batches[left++] = waiting->batches[i];
	}
	waiting->count = left;
}

/* Keeps a batch.  For want of room the oldest is left to VACUUM. */
static void
keep_waiting(Waiting *waiting, CleanBatch *batch)
{
	if (waiting->count == BATCHES_WAITING)
	{
		clean_batch_free(waiting->batches[0]);
		memmove(&waiting->batches[0], &waiting->batches[1], sizeof(CleanBatch *) * --waiting->count);
	}
	waiting->batches[waiting->count++] = batch;
}

/* At the end: their row pointers would be left to VACUUM otherwise. */
static void
wait_until_ripe(Waiting *waiting, CleanJob *job)
{
	TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), job->wait_ms);

	for (;;)
	{
		recycle_ripe(waiting, job);
		if (waiting->count == 0 || job->must_stop() || GetCurrentTimestamp() >= until)
			return;
		pgstat_progress_update_param(PROGRESS_VACUUM_PHASE, PROGRESS_VACUUM_PHASE_FINAL_CLEANUP);
		job->wait();
	}
}

/* test/t/052_clean_cases.pl has another one. */
#ifndef CLEAN_JOB_SIZE
#define CLEAN_JOB_SIZE	sizeof(CleanJob)
#endif

PGDLLEXPORT void sweep_clean_table(CleanJob *job);

static void clean_table(CleanJob *job);

/* See CleanFunction. */
void
sweep_clean_table(CleanJob *job)
{
	if (job->size != CLEAN_JOB_SIZE)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("library \"pg_sweep_cleaner\" does not fit the \"pg_sweep\" that the server has loaded"),
				 errhint("Restart the server so that it loads the newer library.")));
	clean_table(job);
}

static void
clean_table(CleanJob *job)
{
	MemoryContext caller = CurrentMemoryContext;
	CleanLimits limits = {BATCH_ROWS, BATCH_PAGES, job->work_mem_kb};
	CleanWalk	walk = {.cached = job->cached,.ncached = job->ncached};
	Waiting		waiting = {0};
	bool		first = true;

	if (!compat_server_is_known())
	{
		job->why_not = "the cleaner does not know this release of the server";
		return;
	}
	pgstat_progress_start_command(PROGRESS_COMMAND_VACUUM, job->relid);
	while (!walk.ended && !job->must_stop())
	{
		CleanBatch *batch;
		const char *why_not;

		StartTransactionCommand();
		MemoryContextSwitchTo(caller);
		batch = clean_table_batch(job->relid, &walk, &limits, &job->counts, &why_not);
		CommitTransactionCommand();
		CLEAN_POINT("batch_committed");
		MemoryContextSwitchTo(caller);
		if (why_not != NULL)
		{
			/*
			 * later on somebody else has the table, and cleans it or changes
			 * it
			 */
			job->locked = first && why_not == clean_not_available;
			if (first)
				job->why_not = why_not;
			break;
		}
		first = false;
		if (batch != NULL)
			keep_waiting(&waiting, batch);
		recycle_ripe(&waiting, job);
	}
	wait_until_ripe(&waiting, job);
	MemoryContextSwitchTo(caller);
	pgstat_progress_end_command();
}
