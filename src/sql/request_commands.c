/*
 * request_commands.c
 *		sweep.vacuum() and sweep.clean(), which ask for vacuums and clean-ups.
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
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "shmem.h"
#include "sql/audit_calls.h"
#include "sql/distributed.h"
#include "sql/vacuumable.h"
#include "state/requests.h"
#include "state/table_settings.h"

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

/* Refuses a request that nobody would serve. */
static void
require_service(void)
{
	char	   *datname = get_database_name(MyDatabaseId);
	int			launcher_pid;

	SpinLockAcquire(&sweep_shared->mutex);
	launcher_pid = sweep_shared->launcher.pid;
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
	if (!pgstat_track_counts)
		refuse("\"track_counts\" is off.", "Set it to on.");
	if (sweep_max_workers == 0)
		refuse("\"sweep.max_workers\" is 0.", "Set it to 1 or more.");
	if (launcher_pid == 0)
		refuse("The launcher is not running.", "See \"sweep.status\".");
}

/* What is asked for. */
typedef enum Ask
{
	ASK_VACUUM,
	ASK_VACUUM_AUX,				/* of the TOAST tables only */
	ASK_CLEAN,					/* row by row, unless a vacuum is cheaper */
	ASK_CLEAN_BY_ROW
} Ask;

static Request
request_for(const Vacuumable *table, Ask ask)
{
	Request		request;

	memset(&request, 0, sizeof(request));
	request.key = table->key;
	request.aux = ask == ASK_VACUUM_AUX;
	request.clean = ask == ASK_CLEAN || ask == ASK_CLEAN_BY_ROW;
	request.by_row = ask == ASK_CLEAN_BY_ROW;
	strlcpy(request.schemaname, table->schemaname, NAMEDATALEN);
	strlcpy(request.relname, table->relname, NAMEDATALEN);
	return request;
}

/*
 * Requests the tables or their TOAST tables.  Returns 0, with a NOTICE, if
 * there are none.
 */
static int64
put(const Vacuumable *named, Ask ask)
{
	int			ntables;
	Vacuumable *tables = vacuumable_expand(named, &ntables);
	Request    *wanted = palloc(sizeof(Request) * Max(ntables, 1));
	int			n = 0;

	for (int i = 0; i < ntables; i++)
	{
		Vacuumable	toast;

		if (ask != ASK_VACUUM_AUX)
			wanted[n++] = request_for(&tables[i], ask);
		else if (OidIsValid(tables[i].toastrelid) && vacuumable_read(tables[i].toastrelid, &toast))
			wanted[n++] = request_for(&toast, ask);
	}
	if (n > 0)
		return requests_put(wanted, n);

	if (ask == ASK_VACUUM_AUX)
		ereport(NOTICE,
				(errmsg("\"%s\" has no auxiliary tables", named->relname)));
	else
		ereport(NOTICE,
				(errmsg("\"%s\" has no partitions that can be vacuumed", named->relname)));
	return 0;
}

PG_FUNCTION_INFO_V1(sweep_vacuum_0_1);
Datum
sweep_vacuum_0_1(PG_FUNCTION_ARGS)
{
	bool		aux = PG_GETARG_BOOL(1);
	Vacuumable	table;
	int64		id;

	shmem_require();
	vacuumable_check(PG_GETARG_OID(0), &table);
	distributed_refuse(&table, aux ? "sweep.vacuum('%s', aux => true)" : "sweep.vacuum('%s')");
	require_service();
	id = put(&table, aux ? ASK_VACUUM_AUX : ASK_VACUUM);
	if (id != 0)
		audit_table("vacuum", &table, aux ? "aux" : NULL);
	PG_RETURN_INT64(id);
}

PG_FUNCTION_INFO_V1(sweep_clean_0_1);
Datum
sweep_clean_0_1(PG_FUNCTION_ARGS)
{
	bool		by_row = PG_GETARG_BOOL(1);
	Vacuumable	table;
	const TableSettings *own;
	int64		id;

	shmem_require();
	vacuumable_check(PG_GETARG_OID(0), &table);
	distributed_refuse(&table, "sweep.clean('%s')");
	require_service();
	own = table_settings_by_oid(table_settings_read(), table.key.relid);
	if (!table_switch(own, TABLE_CLEANER, sweep_cleaner))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 sweep_cleaner ? errmsg("\"cleaner\" is off for table \"%s\"", table.relname) :
				 errmsg("\"sweep.cleaner\" is off"),
				 errhint("Set it to \"on\", or have the table vacuumed by sweep.vacuum().")));
	id = put(&table, by_row ? ASK_CLEAN_BY_ROW : ASK_CLEAN);
	if (id != 0)
		audit_table("clean", &table, by_row ? "by_row" : NULL);
	PG_RETURN_INT64(id);
}
