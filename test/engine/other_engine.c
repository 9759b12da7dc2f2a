/*
 * other_engine.c
 *		Another extension, with the habits of those that run beside pg_sweep:
 *		for tests only.
 *
 * - Its utility hook reads the name of every relation of a VACUUM or ANALYZE
 *   without looking whether there is one, before and after the command, as
 *   Citus does.  It ends the transaction after VACUUM and begins another.
 * - It sends such commands elsewhere, unless a setting says not to:
 *   citus.enable_ddl_propagation, because that is the one that pg_sweep knows.
 *   Here "elsewhere" is a line in the log.
 * - It raises errors where it is told to.
 * - Its planner hook hides tables from clients' queries of pg_class, unless
 *   citus.override_table_visibility is off.
 *
 * Tables are picked by their names: those that begin with "shard_" are hidden.
 *
 * - Its access method "hollow" is heap, but for VACUUM, which does nothing and
 *   tells the statistics nothing.
 * - It has functions with names that pg_sweep has, too.  Nobody may call
 *   another library's by mistake.
 * - other_engine_forbid() takes a part of shared memory away from the session,
 *   so that whoever looks there crashes.
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "access/heapam.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "commands/vacuum.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "optimizer/planner.h"
#include "storage/proc.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"

PG_MODULE_MAGIC;

/* Names that are pg_sweep's, too: one that it keeps to itself, and two that it shows. */
extern PGDLLEXPORT void candidates_collect(void);
extern PGDLLEXPORT void clock_now(void);
extern PGDLLEXPORT void ledger_last(void);

void
candidates_collect(void)
{
	elog(PANIC, "candidates_collect() of another extension was called");
}

void
clock_now(void)
{
	elog(PANIC, "clock_now() of another extension was called");
}

void
ledger_last(void)
{
	elog(PANIC, "ledger_last() of another extension was called");
}

#define HIDDEN_NAMES	"^shard_"

static bool propagate = true;	/* citus.enable_ddl_propagation */
static bool hide = true;		/* citus.override_table_visibility */
static char *throw_before = NULL;	/* other_engine.throw_before: a table's
									 * name */
static char *throw_after = NULL;

static ProcessUtility_hook_type prev_process_utility = NULL;
static planner_hook_type prev_planner = NULL;

void		_PG_init(void);

/* ----
 * Commands
 * ----
 */

static void
throw_if(const char *wanted, const RangeVar *name, const char *when, const char *command)
{
	if (wanted && wanted[0] != '\0' && strcmp(wanted, name->relname) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("other engine: no \"%s\", please", name->relname),
				 errdetail("%s the command \"%s\".", when, command)));
}

static void
before(const VacuumStmt *stmt, const char *command)
{
	ListCell   *lc;

	foreach(lc, stmt->rels)
		throw_if(throw_before, lfirst_node(VacuumRelation, lc)->relation, "Before", command);
}

static void
after(const VacuumStmt *stmt, const char *command)
{
	ListCell   *lc;

	foreach(lc, stmt->rels)
		throw_if(throw_after, lfirst_node(VacuumRelation, lc)->relation, "After", command);
	if (!propagate)
		return;
	if (stmt->is_vacuumcmd)
	{
		CommitTransactionCommand();
		StartTransactionCommand();
	}
	foreach(lc, stmt->rels)
	{
		const RangeVar *name = lfirst_node(VacuumRelation, lc)->relation;

		elog(LOG, "other engine: %s %s.%s, OID %u, sent to all nodes by %s",
			 stmt->is_vacuumcmd ? "VACUUM" : "ANALYZE",
			 name->schemaname ? name->schemaname : "", name->relname,
			 RangeVarGetRelid(name, NoLock, true), GetBackendTypeDesc(MyBackendType));
	}
}

static void
call_next(PlannedStmt *pstmt, const char *queryString, bool readOnlyTree,
		  ProcessUtilityContext context, ParamListInfo params,
		  QueryEnvironment *queryEnv, DestReceiver *dest, QueryCompletion *qc)
{
	if (prev_process_utility)
		prev_process_utility(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
	else
		standard_ProcessUtility(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
}

/* The statement that others see is a copy. */
static void
process_utility(PlannedStmt *pstmt, const char *queryString, bool readOnlyTree,
				ProcessUtilityContext context, ParamListInfo params,
				QueryEnvironment *queryEnv, DestReceiver *dest, QueryCompletion *qc)
{
	if (!IsA(pstmt->utilityStmt, VacuumStmt))
	{
		call_next(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
		return;
	}
	pstmt = copyObject(pstmt);
	before((VacuumStmt *) pstmt->utilityStmt, queryString);
	call_next(pstmt, queryString, false, context, params, queryEnv, dest, qc);
	after((VacuumStmt *) pstmt->utilityStmt, queryString);
}

/* ----
 * Queries
 * ----
 */

/* relname !~ HIDDEN_NAMES */
static Node *
not_hidden(Index varno)
{
	Var		   *relname = makeVar(varno, Anum_pg_class_relname, NAMEOID, -1, C_COLLATION_OID, 0);
	Const	   *pattern = makeConst(TEXTOID, -1, C_COLLATION_OID, -1,
									CStringGetTextDatum(HIDDEN_NAMES), false, false);

	return (Node *) makeFuncExpr(F_NAMEREGEXNE, BOOLOID, list_make2(relname, pattern),
								 InvalidOid, C_COLLATION_OID, COERCE_EXPLICIT_CALL);
}

static bool
is_joined(Node *node, Index *varno)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblRef))
		return ((RangeTblRef *) node)->rtindex == *varno;
	return expression_tree_walker(node, is_joined, varno);
}

static bool
filter(Node *node, void *context)
{
	Query	   *query = (Query *) node;
	Index		varno = 0;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, filter, context);
	foreach(lc, query->rtable)
	{
		RangeTblEntry *entry = lfirst_node(RangeTblEntry, lc);

		varno++;
		if (entry->rtekind == RTE_RELATION && entry->relid == RelationRelationId &&
			is_joined((Node *) query->jointree->fromlist, &varno))
			query->jointree->quals = make_and_qual(query->jointree->quals, not_hidden(varno));
	}
	return query_tree_walker(query, filter, context, 0);
}

/* 19 tells the planner what EXPLAIN wants. */
#if PG_VERSION_NUM >= 190000
#define PLANNER_PARAMETERS	Query *parse, const char *text, int options, ParamListInfo params, struct ExplainState *es
#define PLANNER_ARGUMENTS	parse, text, options, params, es
#else
#define PLANNER_PARAMETERS	Query *parse, const char *text, int options, ParamListInfo params
#define PLANNER_ARGUMENTS	parse, text, options, params
#endif

static PlannedStmt *
planner_filter(PLANNER_PARAMETERS)
{
	if (hide && MyBackendType == B_BACKEND)
		(void) filter((Node *) parse, NULL);
	if (prev_planner)
		return prev_planner(PLANNER_ARGUMENTS);
	return standard_planner(PLANNER_ARGUMENTS);
}

/* ----
 * Crashes
 * ----
 */

PG_FUNCTION_INFO_V1(other_engine_forbid);

/* So far from "Proc Header", and of that size, whole pages only: see pg_shmem_allocations. */
Datum
other_engine_forbid(PG_FUNCTION_ARGS)
{
	uintptr_t	page = (uintptr_t) sysconf(_SC_PAGESIZE);
	uintptr_t	from = (uintptr_t) ProcGlobal + PG_GETARG_INT64(0);
	uintptr_t	to = (from + PG_GETARG_INT64(1)) / page * page;

	from = (from + page - 1) / page * page;
	if (mprotect((void *) from, to - from, PROT_NONE) != 0)
		elog(ERROR, "mprotect: %m");
	PG_RETURN_VOID();
}

/* ----
 * An access method
 * ----
 */

#if PG_VERSION_NUM >= 190000
#define PARAMS	const VacuumParams *
#else
#define PARAMS	struct VacuumParams *
#endif

static void
vacuum_nothing(Relation rel, PARAMS params, BufferAccessStrategy strategy)
{
}

PG_FUNCTION_INFO_V1(other_engine_hollow);
Datum
other_engine_hollow(PG_FUNCTION_ARGS)
{
	static TableAmRoutine hollow;

	hollow = *GetHeapamTableAmRoutine();
	hollow.relation_vacuum = vacuum_nothing;
	PG_RETURN_POINTER(&hollow);
}

/* ----
 * Entry point
 * ----
 */

void
_PG_init(void)
{
	DefineCustomBoolVariable("citus.enable_ddl_propagation", "Sends commands elsewhere.", NULL,
							 &propagate, true, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("citus.override_table_visibility", "Hides tables.", NULL,
							 &hide, true, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("other_engine.throw_before", "Table before whose VACUUM an error is raised.", NULL,
							   &throw_before, "", PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("other_engine.throw_after", "Table after whose VACUUM an error is raised.", NULL,
							   &throw_after, "", PGC_SUSET, 0, NULL, NULL, NULL);

	prev_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
	prev_planner = planner_hook;
	planner_hook = planner_filter;
}
