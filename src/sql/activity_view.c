/*
 * activity_view.c
 *		sweep.activity: what users did to tables, by the hour.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/timestamp.h"

#include "server/clock.h"
#include "shmem.h"
#include "sql/relation.h"
#include "sql/row.h"
#include "state/archive.h"
#include "state/decisions.h"
#include "state/history.h"

#define SLICE		256			/* sums that are copied at a time */

/* Names of so many tables of other databases are remembered, in 2 MB. */
#define NAMES_LIMIT	10000

/* The launcher counts tables without names.  Whoever vacuumed them knew those. */
typedef struct TableName
{
	DecisionKey key;
	RelationNames names;
} TableName;

typedef struct ActivityRead
{
	FunctionCallInfo fcinfo;
	HTAB	   *names;			/* of TableName */
} ActivityRead;

static void
learn_name(HTAB *names, const HistoryRecord *record)
{
	DecisionKey key = {record->sum.dboid, record->sum.relid};
	TableName  *name;

	if (record->sum.kind != HISTORY_TABLE || record->relname[0] == '\0')
		return;
	name = hash_search(names, &key, hash_get_num_entries(names) < NAMES_LIMIT ? HASH_ENTER : HASH_FIND, NULL);
	if (name == NULL)
		return;
	strlcpy(name->names.schemaname, record->schemaname, NAMEDATALEN);
	strlcpy(name->names.relname, record->relname, NAMEDATALEN);
}

/* Of the tables that were vacuumed in the last day. */
static void
learn_recent_names(HTAB *names)
{
	HistoryRecord *records = palloc(sizeof(HistoryRecord) * SLICE);
	int64		next = HISTORY_STEPS * HISTORY_SORTS / SLICE * SLICE;

	while (next >= 0)
	{
		int			n = history_copy(records, SLICE, &next);

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < n; i++)
			learn_name(names, &records[i]);
	}
	pfree(records);
}

static void
put_table(ActivityRead *read, const ArchivedHour *hour, const ActivityHour *table)
{
	DecisionKey key = {table->dboid, table->relid};
	const TableName *name = hash_search(read->names, &key, HASH_FIND, NULL);
	Row			row = {0};

	row_put_time(&row, hour->begin);
	row_put_time(&row, hour->since);
	row_put_oid(&row, table->dboid);
	row_put_oid(&row, table->relid);
	relation_put_names(&row, table->dboid, table->relid,
					   name ? name->names.schemaname : "", name ? name->names.relname : "");
	row_put(&row, Int64GetDatum(table->inserted));
	row_put(&row, Int64GetDatum(table->updated));
	row_put(&row, Int64GetDatum(table->hot_updated));
	row_put(&row, Int64GetDatum(table->deleted));
	row_put(&row, Int64GetDatum(table->live));
	row_put(&row, Int64GetDatum(table->dead));
	row_put_int64(&row, OidIsValid(table->relid) ? -1 : hour->xids);
	row_store(read->fcinfo, &row);
}

static void
put_hour(const ArchivedHour *hour, void *arg)
{
	ActivityRead *read = arg;

	for (int i = 0; i < hour->sum_count; i++)
		learn_name(read->names, &hour->sums[i]);
	for (int i = 0; i < hour->table_count; i++)
		put_table(read, hour, &hour->tables[i]);
}

PG_FUNCTION_INFO_V1(sweep_activity_0_1);
Datum
sweep_activity_0_1(PG_FUNCTION_ARGS)
{
	ActivityRead read = {.fcinfo = fcinfo};
	TimestampTz since = archive_oldest(clock_now());
	HASHCTL		info = {0};

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);
	info.keysize = sizeof(DecisionKey);
	info.entrysize = sizeof(TableName);
	info.hcxt = CurrentMemoryContext;
	read.names = hash_create("sweep names", 256, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	learn_recent_names(read.names);
	if (!PG_ARGISNULL(0))
		since = Max(since, PG_GETARG_TIMESTAMPTZ(0));
	archive_read(since, put_hour, &read);
	hash_destroy(read.names);
	return (Datum) 0;
}
