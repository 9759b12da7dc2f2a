/*
 * set_command.c
 *		sweep.set(): writes sweep.table_settings.
 *
 * Nobody has INSERT on that table but the extension's owner.  But whoever may
 * vacuum a table may set its values.  So the function checks that, and the
 * value.  Then it writes as the table's owner, in a security-restricted
 * operation, with every name qualified.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "shmem.h"
#include "sql/audit_calls.h"
#include "sql/distributed.h"
#include "sql/vacuumable.h"
#include "state/surveys.h"
#include "state/table_settings.h"

#define INSERT_SQL \
	"INSERT INTO %s AS s (relid, name, value, set_by, set_at)" \
	" VALUES ($1, $2, $3, $4, pg_catalog.now())" \
	" ON CONFLICT (relid, name) DO UPDATE SET value = excluded.value," \
	" set_by = excluded.set_by, set_at = excluded.set_at"
#define DELETE_SQL \
	"DELETE FROM %s s WHERE s.relid OPERATOR(pg_catalog.=) $1" \
	" AND s.name OPERATOR(pg_catalog.=) $2"

/*
 * Finds rows of tables that were dropped, because their OIDs may be given
 * again.  It does not look into pg_class, of which an extension may hide a
 * part.
 */
#define CLEAN_SQL \
	"DELETE FROM %s s WHERE pg_catalog.pg_table_is_visible(s.relid) IS NULL"

static Oid
owner_of(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

static void
execute(const char *format, const char *table, int nargs, Oid *types, Datum *values)
{
	char	   *sql = psprintf(format, table);
	int			rc = SPI_execute_with_args(sql, nargs, types, values, NULL, false, 0);

	if (rc < 0)
		elog(ERROR, "could not change \"%s\": %s", table, SPI_result_code_string(rc));
	pfree(sql);
}

/* Writes a value, or removes it if value is NULL. */
static void
write_setting(Oid relid, const char *name, const char *value)
{
	Oid			types[] = {REGCLASSOID, TEXTOID, TEXTOID, TEXTOID};
	Datum		values[4] = {0};
	Oid			settings = table_settings_relation();
	char	   *table;
	char	   *role = GetUserNameFromId(GetUserId(), false);
	Oid			save_userid;
	int			save_sec_context;

	if (!OidIsValid(settings))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("\"sweep.table_settings\" is not the table of extension \"pg_sweep\""),
				 errhint("Drop and create the extension, or ALTER EXTENSION pg_sweep UPDATE.")));
	table = quote_qualified_identifier(get_namespace_name(get_rel_namespace(settings)),
									   get_rel_name(settings));
	values[0] = ObjectIdGetDatum(relid);
	values[1] = CStringGetTextDatum(name);
	values[2] = value ? CStringGetTextDatum(value) : (Datum) 0;
	values[3] = CStringGetTextDatum(role);

	/* an error restores these, with the transaction */
	GetUserIdAndSecContext(&save_userid, &save_sec_context);
	SetUserIdAndSecContext(owner_of(settings), save_sec_context |
						   SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	execute(CLEAN_SQL, table, 0, NULL, NULL);
	if (value)
		execute(INSERT_SQL, table, 4, types, values);
	else
		execute(DELETE_SQL, table, 2, types, values);
	SPI_finish();
	SetUserIdAndSecContext(save_userid, save_sec_context);
}

PG_FUNCTION_INFO_V1(sweep_set_0_1);
Datum
sweep_set_0_1(PG_FUNCTION_ARGS)
{
	Vacuumable	table;
	char	   *name;
	char	   *value = NULL;
	int			setting;
	double		number;

	shmem_require();
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("table and name of a setting must not be null")));
	name = text_to_cstring(PG_GETARG_TEXT_PP(1));
	if (!PG_ARGISNULL(2))
		value = text_to_cstring(PG_GETARG_TEXT_PP(2));

	vacuumable_check(PG_GETARG_OID(0), &table);
	if (table.relkind == RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a partitioned table", table.relname),
				 errhint("It has no rows of its own.  Set the values of its partitions.")));
	if (table.relkind == RELKIND_TOASTVALUE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a TOAST table", table.relname),
				 errhint("It takes the values of its table.")));

	setting = table_setting_by_name(name);
	if (setting < 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("a table has no setting \"%s\"", name),
				 errhint("There are: %s.", table_setting_names())));
	if (value && strlen(value) > TABLE_SETTING_VALUE_LIMIT)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_RIGHT_TRUNCATION),
				 errmsg("value for \"%s\" is too long", name),
				 errdetail("It has %zu bytes.  At most %d are allowed.",
						   strlen(value), TABLE_SETTING_VALUE_LIMIT)));
	if (value && !table_setting_parse(setting, value, &number))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for \"%s\": \"%s\"", name, value),
				 errhint("It must be %s.", table_setting_range(setting))));

	write_setting(table.relid, name, value);
	if (value)
		distributed_tell(&table);
	surveys_ask_at_commit();
	audit_table("set", &table, value ? psprintf("%s = '%s'", name, value) : psprintf("%s = NULL", name));
	PG_RETURN_VOID();
}
