/*
 * clean_test.c
 *		The two stages one by one, for tests, and a table access method.
 *
 * The extension does not declare these functions.  A test does, as superuser.
 * What the first has left to be recycled the second one keeps from call to
 * call, in this backend's memory.  So is the list of pages that were in memory
 * at the time of sweep_clean_test_see().
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "clean_table.h"

#define TEST_ROWS	100000
#define TEST_MEMORY	16384

static CleanPage *seen = NULL;
static int	nseen = 0;
static CleanBatch *kept = NULL;
static Oid	kept_relid = InvalidOid;

static Datum
counts_text(const CleanCounts *c, const char *why_not)
{
	if (why_not != NULL)
		return CStringGetTextDatum(why_not);
	return CStringGetTextDatum(psprintf("pages %lld pinned %lld rows %lld left %lld entries %lld not_found %lld "
										"leaves %lld leaves_pinned %lld leaves_emptied %lld recycled %lld changed %lld",
										(long long) c->pages, (long long) c->pages_pinned, (long long) c->rows,
										(long long) c->rows_left, (long long) c->entries,
										(long long) c->entries_not_found, (long long) c->leaves,
										(long long) c->leaves_pinned, (long long) c->leaves_emptied,
										(long long) c->recycled, (long long) c->pages_changed));
}

/* sweep_clean_test_see(regclass): the table's pages and their buffers, and how many there are */
PG_FUNCTION_INFO_V1(sweep_clean_test_see);
Datum
sweep_clean_test_see(PG_FUNCTION_ARGS)
{
	Relation	heap = table_open(PG_GETARG_OID(0), AccessShareLock);

	if (seen != NULL)
		pfree(seen);
	seen = NULL;
	nseen = (int) RelationGetNumberOfBlocks(heap);
	seen = MemoryContextAllocZero(TopMemoryContext, sizeof(CleanPage) * (nseen + 1));
	for (int i = 0; i < nseen; i++)
	{
		Buffer		buffer = ReadBuffer(heap, i);

		seen[i].block = i;
		seen[i].buffer = buffer;
		ReleaseBuffer(buffer);
	}
	table_close(heap, AccessShareLock);
	PG_RETURN_INT32(nseen);
}

static Datum
batch(Oid relid, CleanWalk *walk)
{
	CleanLimits limits = {TEST_ROWS, INT_MAX, TEST_MEMORY};
	CleanCounts counts = {0};
	const char *why_not;
	MemoryContext old;

	if (kept != NULL)
		clean_batch_free(kept);
	kept = NULL;
	kept_relid = relid;
	old = MemoryContextSwitchTo(TopMemoryContext);
	kept = clean_table_batch(relid, walk, &limits, &counts, &why_not);
	MemoryContextSwitchTo(old);
	return counts_text(&counts, why_not);
}

/* sweep_clean_test_batch(regclass): the first stage, of the whole table */
PG_FUNCTION_INFO_V1(sweep_clean_test_batch);
Datum
sweep_clean_test_batch(PG_FUNCTION_ARGS)
{
	CleanWalk	walk = {0};

	return batch(PG_GETARG_OID(0), &walk);
}

/* sweep_clean_test_seen(regclass): the first stage, of the pages that were seen */
PG_FUNCTION_INFO_V1(sweep_clean_test_seen);
Datum
sweep_clean_test_seen(PG_FUNCTION_ARGS)
{
	CleanWalk	walk = {.cached = seen,.ncached = nseen};

	if (seen == NULL)
		elog(ERROR, "sweep_clean_test_see() comes first");
	return batch(PG_GETARG_OID(0), &walk);
}

/* sweep_clean_test_recycle(): the second stage; NULL while it has to wait */
PG_FUNCTION_INFO_V1(sweep_clean_test_recycle);
Datum
sweep_clean_test_recycle(PG_FUNCTION_ARGS)
{
	CleanCounts counts = {0};

	if (kept == NULL || !clean_table_recycle(kept_relid, kept, &counts))
		PG_RETURN_NULL();
	clean_batch_free(kept);
	kept = NULL;
	return counts_text(&counts, NULL);
}

/* sweep_clean_test_table_am(internal): a table access method that is not heap, with all that heap has */
PG_FUNCTION_INFO_V1(sweep_clean_test_table_am);
Datum
sweep_clean_test_table_am(PG_FUNCTION_ARGS)
{
	static TableAmRoutine routine;

	routine = *GetHeapamTableAmRoutine();
	PG_RETURN_POINTER(&routine);
}
