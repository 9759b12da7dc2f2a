/*
 * statement.c
 *		The VACUUM and ANALYZE commands that a worker runs.
 *
 * Each in a portal of its own, as a client's would be: stable across majors,
 * and the same permissions, security restrictions and locks apply.
 * SKIP_LOCKED: it never waits for a table.
 */
#include "statement.h"

#include "access/xact.h"
#include "commands/defrem.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "tcop/dest.h"
#include "tcop/pquery.h"
#include "utils/portal.h"

#include "compat.h"
#include "lock_waiter.h"
#include "log.h"
#include "meter.h"

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

VacuumStmt *
statement_vacuum(Oid relid, const StatementOptions *options)
{
	VacuumStmt *stmt = makeNode(VacuumStmt);

	stmt->is_vacuumcmd = true;
	stmt->options = list_make4(option("verbose", (Node *) makeBoolean(true)),
							   option("skip_locked", (Node *) makeBoolean(true)),
							   option("process_toast", (Node *) makeBoolean(false)),
							   option("parallel", (Node *) makeInteger(0)));
	if (options->keep_indexes)
		stmt->options = lappend(stmt->options,
								option("index_cleanup", (Node *) makeString(pstrdup("off"))));
	if (options->keep_size)
		stmt->options = lappend(stmt->options,
								option("truncate", (Node *) makeBoolean(false)));
#if COMPAT_HAS_SKIP_DATABASE_STATS
	stmt->options = lappend(stmt->options,
							option("skip_database_stats", (Node *) makeBoolean(true)));
#endif
	stmt->rels = list_make1(makeVacuumRelation(NULL, relid, NIL));
	return stmt;
}

VacuumStmt *
statement_analyze(Oid relid)
{
	VacuumStmt *stmt = makeNode(VacuumStmt);

	stmt->is_vacuumcmd = false;
	stmt->options = list_make1(option("skip_locked", (Node *) makeBoolean(true)));
	stmt->rels = list_make1(makeVacuumRelation(NULL, relid, NIL));
	return stmt;
}

/*
 * As exec_simple_query() does, but without a text to parse: no quoting, and no
 * race with a rename.  VACUUM commits inside and throws the transaction's
 * memory away, so the trees are in the caller's context.
 */
static void
run_statement(VacuumStmt *stmt)
{
	MemoryContext context = CurrentMemoryContext;
	PlannedStmt *pstmt = makeNode(PlannedStmt);
	List	   *list;
	Portal		portal;

	pstmt->commandType = CMD_UTILITY;
	pstmt->canSetTag = true;
	pstmt->utilityStmt = (Node *) stmt;
	pstmt->stmt_location = -1;
	list = list_make1(pstmt);

	StartTransactionCommand();
	portal = CreatePortal("sweep", true, true);
	portal->visible = false;
	if (stmt->is_vacuumcmd)
		PortalDefineQuery(portal, NULL, "VACUUM", CMDTAG_VACUUM, list, NULL);
	else
		PortalDefineQuery(portal, NULL, "ANALYZE", CMDTAG_ANALYZE, list, NULL);
	PortalStart(portal, NULL, 0, InvalidSnapshot);
	compat_portal_run(portal, None_Receiver);
	PortalDrop(portal, false);
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
}

/* Whom it had to give way to becomes part of the run's reason. */
static void
note_waiter(const VacuumStmt *stmt)
{
	const VacuumRelation *relation = stmt->rels ? linitial(stmt->rels) : NULL;
	int			pid = relation ? lock_waiter_first(MyDatabaseId, relation->oid) : 0;
	char		text[32];

	if (pid == 0)
		return;
	snprintf(text, sizeof(text), "; gave way to pid %d", pid);
	meter_own_add_reason(text);
}

int
statement_try(VacuumStmt *stmt, const char *what)
{
	MemoryContext context = CurrentMemoryContext;
	volatile int sqlstate = 0;

	PG_TRY();
	{
		QueryCancelPending = false;
		run_statement(stmt);
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		sqlstate = geterrcode();
		log_capture_end();
		MemoryContextSwitchTo(context);
		/* its locks are still held */
		if (sqlstate == ERRCODE_QUERY_CANCELED)
			note_waiter(stmt);
		if (stmt->is_vacuumcmd)
			errcontext("automatic vacuum by pg_sweep of table \"%s\"", what);
		else
			errcontext("automatic analyze by pg_sweep of table \"%s\"", what);
		EmitErrorReport();
		AbortOutOfAnyTransaction();
		FlushErrorState();
		MemoryContextSwitchTo(context);
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	return sqlstate;
}
