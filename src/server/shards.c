/*
 * shards.c
 *		Tables whose rows are elsewhere, in shards of Citus.
 *
 * Citus keeps the table that users know as an empty shell.  Its rows are in
 * shards, which are tables of their own on one or several nodes.  Every node
 * with metadata has the shell, and lists all shards: also those that are
 * elsewhere, or have just been moved here.  A shard is known by its name,
 * which is that of the shell with the shard's number behind it.
 *
 * Runs in workers and in backends.  Citus' tables are in pg_catalog, where
 * only a superuser can make one or write to it.  They are read without their
 * indexes and without a query, so no code of anybody's runs.  Without Citus
 * all this is one look-up in the syscache.
 */
#include "server/shards.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "policy/shard_name.h"

#define SHARDS_LIMIT		100000	/* of the tables that are asked for */

/* Where Citus has them, since there is Citus. */
#define COLUMN_SHELL		1	/* logicalrelid */
#define COLUMN_SHARD		2	/* shardid */

typedef struct ShardEntry
{
	int64		shard;			/* hash key */
	Oid			shell;
} ShardEntry;

/* ----
 * Citus' tables
 * ----
 */

static Oid
relation_of_citus(const char *name)
{
	return get_relname_relid(name, PG_CATALOG_NAMESPACE);
}

static bool
has_column(Relation rel, int column, Oid type)
{
	Form_pg_attribute attribute;

	if (RelationGetDescr(rel)->natts < column)
		return false;
	attribute = TupleDescAttr(RelationGetDescr(rel), column - 1);
	return !attribute->attisdropped && attribute->atttypid == type;
}

/* Opens one that is locked.  NULL if it is gone, or is not as Citus has it. */
static Relation
open_locked(Oid relid, bool has_shards)
{
	Relation	rel = try_relation_open(relid, NoLock);

	if (rel == NULL)
		return NULL;
	if (rel->rd_rel->relkind == RELKIND_RELATION && has_column(rel, COLUMN_SHELL, REGCLASSOID) &&
		(!has_shards || has_column(rel, COLUMN_SHARD, INT8OID)))
		return rel;
	relation_close(rel, NoLock);
	return NULL;
}

/* Opens one if there is one and nobody has locked it. */
static Relation
open_if_free(Oid relid, bool has_shards)
{
	Relation	rel;

	if (!OidIsValid(relid) || !ConditionalLockRelationOid(relid, AccessShareLock))
		return NULL;
	rel = open_locked(relid, has_shards);
	if (rel == NULL)
		UnlockRelationOid(relid, AccessShareLock);
	return rel;
}

typedef struct ListScan
{
	Relation	rel;
	Snapshot	snapshot;
	SysScanDesc scan;
	HeapTuple	tuple;			/* the current row */
} ListScan;

static void
scan_begin(ListScan *s, Relation rel)
{
	s->rel = rel;
	s->snapshot = RegisterSnapshot(GetLatestSnapshot());
	s->scan = systable_beginscan(rel, InvalidOid, false, s->snapshot, 0, NULL);
}

static bool
scan_next(ListScan *s)
{
	CHECK_FOR_INTERRUPTS();
	s->tuple = systable_getnext(s->scan);
	return HeapTupleIsValid(s->tuple);
}

static void
scan_end(ListScan *s)
{
	systable_endscan(s->scan);
	UnregisterSnapshot(s->snapshot);
}

/* The column of the current row.  0 for NULL. */
static Datum
scan_column(ListScan *s, int column)
{
	bool		isnull;
	Datum		value = heap_getattr(s->tuple, column, RelationGetDescr(s->rel), &isnull);

	return isnull ? (Datum) 0 : value;
}

static Oid
scan_shell(ListScan *s)
{
	return DatumGetObjectId(scan_column(s, COLUMN_SHELL));
}

static int64
scan_shard(ListScan *s)
{
	Datum		value = scan_column(s, COLUMN_SHARD);

	return value == (Datum) 0 ? 0 : DatumGetInt64(value);
}

bool
shards_is_shell(Oid relid)
{
	Relation	rel = open_if_free(relation_of_citus("pg_dist_partition"), false);
	ListScan	s;
	bool		found = false;

	if (rel == NULL)
		return false;
	scan_begin(&s, rel);
	while (!found && scan_next(&s))
		found = scan_shell(&s) == relid;
	scan_end(&s);
	relation_close(rel, AccessShareLock);
	return found;
}

Oid
shards_list(void)
{
	return relation_of_citus("pg_dist_shard");
}

/* ----
 * Shards
 * ----
 */

/*
 * Is the table a shard of this shell?  A table that somebody else has named
 * like one is none.
 */
static bool
belongs_to(Form_pg_class table, int length, Oid shell)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(shell));
	bool		belongs = false;

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

		belongs = form->relnamespace == table->relnamespace && form->relowner == table->relowner &&
			shard_name_fits(NameStr(table->relname), length, NameStr(form->relname));
		ReleaseSysCache(tuple);
	}
	return belongs;
}

HTAB *
shards_read(Oid list, HTAB *shells)
{
	Relation	rel = open_locked(list, true);
	HASHCTL		info = {0};
	HTAB	   *shards = NULL;
	ListScan	s;

	if (rel == NULL)
		return NULL;
	info.keysize = sizeof(int64);
	info.entrysize = sizeof(ShardEntry);
	info.hcxt = CurrentMemoryContext;
	scan_begin(&s, rel);
	while (scan_next(&s))
	{
		Oid			shell = scan_shell(&s);
		int64		shard = scan_shard(&s);

		if (shard <= 0 || hash_search(shells, &shell, HASH_FIND, NULL) == NULL)
			continue;
		if (shards == NULL)
			shards = hash_create("sweep shards", 64, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
		if (hash_get_num_entries(shards) >= SHARDS_LIMIT)
			break;
		((ShardEntry *) hash_search(shards, &shard, HASH_ENTER, NULL))->shell = shell;
	}
	scan_end(&s);
	relation_close(rel, NoLock);
	return shards;
}

Oid
shards_shell(HTAB *shards, Form_pg_class table)
{
	int			length;
	int64		number = shard_name_number(NameStr(table->relname), &length);
	ShardEntry *entry = number > 0 ? hash_search(shards, &number, HASH_FIND, NULL) : NULL;

	return entry != NULL && belongs_to(table, length, entry->shell) ? entry->shell : InvalidOid;
}

/* The shell of the shard of this number. */
static Oid
look_up(int64 number)
{
	Relation	rel = open_if_free(shards_list(), true);
	ListScan	s;
	Oid			shell = InvalidOid;

	if (rel == NULL)
		return InvalidOid;
	scan_begin(&s, rel);
	while (!OidIsValid(shell) && scan_next(&s))
	{
		if (scan_shard(&s) == number)
			shell = scan_shell(&s);
	}
	scan_end(&s);
	relation_close(rel, AccessShareLock);
	return shell;
}

Oid
shards_shell_of(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			shell = InvalidOid;
	Form_pg_class table;
	int64		number;
	int			length;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	table = (Form_pg_class) GETSTRUCT(tuple);
	number = shard_name_number(NameStr(table->relname), &length);
	if (number > 0)
		shell = look_up(number);
	if (OidIsValid(shell) && !belongs_to(table, length, shell))
		shell = InvalidOid;
	ReleaseSysCache(tuple);
	return shell;
}
