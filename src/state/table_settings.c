/*
 * table_settings.c
 *		What somebody has set for one table: reads sweep.table_settings.
 *
 * Runs in workers and, for views, in backends.  A worker is a superuser
 * process that CREATE INDEX CONCURRENTLY does not wait for, in a database
 * whose owner may be hostile.  So it asks no SQL and uses no index, and it
 * reads the table only if that is a member of the extension.  Only a
 * superuser can have made it one.  A value that does not parse, as after a
 * restore from elsewhere, is left out.
 *
 * What is set for a table that Citus distributes is meant for its shards: for
 * those that are here, and for those that come later.  So the shards of such
 * tables are read as well.
 *
 * Both are locked with AccessShareLock until the end of the transaction.  A
 * worker does not wait long for that.  As long as somebody locks them nobody
 * knows which tables are to be left alone, so the visit fails and is tried
 * again.
 */
#include "state/table_settings.h"

#include <limits.h>

#include "access/detoast.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "server/clock.h"
#include "server/shards.h"
#include "settings.h"

#define TABLES_LIMIT		100000	/* with settings of their own */
#define LOCK_TRIES			10
#define LOCK_TRY_MS			100

typedef enum ValueKind
{
	VALUE_SWITCH,
	VALUE_SECONDS,
	VALUE_COUNT,
	VALUE_FRACTION
} ValueKind;

static const struct
{
	const char *name;
	ValueKind	kind;
	double		min;
	double		max;
}			definitions[TABLE_SETTING_COUNT] = {
	[TABLE_MIN_INTERVAL] = {"min_interval", VALUE_SECONDS, 0, 24 * 3600},
	[TABLE_ENABLED] = {"enabled", VALUE_SWITCH, 0, 1},
	[TABLE_VACUUM_THRESHOLD] = {"vacuum_threshold", VALUE_COUNT, 0, INT_MAX},
	[TABLE_VACUUM_SCALE_FACTOR] = {"vacuum_scale_factor", VALUE_FRACTION, 0, 100},
	[TABLE_INSERT_THRESHOLD] = {"insert_threshold", VALUE_COUNT, -1, INT_MAX},
	[TABLE_INSERT_SCALE_FACTOR] = {"insert_scale_factor", VALUE_FRACTION, 0, 100},
	[TABLE_INSERT_CACHE_FRACTION] = {"insert_cache_fraction", VALUE_FRACTION, 0, 1},
	[TABLE_CHECKPOINT_AWARE] = {"checkpoint_aware", VALUE_SWITCH, 0, 1},
	[TABLE_EAGER_FREEZE] = {"eager_freeze", VALUE_SWITCH, 0, 1},
	[TABLE_CLEANER] = {"cleaner", VALUE_SWITCH, 0, 1},
};

/* ----
 * Names and values
 * ----
 */

int
table_setting_by_name(const char *name)
{
	for (int i = 0; i < TABLE_SETTING_COUNT; i++)
	{
		if (strcmp(definitions[i].name, name) == 0)
			return i;
	}
	return -1;
}

bool
table_setting_parse(TableSettingName setting, const char *value, double *number)
{
	bool		on;
	int			whole;

	switch (definitions[setting].kind)
	{
		case VALUE_SWITCH:
			if (!parse_bool(value, &on))
				return false;
			*number = on ? 1 : 0;
			break;
		case VALUE_SECONDS:
		case VALUE_COUNT:
			if (!parse_int(value, &whole,
						   definitions[setting].kind == VALUE_SECONDS ? GUC_UNIT_S : 0, NULL))
				return false;
			*number = whole;
			break;
		case VALUE_FRACTION:
			if (!parse_real(value, number, 0, NULL))
				return false;
			break;
	}
	return *number >= definitions[setting].min && *number <= definitions[setting].max;
}

char *
table_setting_range(TableSettingName setting)
{
	if (definitions[setting].kind == VALUE_SWITCH)
		return pstrdup("\"on\" or \"off\"");
	return psprintf("%s from %.0f to %.0f",
					definitions[setting].kind == VALUE_SECONDS ? "a time in seconds, or with its unit," :
					definitions[setting].kind == VALUE_COUNT ? "a whole number" : "a number",
					definitions[setting].min, definitions[setting].max);
}

char *
table_setting_names(void)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < TABLE_SETTING_COUNT; i++)
		appendStringInfo(&names, "%s%s", i > 0 ? ", " : "", definitions[i].name);
	return names.data;
}

/* ----
 * The table
 * ----
 */

Oid
table_settings_relation(void)
{
	Oid			extension = get_extension_oid("pg_sweep", true);
	Oid			schema = get_namespace_oid("sweep", true);
	Oid			relid;

	if (!OidIsValid(extension) || !OidIsValid(schema))
		return InvalidOid;
	relid = get_relname_relid("table_settings", schema);
	if (!OidIsValid(relid) || get_rel_relkind(relid) != RELKIND_RELATION ||
		getExtensionOfObject(RelationRelationId, relid) != extension)
		return InvalidOid;
	return relid;
}

static bool
has_column(TupleDesc desc, int column, const char *name, Oid type)
{
	Form_pg_attribute attribute;

	if (desc->natts < column)
		return false;
	attribute = TupleDescAttr(desc, column - 1);
	return !attribute->attisdropped && attribute->atttypid == type &&
		strcmp(NameStr(attribute->attname), name) == 0;
}

static bool
is_as_created(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);

	return rel->rd_rel->relkind == RELKIND_RELATION &&
		rel->rd_rel->relpersistence == RELPERSISTENCE_PERMANENT &&
		has_column(desc, 1, "relid", REGCLASSOID) &&
		has_column(desc, 2, "name", TEXTOID) &&
		has_column(desc, 3, "value", TEXTOID);
}

static void
lock_relation(Oid relid, const char *name)
{
	if (MyBgworkerEntry == NULL)
	{
		LockRelationOid(relid, AccessShareLock);
		return;
	}
	for (int i = 1; !ConditionalLockRelationOid(relid, AccessShareLock); i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (i >= LOCK_TRIES)
			ereport(ERROR,
					(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
					 errmsg("could not obtain lock on \"%s\"", name),
					 errdetail("pg_sweep vacuums nothing in this database as long as it cannot read it.")));
		clock_wait_until(clock_now() + LOCK_TRY_MS * 1000);
	}
}

/*
 * Returns a text column as a string, or NULL if there is none or it is too
 * long.
 */
static char *
get_text(HeapTuple tuple, TupleDesc desc, int column)
{
	bool		isnull;
	Datum		value = heap_getattr(tuple, column, desc, &isnull);

	if (isnull || toast_raw_datum_size(value) > TABLE_SETTING_VALUE_LIMIT + VARHDRSZ)
		return NULL;
	return TextDatumGetCString(value);
}

static void
take_row(HTAB *settings, HeapTuple tuple, TupleDesc desc)
{
	bool		isnull;
	Oid			relid = DatumGetObjectId(heap_getattr(tuple, 1, desc, &isnull));
	char	   *name = get_text(tuple, desc, 2);
	char	   *value = get_text(tuple, desc, 3);
	int			setting = name ? table_setting_by_name(name) : -1;
	double		number;

	if (!isnull && setting >= 0 && value && table_setting_parse(setting, value, &number))
	{
		bool		found;
		bool		full = hash_get_num_entries(settings) >= TABLES_LIMIT;
		TableSettings *own = hash_search(settings, &relid, full ? HASH_FIND : HASH_ENTER, &found);

		if (own != NULL && !found)
			memset((char *) own + sizeof(Oid), 0, sizeof(*own) - sizeof(Oid));
		if (own != NULL)
		{
			own->is_set[setting] = true;
			own->values[setting] = number;
		}
	}
	if (name)
		pfree(name);
	if (value)
		pfree(value);
}

/* Reads the table.  NULL if it is none of ours, or gone. */
static HTAB *
read_tables(Oid relid)
{
	HTAB	   *settings = NULL;
	HASHCTL		info = {0};
	Snapshot	snapshot;
	Relation	rel;
	SysScanDesc scan;
	HeapTuple	tuple;

	rel = try_relation_open(relid, NoLock);
	if (rel == NULL)
		return NULL;			/* it was dropped with the extension just now */

	if (is_as_created(rel))
	{
		info.keysize = sizeof(Oid);
		info.entrysize = sizeof(TableSettings);
		info.hcxt = CurrentMemoryContext;
		settings = hash_create("sweep table settings", 64, &info,
							   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
		snapshot = RegisterSnapshot(GetLatestSnapshot());
		scan = systable_beginscan(rel, InvalidOid, false, snapshot, 0, NULL);
		while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		{
			CHECK_FOR_INTERRUPTS();
			take_row(settings, tuple, RelationGetDescr(rel));
		}
		systable_endscan(scan);
		UnregisterSnapshot(snapshot);
	}
	relation_close(rel, NoLock);
	return settings;
}

/* Reads the shards of these tables, if any of them has shards. */
static HTAB *
read_shards(HTAB *tables)
{
	Oid			list = shards_list();

	if (!OidIsValid(list) || hash_get_num_entries(tables) == 0)
		return NULL;
	lock_relation(list, "pg_catalog.pg_dist_shard");
	return shards_read(list, tables);
}

DatabaseSettings *
table_settings_read(void)
{
	Oid			relid = table_settings_relation();
	DatabaseSettings *all;
	HTAB	   *tables;

	if (!OidIsValid(relid))
		return NULL;
	lock_relation(relid, "sweep.table_settings");
	tables = read_tables(relid);
	if (tables == NULL)
		return NULL;
	all = palloc(sizeof(DatabaseSettings));
	all->tables = tables;
	all->shards = read_shards(tables);
	return all;
}

void
table_settings_free(DatabaseSettings *all)
{
	if (all == NULL)
		return;
	hash_destroy(all->tables);
	if (all->shards != NULL)
		hash_destroy(all->shards);
	pfree(all);
}

/* ----
 * One table
 * ----
 */

/* Fills up what a shard has of its own with what its table has. */
static void
fill_up(TableSettings *own, const TableSettings *of_table)
{
	for (int i = 0; i < TABLE_SETTING_COUNT; i++)
	{
		if (own->is_set[i] || !of_table->is_set[i])
			continue;
		own->is_set[i] = true;
		own->values[i] = of_table->values[i];
	}
}

const TableSettings *
table_settings_find(DatabaseSettings *all, Form_pg_class table)
{
	TableSettings *own;
	TableSettings *of_table;
	Oid			shell;

	if (all == NULL)
		return NULL;
	own = hash_search(all->tables, &table->oid, HASH_FIND, NULL);
	shell = all->shards != NULL ? shards_shell(all->shards, table) : InvalidOid;
	if (!OidIsValid(shell))
		return own;
	of_table = hash_search(all->tables, &shell, HASH_FIND, NULL);
	if (own == NULL || of_table == NULL)
		return own ? own : of_table;
	fill_up(own, of_table);
	return own;
}

const TableSettings *
table_settings_by_oid(DatabaseSettings *all, Oid relid)
{
	HeapTuple	tuple = all != NULL ? SearchSysCache1(RELOID, ObjectIdGetDatum(relid)) : NULL;
	const TableSettings *found;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	found = table_settings_find(all, (Form_pg_class) GETSTRUCT(tuple));
	ReleaseSysCache(tuple);
	return found;
}
