/*
 * request_commands.c
 *		SQL functions that ask for vacuums, and show what was asked for.
 *
 * A request counts at once, not at commit: it is about what others wrote.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "requests.h"
#include "row.h"
#include "vacuumable.h"

static bool
database_is_connectable(void)
{
	HeapTuple	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
	bool		ok = HeapTupleIsValid(tuple) && ((Form_pg_database) GETSTRUCT(tuple))->datallowconn;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return ok;
}

static void
refuse(const char *detail, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("pg_sweep vacuums nothing here now"),
			 errdetail_internal("%s", detail),
			 errhint("%s  Or run VACUUM.", hint)));
}

/* A request that nobody would serve is refused. */
static void
require_service(void)
{
	char	   *datname = get_database_name(MyDatabaseId);
	int			launcher_pid;

	SpinLockAcquire(&sweep_shared->mutex);
	launcher_pid = sweep_shared->launcher_pid;
	SpinLockRelease(&sweep_shared->mutex);

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("no vacuum can be requested during recovery"),
				 errhint("Ask on the primary.")));
	if (pg_atomic_read_u32(&sweep_shared->breaker_tripped) != 0)
		refuse("It was switched off because its processes crashed repeatedly.",
			   "Call sweep.rearm() to switch it on again.");
	if (sweep_mode != SWEEP_ACT)
		refuse(psprintf("\"sweep.mode\" is \"%s\".", settings_mode_name(sweep_mode)),
			   "Set \"sweep.mode\" to \"act\".");
	if (datname == NULL || settings_database_scope(datname) != DATABASE_OURS)
		refuse("This database is not among \"sweep.databases\", or is in \"sweep.exclude_databases\".",
			   "Change these settings.");
	if (!database_is_connectable())
		refuse("This database does not accept connections.",
			   "ALTER DATABASE ... ALLOW_CONNECTIONS true.");
	if (sweep_max_workers == 0)
		refuse("\"sweep.max_workers\" is 0.", "Set it to 1 or more.");
	if (launcher_pid == 0)
		refuse("The launcher is not running.", "See \"sweep.status\".");
}

static Request
request_for(const Vacuumable *table, bool aux)
{
	Request		request;

	memset(&request, 0, sizeof(request));
	request.key = table->key;
	request.aux = aux;
	strlcpy(request.schemaname, table->schemaname, NAMEDATALEN);
	strlcpy(request.relname, table->relname, NAMEDATALEN);
	return request;
}

/* Of the tables or their TOAST tables; 0 with a NOTICE when there are none. */
static int64
put(const Vacuumable *named, bool aux)
{
	int			ntables;
	Vacuumable *tables = vacuumable_expand(named, &ntables);
	Request    *wanted = palloc(sizeof(Request) * Max(ntables, 1));
	int			n = 0;

	for (int i = 0; i < ntables; i++)
	{
		Vacuumable	toast;

		if (!aux)
			wanted[n++] = request_for(&tables[i], false);
		else if (OidIsValid(tables[i].toastrelid) && vacuumable_read(tables[i].toastrelid, &toast))
			wanted[n++] = request_for(&toast, true);
	}
	if (n > 0)
		return requests_put(wanted, n);

	if (aux)
		ereport(NOTICE,
				(errmsg("\"%s\" has no auxiliary tables", named->relname)));
	else
		ereport(NOTICE,
				(errmsg("\"%s\" has no partitions that can be vacuumed", named->relname)));
	return 0;
}

static Datum
request(FunctionCallInfo fcinfo, bool aux)
{
	Vacuumable	table;

	shmem_require();
	vacuumable_check(PG_GETARG_OID(0), &table);
	require_service();
	PG_RETURN_INT64(put(&table, aux));
}

PG_FUNCTION_INFO_V1(sweep_vacuum_0_1);
Datum
sweep_vacuum_0_1(PG_FUNCTION_ARGS)
{
	return request(fcinfo, false);
}

PG_FUNCTION_INFO_V1(sweep_vacuum_aux_0_1);
Datum
sweep_vacuum_aux_0_1(PG_FUNCTION_ARGS)
{
	return request(fcinfo, true);
}

PG_FUNCTION_INFO_V1(sweep_requests_0_1);
Datum
sweep_requests_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	Request    *requests;
	int			count;

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);

	requests = requests_copy(&count);
	for (int i = 0; i < count; i++)
	{
		const Request *r = &requests[i];

		row_put(&row, Int64GetDatum(r->id));
		row_put_oid(&row, r->dboid);
		row_put_oid(&row, r->key.relid);
		row_put_text(&row, r->schemaname);
		row_put_text(&row, r->relname);
		row_put(&row, BoolGetDatum(r->aux));
		row_put_text(&row, r->requested_by);
		row_put_time(&row, r->requested_at);
		row_put_text(&row, request_state_name(r->state));
		row_put(&row, Int32GetDatum(r->attempts));
		row_put_time(&row, r->not_before);
		row_store(fcinfo, &row);
	}
	pfree(requests);
	return (Datum) 0;
}
