/*
 * distributed.c
 *		Tables whose rows are elsewhere, in shards of Citus.
 *
 * Citus keeps the table that users know as an empty shell.  Its rows are in
 * shards, which are tables of their own on one or several nodes.  The
 * pg_sweep of each node looks after them.  To vacuum the shell, or to set
 * something for it, does nothing for the rows.  So whoever asks for that is
 * told.
 *
 * Runs in any backend.  Citus lists its tables in
 * pg_catalog.pg_dist_partition, where only a superuser can put a table.  This
 * takes AccessShareLock on that table, only if it is free.  Without Citus all
 * this is one look-up in the syscache.
 */
#include "sql/distributed.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "shmem.h"

#define LISTED_COLUMN	1		/* logicalrelid, since Citus has this table */

static Relation
open_list(void)
{
	Oid			relid = get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE);
	Relation	rel;

	if (!OidIsValid(relid) || !ConditionalLockRelationOid(relid, AccessShareLock))
		return NULL;
	rel = try_relation_open(relid, NoLock);
	if (rel == NULL)
	{
		UnlockRelationOid(relid, AccessShareLock);
		return NULL;
	}
	if (rel->rd_rel->relkind == RELKIND_RELATION && RelationGetDescr(rel)->natts >= LISTED_COLUMN &&
		TupleDescAttr(RelationGetDescr(rel), LISTED_COLUMN - 1)->atttypid == REGCLASSOID)
		return rel;
	relation_close(rel, AccessShareLock);
	return NULL;
}

bool
distributed_is_shell(Oid relid)
{
	Relation	rel = open_list();
	Snapshot	snapshot;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found = false;

	if (rel == NULL)
		return false;
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	scan = systable_beginscan(rel, InvalidOid, false, snapshot, 0, NULL);
	while (!found && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		listed = heap_getattr(tuple, LISTED_COLUMN, RelationGetDescr(rel), &isnull);

		CHECK_FOR_INTERRUPTS();
		found = !isnull && DatumGetObjectId(listed) == relid;
	}
	systable_endscan(scan);
	UnregisterSnapshot(snapshot);
	relation_close(rel, AccessShareLock);
	return found;
}

void
distributed_refuse(const Vacuumable *table, const char *command)
{
	if (!distributed_is_shell(table->relid))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is distributed by Citus and has no rows of its own", table->relname),
			 errdetail("Its rows are in shards, which are tables of their own on the nodes."),
			 errhint("Ask for its shards: SELECT * FROM run_command_on_shards(%s, $cmd$SELECT %s$cmd$);",
					 quote_literal_cstr(quote_qualified_identifier(table->schemaname, table->relname)),
					 command)));
}

PG_FUNCTION_INFO_V1(sweep_is_distributed_0_1);
Datum
sweep_is_distributed_0_1(PG_FUNCTION_ARGS)
{
	shmem_require();
	PG_RETURN_BOOL(distributed_is_shell(PG_GETARG_OID(0)));
}
