/*
 * relation.c
 *		What the catalogs tell of one relation, without SQL.
 *
 * Runs in any backend, inside a transaction.  There are extensions that hide
 * rows of pg_class from the queries of clients: Citus does with the shards of
 * distributed tables.  Vacuums know no such thing, so neither may what is
 * shown of them.  That is why our views take names and all the rest from
 * here, or from candidates.c, and never join pg_class.
 *
 * This looks up syscaches, and takes AccessShareLock on pg_class for a TOAST
 * table's owner.
 */
#include "sql/relation.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "shmem.h"
#include "sql/row.h"

/* Leaves the names as they are if there is no such relation. */
static void
read_names(Oid relid, RelationNames *names)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	char	   *schemaname;

	if (!HeapTupleIsValid(tuple))
		return;
	schemaname = get_namespace_name(((Form_pg_class) GETSTRUCT(tuple))->relnamespace);
	strlcpy(names->schemaname, schemaname ? schemaname : "", NAMEDATALEN);
	strlcpy(names->relname, NameStr(((Form_pg_class) GETSTRUCT(tuple))->relname), NAMEDATALEN);
	if (schemaname)
		pfree(schemaname);
	ReleaseSysCache(tuple);
}

RelationNames
relation_names(Oid dboid, Oid relid, const char *schemaname, const char *relname)
{
	RelationNames names;

	strlcpy(names.schemaname, schemaname, NAMEDATALEN);
	strlcpy(names.relname, relname, NAMEDATALEN);
	if (relname[0] == '\0' && OidIsValid(relid) &&
		(dboid == MyDatabaseId || dboid == InvalidOid))
		read_names(relid, &names);
	return names;
}

void
relation_put_names(Row *row, Oid dboid, Oid relid, const char *schemaname, const char *relname)
{
	RelationNames names = relation_names(dboid, relid, schemaname, relname);

	row_put_text(row, names.schemaname);
	row_put_text(row, names.relname);
}

/* The table that a TOAST table belongs to.  No index helps to find it. */
static Oid
toast_owner(Oid toastrelid)
{
	Relation	rel = table_open(RelationRelationId, AccessShareLock);
	TableScanDesc scan = table_beginscan_catalog(rel, 0, NULL);
	HeapTuple	tuple;
	Oid			owner = InvalidOid;

	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (((Form_pg_class) GETSTRUCT(tuple))->reltoastrelid != toastrelid)
			continue;
		owner = ((Form_pg_class) GETSTRUCT(tuple))->oid;
		break;
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	return owner;
}

static void
put_options(Row *row, HeapTuple tuple)
{
	bool		isnull;
	Datum		options = SysCacheGetAttr(RELOID, tuple, Anum_pg_class_reloptions, &isnull);

	if (isnull)
		row_put_null(row);
	else
		row_put(row, options);
}

/* sweep_internal.get_relation().  There is no row if there is no such relation. */
PG_FUNCTION_INFO_V1(sweep_relation_0_1);
Datum
sweep_relation_0_1(PG_FUNCTION_ARGS)
{
	HeapTuple	tuple;
	Row			row = {0};
	Form_pg_class form;

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(PG_GETARG_OID(0)));
	if (!HeapTupleIsValid(tuple))
		return (Datum) 0;
	form = (Form_pg_class) GETSTRUCT(tuple);
	row_put_oid(&row, form->oid);
	relation_put_names(&row, InvalidOid, form->oid, "", "");
	row_put(&row, CharGetDatum(form->relkind));
	row_put(&row, CharGetDatum(form->relpersistence));
	row_put(&row, BoolGetDatum(form->relisshared));
	row_put(&row, Int32GetDatum(form->relpages));
	row_put(&row, Float4GetDatum(form->reltuples));
	row_put_oid(&row, form->relkind == RELKIND_TOASTVALUE ? toast_owner(form->oid) : InvalidOid);
	put_options(&row, tuple);
	row_store(fcinfo, &row);
	ReleaseSysCache(tuple);
	return (Datum) 0;
}
