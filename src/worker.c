/*
 * worker.c
 *		The process that vacuums: one database, one table at a time, the most
 *		urgent first.
 *
 * Started by the launcher for a database in which something seems due.  It
 * looks at all tables with exact data, vacuums what is due, remembers for each
 * what it decided, lingers a little for more work, and leaves.
 *
 * Every vacuum is a VACUUM command in a portal of its own, as a client's would
 * be: stable across majors, and the same permissions, security restrictions
 * and locks apply.  SKIP_LOCKED: it never waits for a table.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "commands/dbcommands.h"
#include "utils/lsyscache.h"
#include "commands/defrem.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "pgstat.h"
#include "postmaster/autovacuum.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/dest.h"
#include "tcop/pquery.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/timestamp.h"

#include "bgworker.h"
#include "breaker.h"
#include "candidates.h"
#include "clock.h"
#include "compat.h"
#include "decisions.h"
#include "horizon.h"
#include "ledger.h"
#include "log.h"
#include "meter.h"
#include "policy/backoff.h"
#include "scout.h"
#include "worker_slot.h"

#define CANCELLED_BACKOFF_MS	(5 * 60 * 1000)
#define CANCELLED_BACKOFF_MAX_MS	(24 * 60 * 60 * 1000)
#define LOCKED_BACKOFF_MS		(10 * 1000)
#define LOCKED_BACKOFF_MAX_MS	(5 * 60 * 1000)
#define FAILED_BACKOFF_MS		(60 * 1000)
#define FAILED_BACKOFF_MAX_MS	(60 * 60 * 1000)
#define RECHECK_MS				(10 * 60 * 1000)
#define RECHECK_OBSERVED_MS		(60 * 1000)

static char *my_database;
static int	server_log_level;	/* log_min_messages before we lowered it */

/* Takes part in sharing the cost limit, or not any more. */
static void
share_limit(bool share)
{
	static bool sharing = false;

	if (share && !sharing)
		pg_atomic_fetch_add_u32(&sweep_shared->vacuuming, 1);
	if (!share && sharing)
		pg_atomic_fetch_sub_u32(&sweep_shared->vacuuming, 1);
	sharing = share;
}

static void
stop_sharing(int code, Datum arg)
{
	share_limit(false);
}

/* Called between vacuums: a cancel request that comes too late is dropped. */
static bool
must_stop(void)
{
	bgworker_end_if_told(0);
	QueryCancelPending = false;
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
	return worker_slot_is_stopped() || shmem_is_off() || settings_database_scope(my_database) != DATABASE_OURS;
}

/* ----
 * Deciding
 * ----
 */

static Decision
new_decision(const Candidate *c, DecisionKind kind)
{
	Decision	d;

	memset(&d, 0, sizeof(d));
	d.key = c->key;
	d.kind = kind;
	d.mentioned = true;
	d.last_at = clock_now();
	d.catalog_horizon = c->catalog_horizon;
	d.dead_threshold = c->thresholds.vacuum;
	d.ins_threshold = c->thresholds.insert;
	d.dead = c->dead;
	d.ins = c->ins;
	strlcpy(d.schemaname, c->schemaname, NAMEDATALEN);
	strlcpy(d.relname, c->relname, NAMEDATALEN);
	return d;
}

static void
decide_and_wait(const Candidate *c, DecisionKind kind, int64 wait_ms)
{
	Decision	d = new_decision(c, kind);

	d.not_before = clock_after(d.last_at, wait_ms);
	decision_put(&d);
}

/* The scout looks at it again when it has doubled, or was vacuumed by others. */
static void
decide_observed(const Candidate *c)
{
	Decision	d = new_decision(c, DECISION_OBSERVED);

	d.not_before = clock_after(d.last_at, RECHECK_OBSERVED_MS);
	d.dead_growth = 2 * c->dead;
	d.ins_growth = 2 * c->ins;
	decision_put(&d);
}

/* Independent of the table's counters: the scout answers the same. */
static bool
must_still_wait(const Decision *old, const Candidate *c)
{
	if (old->kind == DECISION_OBSERVED && sweep_mode == SWEEP_ACT)
		return false;
	return clock_now() < old->not_before ||
		(FullTransactionIdIsValid(old->horizon) &&
		 !FullTransactionIdFollowsOrEquals(horizon_of_database(c->key.dboid, old->catalog_horizon),
										   old->horizon));
}

/*
 * The failures stay, for the back-off should it become due again.  But the
 * scout must measure it by what it is due by now, or it would ask every time.
 */
static void
remember_thresholds(Decision *old, const Candidate *c)
{
	if (old->dead_threshold == c->thresholds.vacuum &&
		old->ins_threshold == c->thresholds.insert)
		return;
	old->dead_threshold = c->thresholds.vacuum;
	old->ins_threshold = c->thresholds.insert;
	decision_put(old);
}

/*
 * Not due.  Worth remembering when the scout, which knows neither reloptions
 * nor pg_class, would think otherwise now or too late.
 */
static void
decide_not_due(const Candidate *c)
{
	ThresholdSettings settings = scout_server_settings();
	Thresholds	scout = threshold_compute(&settings, c->live, 0, 0);
	Decision	old;
	bool		known = decision_get(c->key, &old);
	bool		vacuumed_since = known && (c->dead < old.dead || c->ins < old.ins);
	bool		looks_due = threshold_vacuum_due(&scout, c->dead) ||
		threshold_insert_due(&scout, c->ins);

	/* what has to be waited for is not over because it is not due just now */
	if (known && must_still_wait(&old, c))
		return;
	if (known && old.failures > 0 && !vacuumed_since)
	{
		remember_thresholds(&old, c);
		return;
	}

	if (looks_due || c->opts != NULL || !c->enabled || known ||
		c->thresholds.vacuum < 0.8 * scout.vacuum ||
		(c->thresholds.insert >= 0 && c->thresholds.insert < 0.8 * scout.insert))
	{
		Decision	d = new_decision(c, DECISION_BELOW_THRESHOLD);

		d.mentioned = looks_due;
		decision_put(&d);
	}
}

static FullTransactionId
horizon_now(bool catalog, void *arg)
{
	return horizon_of_database(((const Candidate *) arg)->key.dboid, catalog);
}

/* Does what was decided earlier still hold? */
static bool
must_wait(const Candidate *c)
{
	Decision	d;

	if (!decision_get(c->key, &d) || d.kind == DECISION_DISABLED)
		return false;
	/* it is due by what its thresholds are now */
	d.dead_threshold = c->thresholds.vacuum;
	d.ins_threshold = c->thresholds.insert;
	return !decision_is_over(&d, c->dead, c->ins, clock_now(), horizon_now,
							 unconstify(Candidate *, c));
}

/* Decides about a table; true: vacuum it now. */
static bool
decide(const Candidate *c)
{
	if (!candidate_is_due(c))
	{
		decide_not_due(c);
		return false;
	}
	if (!c->enabled)
	{
		decide_and_wait(c, DECISION_DISABLED, RECHECK_MS);
		return false;
	}
	if (c->temporary)
	{
		decide_and_wait(c, DECISION_TEMPORARY, RECHECK_MS);
		return false;
	}
	if (must_wait(c))
		return false;
	if (c->wraparound_near)
	{
		decide_and_wait(c, DECISION_LEFT_TO_CORE, RECHECK_MS);
		return false;
	}
	if (sweep_mode != SWEEP_ACT)
	{
		decide_observed(c);
		return false;
	}
	return true;
}

/* ----
 * One VACUUM
 * ----
 */

static void
force_int(const char *name, int value)
{
	char		text[16];

	snprintf(text, sizeof(text), "%d", value);
	SetConfigOption(name, text, PGC_SUSET, PGC_S_OVERRIDE);
}

/*
 * The settings that core's autovacuum worker would use for this table.  A
 * table with a cost reloption of its own is, as in core, not part of the
 * balance; the others share the limit, which is returned, else 0.
 */
static int
apply_table_settings(const AutoVacOpts *opts)
{
	bool		own_cost = opts && (opts->vacuum_cost_limit > 0 || opts->vacuum_cost_delay >= 0);
	double		delay = autovacuum_vac_cost_delay;
	int			limit = autovacuum_vac_cost_limit;
	char		text[32];

	if (opts && opts->vacuum_cost_delay >= 0)
		delay = opts->vacuum_cost_delay;
	if (opts && opts->vacuum_cost_limit > 0)
		limit = opts->vacuum_cost_limit;
	if (delay >= 0)
	{
		snprintf(text, sizeof(text), "%g", delay);
		SetConfigOption("vacuum_cost_delay", text, PGC_SUSET, PGC_S_OVERRIDE);
	}
	if (limit <= 0)
		limit = VacuumCostLimit;
	share_limit(!own_cost);
	force_int("vacuum_cost_limit", own_cost ? limit : meter_own_limit(limit));

	if (opts && opts->freeze_min_age >= 0)
		force_int("vacuum_freeze_min_age", opts->freeze_min_age);
	if (opts && opts->freeze_table_age >= 0)
		force_int("vacuum_freeze_table_age", opts->freeze_table_age);
	if (opts && opts->multixact_freeze_min_age >= 0)
		force_int("vacuum_multixact_freeze_min_age", opts->multixact_freeze_min_age);
	if (opts && opts->multixact_freeze_table_age >= 0)
		force_int("vacuum_multixact_freeze_table_age", opts->multixact_freeze_table_age);
	return own_cost ? 0 : limit;
}

static DefElem *
option(const char *name, Node *value)
{
	return makeDefElem(pstrdup(name), value, -1);
}

/* InvalidOid: no table, only the database's frozen ids (16+). */
static VacuumStmt *
make_statement(Oid relid)
{
	VacuumStmt *stmt = makeNode(VacuumStmt);

	stmt->is_vacuumcmd = true;
	if (relid == InvalidOid)
	{
		stmt->options = list_make1(option("only_database_stats", (Node *) makeBoolean(true)));
		return stmt;
	}
	stmt->options = list_make4(option("verbose", (Node *) makeBoolean(true)),
							   option("skip_locked", (Node *) makeBoolean(true)),
							   option("process_toast", (Node *) makeBoolean(false)),
							   option("parallel", (Node *) makeInteger(0)));
#if COMPAT_HAS_SKIP_DATABASE_STATS
	stmt->options = lappend(stmt->options,
							option("skip_database_stats", (Node *) makeBoolean(true)));
#endif
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
	PortalDefineQuery(portal, NULL, "VACUUM", CMDTAG_VACUUM, list, NULL);
	PortalStart(portal, NULL, 0, InvalidSnapshot);
	compat_portal_run(portal, None_Receiver);
	PortalDrop(portal, false);
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
}

/* Runs the statement; 0, or the SQLSTATE of the error, which is logged. */
static int
try_statement(VacuumStmt *stmt, const char *what)
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
		errcontext("automatic vacuum by pg_sweep of table \"%s\"", what);
		EmitErrorReport();
		AbortOutOfAnyTransaction();
		FlushErrorState();
		MemoryContextSwitchTo(context);
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	return sqlstate;
}

/* ----
 * One table
 * ----
 */

static void
log_run(const Candidate *c, const RunRecord *run, const char *reason)
{
	int			min_ms = sweep_log_min_duration_ms >= 0 ?
		sweep_log_min_duration_ms : compat_log_vacuum_min_duration(c->opts);

	if (min_ms >= 0 && run->ended_at - run->started_at >= (int64) min_ms * 1000)
		log_captured(reason);
}

/*
 * What a vacuum came to.  Rows that it could not remove yet will not be
 * removable before everything that ran when it began is gone.
 */
static void
decide_after(const Candidate *c, const RunRecord *run, FullTransactionId next_xid)
{
	Decision	old;
	Decision	d;
	int64		base_ms;
	int64		max_ms;
	DecisionKind kind;

	if (run->outcome == RUN_DONE)
	{
		d = new_decision(c, run->dead_not_removable > 0 ? DECISION_HELD_BACK : DECISION_VACUUMED);
		d.not_before = clock_after(d.last_at, (int64) 1000 *
								   (c->catalog ? sweep_catalog_min_interval_s : sweep_min_interval_s));
		if (run->dead_not_removable > 0)
			d.horizon = next_xid;
		decision_put(&d);
		return;
	}

	if (run->outcome == RUN_SKIPPED)
	{
		kind = DECISION_LOCKED;
		base_ms = LOCKED_BACKOFF_MS;
		max_ms = LOCKED_BACKOFF_MAX_MS;
	}
	else if (run->outcome == RUN_CANCELLED)
	{
		kind = DECISION_CANCELLED;
		base_ms = CANCELLED_BACKOFF_MS;
		max_ms = CANCELLED_BACKOFF_MAX_MS;
	}
	else
	{
		kind = DECISION_FAILED;
		base_ms = FAILED_BACKOFF_MS;
		max_ms = FAILED_BACKOFF_MAX_MS;
	}

	d = new_decision(c, kind);
	d.failures = 1;
	if (decision_get(c->key, &old) && old.kind == kind)
		d.failures = Min(old.failures + 1, 100);
	d.not_before = clock_after(d.last_at, backoff_ms(base_ms, max_ms, d.failures));
	decision_put(&d);
}

/* A run that ended before it had its table has done nothing, but has been tried. */
static void
record_unbegun(const Candidate *c, const char *reason, TimestampTz began, int sqlstate,
			   RunRecord *run)
{
	memset(run, 0, sizeof(*run));
	run->pid = MyProcPid;
	run->dboid = MyDatabaseId;
	run->relid = c->key.relid;
	run->command = RUN_VACUUM;
	run->starter = RUN_BY_SWEEP;
	run->started_at = began;
	run->ended_at = clock_now();
	run->pages = run->index_pass = run->tuples_removed = run->dead_not_removable = -1;
	strlcpy(run->schemaname, c->schemaname, NAMEDATALEN);
	strlcpy(run->relname, c->relname, NAMEDATALEN);
	if (sqlstate == 0)
	{
		run->outcome = RUN_SKIPPED;
		snprintf(run->reason, sizeof(run->reason), "%s; lock not available", reason);
	}
	else
	{
		run->outcome = sqlstate == ERRCODE_QUERY_CANCELED ? RUN_CANCELLED : RUN_FAILED;
		strlcpy(run->reason, reason, sizeof(run->reason));
	}
	ledger_add(run);
}

static void
describe_reason(const Candidate *c, char *reason)
{
	if (c->score.vacuum_score >= c->score.vacuum_insert_score)
		snprintf(reason, RUN_REASON_LEN, "dead tuples " INT64_FORMAT " > %.0f, score %.2f",
				 c->dead, c->thresholds.vacuum, c->score.score);
	else
		snprintf(reason, RUN_REASON_LEN, "inserted tuples " INT64_FORMAT " > %.0f, score %.2f",
				 c->ins, c->thresholds.insert, c->score.score);
}

static void
vacuum_table(Candidate *c)
{
	char		reason[RUN_REASON_LEN];
	char		activity[NAMEDATALEN * 2 + 32];
	FullTransactionId next_xid = ReadNextFullTransactionId();
	TimestampTz began = clock_now();
	RunRecord	run;
	bool		recorded;
	int			sqlstate;
	int			shared_limit;

	describe_reason(c, reason);
	snprintf(activity, sizeof(activity), "sweep: VACUUM %s.%s", c->schemaname, c->relname);
	pgstat_report_activity(STATE_RUNNING, activity);
	bgworker_become_vacuum();	/* undoes what the last table had of its own */
	shared_limit = apply_table_settings(c->opts);

	meter_own_begin(c->schemaname, c->relname, reason, shared_limit);
	log_capture_begin(my_database, c->schemaname, c->relname, server_log_level);
	sqlstate = try_statement(make_statement(c->key.relid), c->relname);
	log_capture_end();
	share_limit(false);
	recorded = meter_own_end(&run);

	if (worker_slot_is_stopped())
		return;					/* cancelled by ourselves: no back-off */
	if (recorded)
		log_run(c, &run, reason);
	if (!candidate_refresh(c))
		return;					/* dropped meanwhile */
	if (!recorded)
		record_unbegun(c, reason, began, sqlstate, &run);
	decide_after(c, &run, next_xid);
	pgstat_report_stat(true);
}

/* ----
 * A visit
 * ----
 */

static int
more_urgent_first(const ListCell *a, const ListCell *b)
{
	double		x = ((const Candidate *) lfirst(a))->score.score;
	double		y = ((const Candidate *) lfirst(b))->score.score;

	return x < y ? 1 : (x > y ? -1 : 0);
}

static bool
table_is_there(const Decision *decision, void *arg)
{
	return decision->key.dboid != MyDatabaseId ||
		hash_search(arg, &decision->key.relid, HASH_FIND, NULL) != NULL;
}

/* Decisions about tables that are gone make room for others. */
static void
forget_dropped_tables(List *candidates)
{
	HASHCTL		info = {0};
	HTAB	   *relids;
	ListCell   *lc;

	info.keysize = info.entrysize = sizeof(Oid);
	info.hcxt = CurrentMemoryContext;
	relids = hash_create("sweep tables", Max(list_length(candidates), 1), &info,
						 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	foreach(lc, candidates)
		(void) hash_search(relids, &((Candidate *) lfirst(lc))->key.relid, HASH_ENTER, NULL);
	decision_forget(table_is_there, relids);
	hash_destroy(relids);
}

/*
 * Looks at all tables and vacuums what is due; false when there is no point in
 * staying.
 */
static bool
visit(void)
{
	List	   *candidates = candidates_read();
	List	   *due = NIL;
	ListCell   *lc;
	bool		vacuumed = false;
	bool		remembered;
	uint64		dropped = pg_atomic_read_u64(&sweep_shared->decisions_dropped);

	forget_dropped_tables(candidates);
	foreach(lc, candidates)
	{
		if (decide(lfirst(lc)))
			due = lappend(due, lfirst(lc));
	}
	list_sort(due, more_urgent_first);

	foreach(lc, due)
	{
		Candidate  *c = lfirst(lc);

		if (must_stop())
			return false;

		/* much may have happened while others were vacuumed */
		if (!worker_slot_claim(c->key))
			continue;
		if (candidate_refresh(c) && decide(c))
		{
			vacuum_table(c);
			vacuumed = true;
		}
		worker_slot_unclaim();
	}

	/* what could not be remembered would be asked for again at once */
	remembered = pg_atomic_read_u64(&sweep_shared->decisions_dropped) == dropped;
	worker_slot_visited(remembered);
	if (!remembered)
		return false;

	if (vacuumed && COMPAT_HAS_SKIP_DATABASE_STATS && !must_stop())
		(void) try_statement(make_statement(InvalidOid), my_database);
	return !must_stop();
}

/* Waits for the launcher to want another visit; false: nothing came. */
static bool
linger(void)
{
	TimestampTz until = clock_after(clock_now(), (int64) sweep_linger_s * 1000);

	pgstat_report_activity(STATE_IDLE, NULL);
	worker_slot_linger();
	while (!worker_slot_is_wanted() && clock_now() < until && !must_stop())
		clock_wait_until(until);
	return worker_slot_linger_end() && !must_stop();
}

void
sweep_worker_main(Datum arg)
{
	MemoryContext context;

	bgworker_prologue();
	breaker_mark_process(&sweep_shared->worker_marks[bgworker_arg_slot(arg)]);
	if (!worker_slot_begin(arg))
		proc_exit(0);
	before_shmem_exit(stop_sharing, (Datum) 0);

	BackgroundWorkerInitializeConnectionByOid(worker_slot_database(), InvalidOid, 0);
	bgworker_become_vacuum();
	server_log_level = compat_log_min_messages();
	SetConfigOption("log_min_messages", "info", PGC_SUSET, PGC_S_OVERRIDE);

	/* not a child of anything that VACUUM's commits reset */
	context = AllocSetContextCreate(TopMemoryContext, "sweep visit", ALLOCSET_DEFAULT_SIZES);
	StartTransactionCommand();
	my_database = MemoryContextStrdup(TopMemoryContext, get_database_name(MyDatabaseId));
	CommitTransactionCommand();

	for (;;)
	{
		bool		more;

		MemoryContextSwitchTo(context);
		more = !must_stop() && visit();
		MemoryContextSwitchTo(context);
		MemoryContextReset(context);
		if (!more || !linger())
			break;
	}
	proc_exit(0);
}
