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

/* Those whose indexes are looked at, by how much was read of the tables. */
typedef struct Chosen
{
	DecisionKey key;
	int64		fetched;
	int64		pages;
} Chosen;

struct WorthSurvey
{
	int			count;
	Chosen		chosen[2 * WORTH_TABLES_LIMIT];
};

static int
more_read_first(const void *a, const void *b)
{
	int64		x = ((const Chosen *) a)->fetched;
	int64		y = ((const Chosen *) b)->fetched;

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
follow(const Chosen *table)
{
	WorthIndexes indexes = {0};
	int64		pages[WORTH_INDEXES_LIMIT];
	int64		scans;

	indexes.count = table_indexes(table->key.relid, WORTH_INDEXES_LIMIT, indexes.oids, pages);
	if (indexes.count == 0 || indexes.count > WORTH_INDEXES_LIMIT)
		return;
	indexes.pages = (double) table->pages;
	for (int i = 0; i < indexes.count; i++)
	{
		indexes.levels += worth_levels((double) pages[i]);
		indexes.pages += (double) pages[i];
	}
	scans = count_scans(&indexes);
	if (scans > 0)
		worth_tables_put(table->key, &indexes, scans);
}

WorthSurvey *
worth_survey_begin(void)
{
	WorthSurvey *survey = palloc(sizeof(WorthSurvey));

	survey->count = 0;
	return survey;
}

void
worth_survey_look(WorthSurvey *survey, const Candidate *c)
{
	if (!may_be_followed(c))
		return;
	survey->chosen[survey->count].key = c->key;
	survey->chosen[survey->count].pages = c->row.pages;
	survey->chosen[survey->count++].fetched = c->counters.fetched;
	if (survey->count < 2 * WORTH_TABLES_LIMIT)
		return;
	qsort(survey->chosen, survey->count, sizeof(Chosen), more_read_first);
	survey->count = WORTH_TABLES_LIMIT;
}

void
worth_survey_end(WorthSurvey *survey)
{
	MemoryContext context = CurrentMemoryContext;

	qsort(survey->chosen, survey->count, sizeof(Chosen), more_read_first);
	StartTransactionCommand();
	/* if it is locked, this can wait until the next survey */
	if (ConditionalLockRelationOid(IndexRelationId, AccessShareLock))
	{
		for (int i = 0; i < Min(survey->count, WORTH_TABLES_LIMIT); i++)
		{
			CHECK_FOR_INTERRUPTS();
			follow(&survey->chosen[i]);
		}
	}
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
	pfree(survey);
}
