/*
 * toast_owner.c
 *		The table that a TOAST table belongs to.
 *
 * Runs in a worker.  It is for one table that is
 * looked at alone: a pass over pg_class meets the owners first
 * (candidates.c).  It takes AccessShareLock on pg_depend.
 */
#include "worker/toast_owner.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/syscache.h"

/*
 * pg_depend has it for all but the system catalogs, and their TOAST tables have it in their names.
 */
static Oid
suspect(Oid toastrelid, const char *relname)
{
	Relation	rel = table_open(DependRelationId, AccessShareLock);
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			owner = InvalidOid;

	ScanKeyInit(&key[0], Anum_pg_depend_classid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RelationRelationId));
	ScanKeyInit(&key[1], Anum_pg_depend_objid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(toastrelid));
	scan = systable_beginscan(rel, DependDependerIndexId, true, NULL, 2, key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);

		if (form->refclassid == RelationRelationId && form->deptype == DEPENDENCY_INTERNAL)
			owner = form->refobjid;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	if (owner == InvalidOid && sscanf(relname, "pg_toast_%u", &owner) != 1)
		owner = InvalidOid;
	return owner;
}

HeapTuple
toast_owner_find(Oid toastrelid, const char *relname)
{
	Oid			owner = suspect(toastrelid, relname);
	HeapTuple	tuple;

	if (owner == InvalidOid)
		return NULL;
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(owner));
	if (!HeapTupleIsValid(tuple))
		return NULL;
	if (((Form_pg_class) GETSTRUCT(tuple))->reltoastrelid == toastrelid)
		return tuple;
	ReleaseSysCache(tuple);
	return NULL;
}
