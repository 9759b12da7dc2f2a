/*
 * statement.c
 *		The VACUUM and ANALYZE commands that a worker runs.
 *
 * Each runs in a portal of its own, as a client's would.  That is stable
 * across majors, and the same permissions, security restrictions and locks
 * apply.  With SKIP_LOCKED a command never waits for a table.
 *
 * The table is given by its OID and by its name.  The server goes by the OID,
 * whatever the table is called by then.  The name is for the utility hooks of
 * other extensions: a client's command has one, and there are hooks that read
 * it without looking.
 */
#include "worker/statement.h"

#include "access/xact.h"
#include "catalog/catalog.h"
#include "commands/defrem.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/lock.h"
#include "tcop/dest.h"
#include "tcop/pquery.h"
#include "utils/builtins.h"
#include "utils/portal.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include "meter/log.h"
#include "meter/meter.h"
#include "server/compat.h"
#include "server/lock_waiter.h"

static DefElem *
option(const char *name, Node *value)
{
	return makeDefElem(pstrdup(name), value, -1);
}

VacuumStmt *
statement_database_stats(void)
{
	VacuumStmt *stmt = makeNode(VacuumStmt);

	stmt->is_vacuumcmd = true;
	stmt->options = list_make1(option("only_database_stats", (Node *) makeBoolean(true)));
	return stmt;
}

static List *
relation_of(Oid relid, const char *schemaname, const char *relname)
{
	RangeVar   *name = makeRangeVar(pstrdup(schemaname), pstrdup(relname), -1);

	return list_make1(makeVacuumRelation(name, relid, NIL));
}

VacuumStmt *
statement_vacuum(Oid relid, const char *schemaname, const char *relname,
				 const StatementOptions *options)
{
	VacuumStmt *stmt = makeNode(VacuumStmt);

	stmt->is_vacuumcmd = true;
	stmt->options = list_make4(option("verbose", (Node *) makeBoolean(true)),
							   option("skip_locked", (Node *) makeBoolean(true)),
							   option("process_toast", (Node *) makeBoolean(false)),
							   option("parallel", (Node *) makeInteger(options->parallel)));
	if (options->keep_indexes)
		stmt->options = lappend(stmt->options,
								option("index_cleanup", (Node *) makeString(pstrdup("off"))));
	else if (options->all_indexes)
		stmt->options = lappend(stmt->options,
								option("index_cleanup", (Node *) makeString(pstrdup("on"))));
	if (options->keep_size)
		stmt->options = lappend(stmt->options,
								option("truncate", (Node *) makeBoolean(false)));
#if COMPAT_HAS_SKIP_DATABASE_STATS
	stmt->options = lappend(stmt->options,
							option("skip_database_stats", (Node *) makeBoolean(true)));
#endif
	stmt->rels = relation_of(relid, schemaname, relname);
	return stmt;
}

VacuumStmt *
statement_analyze(Oid relid, const char *schemaname, const char *relname)
{
	VacuumStmt *stmt = makeNode(VacuumStmt);

	stmt->is_vacuumcmd = false;
	stmt->options = list_make1(option("skip_locked", (Node *) makeBoolean(true)));
	stmt->rels = relation_of(relid, schemaname, relname);
	return stmt;
}

/*
 * Does what exec_simple_query() does, but without a text to parse.  So
 * nothing has to be quoted, and no rename can come between.  VACUUM commits
 * inside and throws the transaction's memory away.  That is why the trees are
 * in the caller's context.
 */
static void
run_statement(void *arg)
{
	VacuumStmt *stmt = arg;
	MemoryContext context = CurrentMemoryContext;
	PlannedStmt *pstmt = makeNode(PlannedStmt);
	List	   *list;
	Portal		portal;
	const VacuumRelation *relation = stmt->rels ? linitial(stmt->rels) : NULL;
	const char *text = stmt->is_vacuumcmd ? "VACUUM" : "ANALYZE";

	/* who logs commands shall name the table */
	if (relation != NULL)
		text = psprintf("%s %s", text, quote_qualified_identifier(relation->relation->schemaname,
																  relation->relation->relname));
	pstmt->commandType = CMD_UTILITY;
	pstmt->canSetTag = true;
	pstmt->utilityStmt = (Node *) stmt;
	pstmt->stmt_location = -1;
	list = list_make1(pstmt);

	StartTransactionCommand();
	portal = CreatePortal("sweep", true, true);
	portal->visible = false;
	if (stmt->is_vacuumcmd)
		PortalDefineQuery(portal, NULL, text, CMDTAG_VACUUM, list, NULL);
	else
		PortalDefineQuery(portal, NULL, text, CMDTAG_ANALYZE, list, NULL);
	PortalStart(portal, NULL, 0, InvalidSnapshot);
	compat_portal_run(portal, None_Receiver);
	PortalDrop(portal, false);
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
}

static bool gave_way = false;	/* the last statement did */
static int	limit_ms = 0;
static TimestampTz limit_since = 0;

/* Notes in the run's reason whom it had to give way to. */
static void
note_waiter(Oid relid)
{
	int			pid = OidIsValid(relid) ? lock_waiter_first(MyDatabaseId, relid) : 0;
	char		text[32];

	if (pid == 0)
		return;
	gave_way = true;
	snprintf(text, sizeof(text), "gave way to pid %d", pid);
	meter_own_add_reason(text);
}

/* Is it cancelled because it took longer than statement_limit() allows? */
static bool
is_over_limit(void)
{
	return limit_ms > 0 && TimestampDifferenceExceeds(limit_since, GetCurrentTimestamp(), limit_ms);
}

void
statement_limit(int ms)
{
	limit_ms = ms;
	limit_since = GetCurrentTimestamp();
	if (ms > 0)
		enable_timeout_after(STATEMENT_TIMEOUT, ms);
	else
	{
		/* what came too late must not end what comes next */
		disable_timeout(STATEMENT_TIMEOUT, false);
		QueryCancelPending = false;
	}
}

int
statement_try_call(void (*call) (void *arg), void *arg, Oid relid, const char *doing, const char *what)
{
	MemoryContext context = CurrentMemoryContext;
	volatile int sqlstate = 0;

	gave_way = false;
	PG_TRY();
	{
		QueryCancelPending = false;
		call(arg);
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		sqlstate = geterrcode();
		log_capture_end();
		MemoryContextSwitchTo(context);
		/* the locks that somebody waits for are still held here */
		if (sqlstate == ERRCODE_QUERY_CANCELED && is_over_limit())
		{
			char		text[32];

			snprintf(text, sizeof(text), "took longer than %d s", limit_ms / 1000);
			meter_own_add_reason(text);
		}
		else if (sqlstate == ERRCODE_QUERY_CANCELED)
			note_waiter(relid);
		errcontext("automatic %s by pg_sweep of table \"%s\"", doing, what);
		EmitErrorReport();
		AbortOutOfAnyTransaction();
		FlushErrorState();
		MemoryContextSwitchTo(context);
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	return sqlstate;
}

bool
statement_must_wait(Oid relid, LOCKMODE mode)
{
	LOCKTAG		tag;
	int			count;

	SET_LOCKTAG_RELATION(tag, IsSharedRelation(relid) ? InvalidOid : MyDatabaseId, relid);
	pfree(GetLockConflicts(&tag, mode, &count));
	return count > 0;
}

bool
statement_gave_way(void)
{
	return gave_way;
}

int
statement_try(VacuumStmt *stmt, const char *what)
{
	const VacuumRelation *relation = stmt->rels ? linitial(stmt->rels) : NULL;

	return statement_try_call(run_statement, stmt, relation ? relation->oid : InvalidOid,
							  stmt->is_vacuumcmd ? "vacuum" : "analyze", what);
}
