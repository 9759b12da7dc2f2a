/*
 * distributed.c
 *		Tables that Citus distributes, for those who ask or act by SQL.
 *
 * The rows of such a table are in shards, and the pg_sweep of each node looks
 * after those that are there.  To vacuum the table itself does nothing for
 * its rows.  So whoever asks for that is told.
 *
 * Runs in any backend.  See server/shards.c for what it locks.
 */
#include "sql/distributed.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "server/shards.h"
#include "shmem.h"

void
distributed_refuse(const Vacuumable *table, const char *command)
{
	if (!shards_is_shell(table->relid))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is distributed by Citus and has no rows of its own", table->relname),
			 errdetail("Its rows are in shards, which are tables of their own on the nodes."),
			 errhint("Ask for its shards: SELECT * FROM run_command_on_shards(%s, $cmd$SELECT %s$cmd$);",
					 quote_literal_cstr(quote_qualified_identifier(table->schemaname, table->relname)),
					 command)));
}

void
distributed_tell(const Vacuumable *table)
{
	if (shards_is_shell(table->relid))
		ereport(NOTICE,
				(errmsg("\"%s\" is distributed by Citus: this holds for its shards on this node, and for those that come later",
						table->relname),
				 errhint("Other nodes have settings of their own.  \"pgsweep fleet set\" sets it on all of them.")));
}

PG_FUNCTION_INFO_V1(sweep_is_distributed_0_1);
Datum
sweep_is_distributed_0_1(PG_FUNCTION_ARGS)
{
	shmem_require();
	PG_RETURN_BOOL(shards_is_shell(PG_GETARG_OID(0)));
}

PG_FUNCTION_INFO_V1(sweep_shell_0_1);
Datum
sweep_shell_0_1(PG_FUNCTION_ARGS)
{
	Oid			shell;

	shmem_require();
	shell = shards_shell_of(PG_GETARG_OID(0));
	if (!OidIsValid(shell))
		PG_RETURN_NULL();
	PG_RETURN_OID(shell);
}
