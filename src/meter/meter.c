/*
 * meter.c
 *		What counts a running vacuum's work, inside the process that does it.
 *
 * There are two ways in:
 * - The statement hook knows of VACUUM and ANALYZE commands, ours included.
 * - The transaction callback knows of core autovacuum workers and of parallel
 *   vacuum workers, which run no statement, and of the end of each table.
 *
 * What happens then is in meter_slot.c (live) and meter_record.c (exact).
 *
 * PRE_COMMIT must not raise an error of its own.  COMMIT and ABORT cannot
 * fail.
 */
#include "meter/meter.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "commands/defrem.h"
#include "commands/progress.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "tcop/utility.h"
#include "utils/backend_status.h"

#include "meter/log.h"
#include "meter/meter_process.h"
#include "meter/pacer.h"
#include "server/breaker.h"
#include "server/compat.h"
#include "server/features.h"
#include "shmem.h"

/* The run that PRE_COMMIT identified, for COMMIT to record. */
static RunRecord pending;
static bool pending_valid = false;

static ProcessUtility_hook_type prev_process_utility = NULL;

/* ----
 * The transaction callback
 * ----
 */

static ProcessKind
process_identify(void)
{
	if (!IsUnderPostmaster || MyProc == NULL)
		return PROCESS_PLAIN;
	if (compat_am_autovacuum_worker())
		return PROCESS_AUTOVACUUM;
	if (IsParallelWorker() && MyProc->lockGroupLeader != NULL &&
		(MyProc->lockGroupLeader->statusFlags & PROC_IN_VACUUM) != 0)
		return PROCESS_PARALLEL;
	return PROCESS_PLAIN;
}

static void
pacer_end_at_exit(int code, Datum arg)
{
	pacer_end();
}

/*
 * Called once per process.  FATAL if another library used up all user
 * timeouts.  At exit the pacer ends before the slot is released, because what
 * is registered last is called first.
 */
static void
process_joins(void)
{
	meter_tick_register();
	meter_slot_take();
	on_shmem_exit(pacer_end_at_exit, (Datum) 0);
}

/* Records what the transaction was, if anything.  Then the next run begins. */
static void
transaction_ended(bool committed)
{
	RunRecord	run;

	meter_this.statement.ends++;
	if (committed)
	{
		if (pending_valid)
			meter_record_run(&pending, RUN_DONE);
	}
	else
	{
		if (feature_is_ok(FEATURE_LOCKS) && meter_identify_run(&run, false))
		{
			run.pages = run.tuples_removed = run.dead_not_removable = run.memory_bytes = -1;
			meter_record_run(&run, meter_outcome_of_error(meter_this.statement.sqlstate != 0 ?
														  meter_this.statement.sqlstate : log_last_sqlstate));
		}
		meter_this.statement.active = false;
	}
	pending_valid = false;
	meter_base_take();
}

/*
 * Metering was switched off meanwhile.  There is no record, but nothing is
 * left behind either.
 */
static void
transaction_forgotten(bool committed)
{
	if (!committed)
		meter_this.statement.active = false;
	pending_valid = false;
	meter_base_take();
}

static pg_noinline void
meter_transaction(XactEvent event)
{
	bool		joins;

	if (meter_this.statement.clean)
		return;
	if (meter_this.kind == PROCESS_UNKNOWN)
		meter_this.kind = process_identify();
	if (meter_this.kind == PROCESS_PLAIN && !meter_this.statement.active)
		return;
	if (pg_atomic_read_u32(&sweep_shared->metering) == 0 || !feature_is_ok(FEATURE_METER))
	{
		/* a worker of ours that is stopped says what it has done so far */
		if (meter_slot != NULL && event == XACT_EVENT_ABORT && meter_this.own.active &&
			feature_is_ok(FEATURE_METER))
			transaction_ended(false);
		else if (meter_slot != NULL && (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT))
			transaction_forgotten(event == XACT_EVENT_COMMIT);
		return;
	}

	joins = meter_slot == NULL;
	if (joins)
	{
		if (meter_slot_busy)	/* it was released, because the process is
								 * about to end */
			return;
		process_joins();
		meter_title_save();
		meter_base_take();
	}

	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			/* of what has just ended nothing was counted */
			pending_valid = !joins && feature_is_ok(FEATURE_LOCKS) && meter_identify_run(&pending, true);
			if (pending_valid)
			{
				meter_count_remains(&pending);
				meter_describe_run(&pending);
				meter_measure_memory(&pending);
			}
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
			transaction_ended(event == XACT_EVENT_COMMIT);
			break;
		case XACT_EVENT_PARALLEL_PRE_COMMIT:
			if (meter_slot != NULL && (MyProc->statusFlags & PROC_IN_VACUUM) != 0)
			{
				pacer_end();
				meter_parallel_end();
			}
			return;
		default:
			break;
	}

	/* the next table may have another delay, and an error stops all timers */
	if (meter_this.kind != PROCESS_PLAIN)
	{
		if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT)
			pacer_begin(meter_this.kind == PROCESS_PARALLEL ? PACER_PARALLEL : PACER_CORE,
						PACER_CAN, PACER_YIELDS, 0, false);
		meter_tick_start(compat_cost_delay());
	}
}

static void
meter_xact_callback(XactEvent event, void *arg)
{
	/* the usual case, in every transaction of every session */
	int			before;

	if (likely(meter_this.kind == PROCESS_PLAIN && !meter_this.statement.active))
		return;
	before = breaker_enter();
	meter_transaction(event);
	/* an ERROR may have come out of what was entered before */
	breaker_leave(event == XACT_EVENT_ABORT ? 0 : before);
}

/* ----
 * The statement hook
 * ----
 */

static bool
option_is_on(const VacuumStmt *stmt, const char *name)
{
	ListCell   *lc;

	foreach(lc, stmt->options)
	{
		DefElem    *option = (DefElem *) lfirst(lc);

		if (strcmp(option->defname, name) == 0)
			return defGetBoolean(option);
	}
	return false;
}

/* The table of an ANALYZE of just one table, or InvalidOid. */
static Oid
only_relation(const VacuumStmt *stmt)
{
	VacuumRelation *relation;

	if (stmt->is_vacuumcmd || list_length(stmt->rels) != 1)
		return InvalidOid;
	relation = linitial_node(VacuumRelation, stmt->rels);
	if (OidIsValid(relation->oid))
		return relation->oid;
	return RangeVarGetRelid(relation->relation, NoLock, true);
}

static void
run_begin(bool vacuum, bool full, bool clean, Oid only_relid, PacerCan can)
{
	int			before = breaker_enter();

	if (meter_this.kind == PROCESS_UNKNOWN)
		meter_this.kind = process_identify();
	if (meter_slot == NULL)
		process_joins();

	meter_this.statement.vacuum = vacuum;
	meter_this.statement.full = full;
	meter_this.statement.clean = clean;
	meter_this.statement.ends = meter_this.statement.tables = 0;
	meter_this.statement.only_relid = only_relid;
	meter_this.statement.sqlstate = 0;
	meter_this.statement.failed_relid = InvalidOid;
	log_last_sqlstate = 0;
	log_last_error[0] = '\0';
	meter_this.statement.active = true;
	meter_forget_recorded();
	if (sweep_process_title)
		meter_title_save();
	meter_base_take();
	pacer_begin(meter_this.own.active ? PACER_OWN : PACER_STATEMENT, can,
				meter_this.own.active ? meter_this.own.yields : PACER_YIELDS,
				meter_this.own.active ? meter_this.own.pace : 0,
				meter_this.own.active && meter_this.own.shared_limit == 0);
	meter_tick_start(pacer_delay_expected(VacuumCostDelay));
	breaker_leave(before);
}

/* This may raise an error.  Before it can, nothing has been changed. */
static void
statement_begin(const VacuumStmt *stmt)
{
	bool		full = stmt->is_vacuumcmd && option_is_on(stmt, "full");
	Oid			only_relid = only_relation(stmt);

	run_begin(stmt->is_vacuumcmd, full, false, only_relid, pacer_can(stmt, full));
}

/*
 * An ANALYZE of one table, or one inside a transaction block, has no
 * transaction of its own.  So it is recorded here.
 */
static void
record_analyze(void)
{
	RunRecord	run;

	memset(&run, 0, sizeof(run));
	run.command = RUN_ANALYZE;
	run.starter = meter_starter_now();
	run.relid = meter_this.statement.only_relid;
	run.pages = -1;
	run.tuples_removed = run.dead_not_removable = run.memory_bytes = -1;
	if (run.relid == InvalidOid)
		run.relid = meter_relation_of_transaction();
	else if (!compat_holds_lock(run.relid, ShareUpdateExclusiveLock))
		return;					/* skipped, with a WARNING */
	if (run.relid == InvalidOid)
		return;
	meter_describe_run(&run);
	meter_record_run(&run, RUN_DONE);
}

static void
statement_end(void)
{
	int			before = breaker_enter();

	meter_tick_stop();
	pacer_end();
	if (!meter_this.statement.vacuum && meter_this.statement.ends == 0 && feature_is_ok(FEATURE_LOCKS))
		record_analyze();
	meter_this.statement.active = false;
	meter_base_take();
	if (sweep_process_title)
		meter_title_restore();
	breaker_leave(before);
}

/*
 * Has a vacuum of ours its table, but not yet its indexes?  All that it does
 * before it scans is to wait for their locks.
 */
static bool
has_not_begun(void)
{
	return meter_this.own.active && MyBEEntry != NULL &&
		MyBEEntry->st_progress_command == PROGRESS_COMMAND_VACUUM &&
		MyBEEntry->st_progress_param[PROGRESS_VACUUM_PHASE] == 0;
}

/*
 * The ABORT that follows makes the record, because no LWLock can be held any
 * more then.  If only a subtransaction ends, as in a PL/pgSQL function that
 * catches the error, there is no record: its work cannot be told from the
 * rest.
 */
static void
statement_failed(void)
{
	int			before = breaker_enter();

	meter_tick_stop();
	pacer_end();
	meter_this.statement.sqlstate = geterrcode();
	if (meter_this.statement.sqlstate == ERRCODE_QUERY_CANCELED && has_not_begun())
		meter_this.statement.sqlstate = ERRCODE_LOCK_NOT_AVAILABLE;
	if (MyBEEntry != NULL && MyBEEntry->st_progress_command != PROGRESS_COMMAND_INVALID)
		meter_this.statement.failed_relid = MyBEEntry->st_progress_command_target;
	if (GetCurrentTransactionNestLevel() > 1)
	{
		meter_this.statement.active = false;
		meter_base_take();
	}
	breaker_leave(before);
}

/*
 * May this process meter a statement?  The first time it checks the server's
 * layout.
 */
static bool
can_meter(const VacuumStmt *stmt, ProcessUtilityContext context)
{
	if (sweep_shared == NULL || meter_this.statement.active || IsParallelWorker() ||
		RecoveryInProgress() ||
		pg_atomic_read_u32(&sweep_shared->metering) == 0 ||
		(meter_slot == NULL && meter_slot_busy))
		return false;
	if (stmt->is_vacuumcmd && context == PROCESS_UTILITY_TOPLEVEL)
		features_check();
	return feature_is_ok(FEATURE_METER);
}

/*
 * This is apart from the hook, whose frame every utility statement pays for.
 */
static pg_noinline void
meter_statement(PlannedStmt *pstmt, const char *queryString, bool readOnlyTree,
				ProcessUtilityContext context, ParamListInfo params,
				QueryEnvironment *queryEnv, DestReceiver *dest,
				QueryCompletion *qc)
{
	if (!can_meter((VacuumStmt *) pstmt->utilityStmt, context))
	{
		prev_process_utility(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
		return;
	}

	statement_begin((VacuumStmt *) pstmt->utilityStmt);
	PG_TRY();
	{
		prev_process_utility(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
	}
	PG_CATCH();
	{
		statement_failed();
		PG_RE_THROW();
	}
	PG_END_TRY();
	statement_end();
}

static void
meter_process_utility(PlannedStmt *pstmt, const char *queryString, bool readOnlyTree,
					  ProcessUtilityContext context, ParamListInfo params,
					  QueryEnvironment *queryEnv, DestReceiver *dest,
					  QueryCompletion *qc)
{
	/*
	 * both are tail calls, which jump and leave the arguments where they are
	 */
	if (unlikely(IsA(pstmt->utilityStmt, VacuumStmt)))
		meter_statement(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
	else
		prev_process_utility(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
}

/* ----
 * For other files
 * ----
 */

void
meter_install_hooks(void)
{
	RegisterXactCallback(meter_xact_callback, NULL);
	prev_process_utility = ProcessUtility_hook ? ProcessUtility_hook : standard_ProcessUtility;
	ProcessUtility_hook = meter_process_utility;
}

void
meter_own_begin(const char *schemaname, const char *relname, const char *reason,
				int shared_limit, PacerYields yields, double pace, int64 partition_changes)
{
	meter_this.own.yields = yields;
	meter_this.own.pace = pace;
	meter_this.own.partition_changes = partition_changes;
	meter_this.own.shared_limit = shared_limit;
	strlcpy(meter_this.own.schemaname, schemaname, NAMEDATALEN);
	strlcpy(meter_this.own.relname, relname, NAMEDATALEN);
	strlcpy(meter_this.own.reason, reason, RUN_REASON_LEN);
	meter_this.own.recorded = false;
	meter_this.own.active = true;
}

void
meter_own_add_reason(const char *more)
{
	run_add_reason(meter_this.own.reason, more);
}

bool
meter_own_end(RunRecord *run)
{
	meter_this.own.active = false;
	if (meter_this.own.recorded)
		*run = meter_this.own.run;
	return meter_this.own.recorded;
}

void
meter_clean_begin(void)
{
	if (pg_atomic_read_u32(&sweep_shared->metering) != 0 && feature_is_ok(FEATURE_METER))
		run_begin(true, false, true, InvalidOid, PACER_CAN);
}

void
meter_clean_end(Oid relid, int sqlstate, int64 pages, int64 tuples_removed)
{
	RunRecord	run;

	if (!meter_this.statement.clean)
		return;
	memset(&run, 0, sizeof(run));
	run.command = RUN_CLEAN;
	run.starter = meter_starter_now();
	run.relid = relid;
	run.pages = pages;
	run.tuples_removed = tuples_removed;
	run.dead_not_removable = run.memory_bytes = -1;
	if (pg_atomic_read_u32(&sweep_shared->metering) != 0)
		meter_record_run(&run, sqlstate == 0 ? RUN_DONE : meter_outcome_of_error(sqlstate));
	meter_clean_forget();
}

void
meter_clean_forget(void)
{
	if (!meter_this.statement.clean)
		return;
	meter_tick_stop();
	pacer_end();
	meter_this.statement.active = meter_this.statement.clean = false;
	meter_base_take();
}

void
meter_report(int64 tuples_removed, int64 dead_not_removable,
			 int64 index_scans, bool aggressive)
{
	meter_this.report.tuples_removed = tuples_removed;
	meter_this.report.dead_not_removable = dead_not_removable;
	meter_this.report.index_scans = index_scans;
	meter_this.report.aggressive = aggressive;
}
