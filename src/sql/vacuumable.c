/*
 * vacuumable.c
 *		A relation that a user names to have it vacuumed, or not: what VACUUM
 *		would check.
 *
 * Runs in any backend, and takes no lock.  What is named may be dropped at
 * any moment, also after it was checked.  Whoever uses it must be ready for
 * that.
 */
#include "sql/vacuumable.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "server/compat.h"

static bool
read_class(Oid relid, Vacuumable *table, bool *temporary)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;
	char	   *schemaname;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_class) GETSTRUCT(tuple);
	memset(table, 0, sizeof(*table));
	table->relid = relid;
	table->key.dboid = form->relisshared ? InvalidOid : MyDatabaseId;
	table->key.relid = relid;
	table->relkind = form->relkind;
	table->toastrelid = form->reltoastrelid;
	schemaname = get_namespace_name(form->relnamespace);
	strlcpy(table->schemaname, schemaname ? schemaname : "", NAMEDATALEN);
	strlcpy(table->relname, NameStr(form->relname), NAMEDATALEN);
	*temporary = form->relpersistence == RELPERSISTENCE_TEMP;
	ReleaseSysCache(tuple);
	return true;
}

static bool
has_rows(char relkind)
{
	return relkind == RELKIND_RELATION || relkind == RELKIND_MATVIEW ||
		relkind == RELKIND_TOASTVALUE;
}

bool
vacuumable_read(Oid relid, Vacuumable *table)
{
	bool		temporary;

	return read_class(relid, table, &temporary);
}

void
vacuumable_check(Oid relid, Vacuumable *table)
{
	bool		temporary;

	if (!read_class(relid, table, &temporary))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	if (table->relkind == RELKIND_FOREIGN_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a foreign table", table->relname),
				 errhint("It is vacuumed where its rows are.")));
	if (!has_rows(table->relkind) && table->relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table, materialized view, or TOAST table", table->relname)));
	if (temporary)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a temporary table", table->relname),
				 errhint("Only its own session can vacuum it.")));
	if (!compat_may_vacuum(relid))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for table %s", table->relname),
				 errdetail("Only a role that may VACUUM the table can do that.")));
}

Vacuumable *
vacuumable_expand(const Vacuumable *table, int *count)
{
	List	   *relids;
	ListCell   *lc;
	Vacuumable *leaves;

	if (table->relkind != RELKIND_PARTITIONED_TABLE)
	{
		leaves = palloc(sizeof(Vacuumable));
		*leaves = *table;
		*count = 1;
		return leaves;
	}

	relids = find_all_inheritors(table->relid, NoLock, NULL);
	leaves = palloc(sizeof(Vacuumable) * list_length(relids));
	*count = 0;
	foreach(lc, relids)
	{
		Vacuumable *leaf = &leaves[*count];
		bool		temporary;

		CHECK_FOR_INTERRUPTS();
		if (!read_class(lfirst_oid(lc), leaf, &temporary) || !has_rows(leaf->relkind) || temporary)
			continue;
		if (!compat_may_vacuum(leaf->relid))
			ereport(WARNING,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("permission denied to vacuum \"%s\", skipping it", leaf->relname)));
		else
			(*count)++;
	}
	list_free(relids);
	return leaves;
}
