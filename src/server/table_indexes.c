/*
 * table_indexes.c
 *		The indexes of a table, without opening it.
 *
 * For workers and views.  It takes AccessShareLock on pg_index, and looks up
 * the syscache.  The table may be locked.
 */
#include "server/table_indexes.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/syscache.h"

static int64
pages_of(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	int64		pages;

	if (!HeapTupleIsValid(tuple))
		return 0;
	pages = ((Form_pg_class) GETSTRUCT(tuple))->relpages;
	ReleaseSysCache(tuple);
	return pages;
}

static int
compare_oids(const void *a, const void *b)
{
	Oid			x = *(const Oid *) a;
	Oid			y = *(const Oid *) b;

	return x < y ? -1 : (x > y ? 1 : 0);
}

int
table_indexes(Oid relid, int limit, Oid *oids, int64 *pages)
{
	Relation	rel = table_open(IndexRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	int			count = 0;

	ScanKeyInit(&key, Anum_pg_index_indrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(rel, IndexIndrelidIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_index form = (Form_pg_index) GETSTRUCT(tuple);

		if (!form->indisvalid || !form->indislive)
			continue;
		if (count < limit)
			oids[count] = form->indexrelid;
		count++;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	qsort(oids, Min(count, limit), sizeof(Oid), compare_oids);
	for (int i = 0; i < Min(count, limit); i++)
		pages[i] = pages_of(oids[i]);
	return count;
}
