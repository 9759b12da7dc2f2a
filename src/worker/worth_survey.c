/*
 * worth_survey.c
 *		Which tables are followed, so that it is known what garbage costs.
 *
 * Runs in a worker, in a survey.  Only in its own database are a table's
 * indexes known.  It takes AccessShareLock on pg_index, if that is free, and
 * opens no table.
 */
#include "worker/worth_survey.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "miscadmin.h"
#include "storage/lmgr.h"

#include "server/table_indexes.h"
#include "server/table_stats.h"
#include "state/worth_tables.h"
#include "worker/candidate.h"

/* Those whose indexes are looked at, by how much was read of the tables. */
typedef struct Chosen
{
	int			count;
	const Candidate *candidates[2 * WORTH_TABLES_LIMIT];
} Chosen;

static int
more_read_first(const void *a, const void *b)
{
	int64		x = (*(const Candidate *const *) a)->counters.fetched;
	int64		y = (*(const Candidate *const *) b)->counters.fetched;

	return x < y ? 1 : (x > y ? -1 : 0);
}

/*
 * Garbage can only be where rows were changed.  Catalogs and TOAST tables have
 * no scale factor that could be advised.
 */
static bool
may_be_followed(const Candidate *c)
{
	return c->counters.changed > 0 && c->counters.fetched > 0 && !c->row.temporary &&
		c->row.lane != LANE_CATALOG &&
		(c->row.relkind == RELKIND_RELATION || c->row.relkind == RELKIND_MATVIEW);
}

static void
choose(Chosen *chosen, const Candidate *c)
{
	chosen->candidates[chosen->count++] = c;
	if (chosen->count < 2 * WORTH_TABLES_LIMIT)
		return;
	qsort(chosen->candidates, chosen->count, sizeof(Candidate *), more_read_first);
	chosen->count = WORTH_TABLES_LIMIT;
}

/* How often were they scanned so far? */
static int64
count_scans(const WorthIndexes *indexes)
{
	PgStat_StatTabEntry stats;
	int64		scans = 0;

	for (int i = 0; i < indexes->count; i++)
	{
		if (table_stats_read(MyDatabaseId, indexes->oids[i], &stats))
			scans += stats.numscans;
	}
	return scans;
}

static void
follow(const Candidate *c)
{
	WorthIndexes indexes = {0};
	int64		pages[WORTH_INDEXES_LIMIT];
	int64		scans;

	indexes.count = table_indexes(c->key.relid, WORTH_INDEXES_LIMIT, indexes.oids, pages);
	if (indexes.count == 0 || indexes.count > WORTH_INDEXES_LIMIT)
		return;
	for (int i = 0; i < indexes.count; i++)
		indexes.levels += worth_levels((double) pages[i]);
	scans = count_scans(&indexes);
	if (scans > 0)
		worth_tables_put(c->key, &indexes, scans);
}

void
worth_survey(List *candidates)
{
	MemoryContext context = CurrentMemoryContext;
	Chosen	   *chosen = palloc(sizeof(Chosen));
	ListCell   *lc;

	chosen->count = 0;
	foreach(lc, candidates)
	{
		const Candidate *c = lfirst(lc);

		if (may_be_followed(c))
			choose(chosen, c);
	}
	qsort(chosen->candidates, chosen->count, sizeof(Candidate *), more_read_first);

	StartTransactionCommand();
	/* if it is locked, this can wait until the next survey */
	if (ConditionalLockRelationOid(IndexRelationId, AccessShareLock))
	{
		for (int i = 0; i < Min(chosen->count, WORTH_TABLES_LIMIT); i++)
		{
			CHECK_FOR_INTERRUPTS();
			follow(chosen->candidates[i]);
		}
	}
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
	pfree(chosen);
}
