/*
 * clean_test.c
 *		The two stages one by one, for tests, and a table access method.
 *
 * The extension does not declare these functions.  A test does, as superuser.
 * What the first has left to be recycled the second one keeps from call to
 * call, in this backend's memory.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "clean_table.h"

#define TEST_ROWS	100000
#define TEST_MEMORY	16384

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

/* clean_test_batch(regclass): the first stage, of the whole table */
PG_FUNCTION_INFO_V1(clean_test_batch);
Datum
clean_test_batch(PG_FUNCTION_ARGS)
{
	CleanLimits limits = {TEST_ROWS, INT_MAX, TEST_MEMORY};
	CleanCounts counts = {0};
	CleanWalk	walk = {0};
	const char *why_not;
	MemoryContext old;

	if (kept != NULL)
		clean_batch_free(kept);
	kept = NULL;
	kept_relid = PG_GETARG_OID(0);
	old = MemoryContextSwitchTo(TopMemoryContext);
	kept = clean_table_batch(kept_relid, &walk, &limits, &counts, &why_not);
	MemoryContextSwitchTo(old);
	return counts_text(&counts, why_not);
}

/* clean_test_recycle(): the second stage; NULL while it has to wait */
PG_FUNCTION_INFO_V1(clean_test_recycle);
Datum
clean_test_recycle(PG_FUNCTION_ARGS)
{
	CleanCounts counts = {0};

	if (kept == NULL || !clean_table_recycle(kept_relid, kept, &counts))
		PG_RETURN_NULL();
	clean_batch_free(kept);
	kept = NULL;
	return counts_text(&counts, NULL);
}

/* clean_test_table_am(internal): a table access method that is not heap, with all that heap has */
PG_FUNCTION_INFO_V1(clean_test_table_am);
Datum
clean_test_table_am(PG_FUNCTION_ARGS)
{
	static TableAmRoutine routine;

	routine = *GetHeapamTableAmRoutine();
	PG_RETURN_POINTER(&routine);
}
