/*
 * server_view.c
 *		sweep_internal.get_server(): what a server says to somebody who asks
 *		many of them.
 *
 * Runs in any backend.  Takes no lock but that of a reader of pg_database.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "shmem.h"
#include "sql/progress.h"
#include "sql/row.h"
#include "state/xid_rate.h"

/* The database whose transaction ids are the oldest. */
typedef struct OldestDatabase
{
	Oid			dboid;			/* invalid: none was seen */
	NameData	name;
	int32		xid_age;
	int32		mxid_age;
} OldestDatabase;

static OldestDatabase
oldest_database(void)
{
	OldestDatabase oldest = {.dboid = InvalidOid};
	Relation	rel = table_open(DatabaseRelationId, AccessShareLock);
	TableScanDesc scan = table_beginscan_catalog(rel, 0, NULL);
	HeapTuple	tuple;

	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_database form = (Form_pg_database) GETSTRUCT(tuple);
		int32		xid_age_of = DatumGetInt32(DirectFunctionCall1(xid_age, TransactionIdGetDatum(form->datfrozenxid)));

		CHECK_FOR_INTERRUPTS();
		if (oldest.dboid != InvalidOid && xid_age_of <= oldest.xid_age)
			continue;
		oldest.dboid = form->oid;
		oldest.name = form->datname;
		oldest.xid_age = xid_age_of;
		oldest.mxid_age = DatumGetInt32(DirectFunctionCall1(mxid_age, TransactionIdGetDatum(form->datminmxid)));
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	return oldest;
}

/*
 * A name as the catalogs have it.  It may be of another database and in
 * another encoding, and then only the client can tell.
 */
static void
put_name(Row *row, const char *name)
{
	Name		copy = palloc0(NAMEDATALEN);

	namestrcpy(copy, name);
	row_put(row, NameGetDatum(copy));
}

PG_FUNCTION_INFO_V1(sweep_server_0_1);
Datum
sweep_server_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	TupleDesc	desc;
	OldestDatabase oldest;
	ProgressSum sum;
	XidRate		rate;

	shmem_require();
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	row_put_time(&row, GetCurrentTransactionStartTimestamp());
	row_put_time(&row, PgStartTime);
	row_put_text(&row, GetConfigOption("server_version", false, false));
	put_name(&row, get_database_name(MyDatabaseId));
	put_name(&row, GetUserNameFromId(GetUserId(), false));
	row_put(&row, BoolGetDatum(RecoveryInProgress()));
	row_put(&row, BoolGetDatum(autovacuum_start_daemon));
	row_put(&row, Int32GetDatum(autovacuum_freeze_max_age));

	oldest = oldest_database();
	row_put_oid(&row, oldest.dboid);
	put_name(&row, NameStr(oldest.name));
	row_put(&row, Int32GetDatum(oldest.xid_age));
	row_put(&row, Int32GetDatum(oldest.mxid_age));

	sum = progress_sum();
	row_put(&row, Int32GetDatum(sum.vacuums));
	row_put_float(&row, sum.read_mb_per_s);
	row_put_float(&row, sum.dirty_mb_per_s);
	row_put_float(&row, sum.wal_mb_per_s);
	row_put_float(&row, xid_rate_measure(&rate, 0) ? (double) rate.xids / rate.seconds : -1);

	row_require(&row, desc);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), row.values, row.nulls)));
}
