/*
 * table_vacuum.c
 *		One vacuum or analyze of one table by a worker: its settings, the
 *		command, the record, and what follows from it.
 */
#include "table_vacuum.h"

#include "access/transam.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/autovacuum.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "utils/guc.h"

#include "bgworker.h"
#include "clock.h"
#include "compat.h"
#include "ledger.h"
#include "log.h"
#include "meter.h"
#include "statement.h"
#include "weigh.h"
#include "worker_slot.h"

/*
 * ANALYZE of a partitioned table waits for locks on its partitions, holding
 * others: not for long.
 */
#define ANALYZE_LOCK_TIMEOUT_MS	100
#define ADAPTIVE_IO_BLOCKS	4

static const char *my_database;
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
apply_table_settings(const AutoVacOpts *opts, bool eager)
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

	/*
	 * What the kernel collects it writes all at once some time, and then
	 * every commit on a slow disk waits for that; as do readers for a large
	 * read.
	 */
	if (sweep_adaptive && !own_cost)
	{
		if (backend_flush_after == 0)
			force_int("backend_flush_after", ADAPTIVE_IO_BLOCKS);
		if (compat_io_combine_is_default())
			force_int("io_combine_limit", ADAPTIVE_IO_BLOCKS);
	}

	/* not FREEZE: that is aggressive, and waits for pins */
	if (opts && opts->freeze_min_age >= 0)
		force_int("vacuum_freeze_min_age", opts->freeze_min_age);
	else if (eager)
		force_int("vacuum_freeze_min_age", 0);
	if (opts && opts->freeze_table_age >= 0)
		force_int("vacuum_freeze_table_age", opts->freeze_table_age);
	if (opts && opts->multixact_freeze_min_age >= 0)
		force_int("vacuum_multixact_freeze_min_age", opts->multixact_freeze_min_age);
	else if (eager)
		force_int("vacuum_multixact_freeze_min_age", 0);
	if (opts && opts->multixact_freeze_table_age >= 0)
		force_int("vacuum_multixact_freeze_table_age", opts->multixact_freeze_table_age);
	return own_cost ? 0 : limit;
}

static void
log_run(const Candidate *c, const RunRecord *run, const char *reason)
{
	int			min_ms = sweep_log_min_duration_ms >= 0 ?
		sweep_log_min_duration_ms : compat_log_vacuum_min_duration(c->opts);

	if (min_ms >= 0 && run->ended_at - run->started_at >= (int64) min_ms * 1000)
		log_captured(reason);
}

/* A run that ended before it had its table has done nothing, but has been tried. */
static void
record_unbegun(const Candidate *c, RunCommand command, const char *reason,
			   TimestampTz began, int sqlstate, RunRecord *run)
{
	memset(run, 0, sizeof(*run));
	run->pid = MyProcPid;
	run->dboid = MyDatabaseId;
	run->relid = c->key.relid;
	run->command = command;
	run->starter = RUN_BY_SWEEP;
	run->started_at = began;
	run->ended_at = clock_now();
	run->pages = run->index_pass = run->tuples_removed = run->dead_not_removable = -1;
	run->memory_bytes = run->partition_changes = -1;
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
describe_reason(const Candidate *c, const Verdict *verdict, char *reason)
{
	char		what[64];

	if (verdict->requested_by)
	{
		snprintf(reason, RUN_REASON_LEN, "requested by %s", verdict->requested_by);
		return;
	}
	candidate_why_due(c, what, sizeof(what));
	snprintf(reason, RUN_REASON_LEN, "%s, score %.2f", what, c->score.score);
}

void
table_vacuum_prepare(const char *database)
{
	my_database = database;
	server_log_level = compat_log_min_messages();
	SetConfigOption("log_min_messages", "info", PGC_SUSET, PGC_S_OVERRIDE);
	before_shmem_exit(stop_sharing, (Datum) 0);
}

/* Settings, activity, meter and log of the next command. */
static void
begin_run(const Candidate *c, RunCommand command, const char *reason, bool eager,
		  int64 partition_changes)
{
	char		activity[NAMEDATALEN * 2 + 32];
	int			shared_limit;

	snprintf(activity, sizeof(activity), "sweep: %s %s.%s", run_command_name(command),
			 c->schemaname, c->relname);
	pgstat_report_activity(STATE_RUNNING, activity);
	bgworker_become_vacuum();	/* undoes what the last table had of its own */
	shared_limit = apply_table_settings(c->opts, eager);

	meter_own_begin(c->schemaname, c->relname, reason, shared_limit, partition_changes);
	log_capture_begin(my_database, c->schemaname, c->relname, server_log_level);
}

/* true: run is what the meter has recorded. */
static bool
end_run(RunRecord *run)
{
	log_capture_end();
	share_limit(false);
	return meter_own_end(run);
}

RunOutcome
table_vacuum(Candidate *c, const Verdict *verdict)
{
	char		reason[RUN_REASON_LEN];
	FullTransactionId next_xid = ReadNextFullTransactionId();
	TimestampTz began = clock_now();
	RunRecord	run;
	bool		recorded;
	int			sqlstate;
	Candidate	before = *c;

	describe_reason(c, verdict, reason);
	begin_run(c, RUN_VACUUM, reason, verdict->eager, -1);
	sqlstate = statement_try(statement_vacuum(c->key.relid, &verdict->options), c->relname);
	recorded = end_run(&run);

	if (worker_slot_is_stopped())
		return RUN_CANCELLED;	/* by ourselves: no back-off */
	if (recorded)
		log_run(c, &run, reason);
	c->vacuumed_now = recorded;
	if (!candidate_is_there(c))
		return RUN_DONE;		/* dropped meanwhile */
	if (!recorded)
		record_unbegun(c, RUN_VACUUM, reason, began, sqlstate, &run);
	decide_after(c, &before, verdict, &run, next_xid);
	pgstat_report_stat(true);
	return (RunOutcome) run.outcome;
}

static void
log_analyze(const Candidate *c, const RunRecord *run, const char *reason)
{
	int			min_ms = sweep_log_min_duration_ms >= 0 ?
		sweep_log_min_duration_ms : compat_log_analyze_min_duration();

	if (run->outcome == RUN_DONE && min_ms >= 0 &&
		run->ended_at - run->started_at >= (int64) min_ms * 1000)
		ereport(LOG,
				(errmsg_internal("automatic analyze of table \"%s.%s.%s\": %s; elapsed: %.2f s",
								 my_database, c->schemaname, c->relname, reason,
								 (run->ended_at - run->started_at) / 1000000.0)));
}

void
table_analyze(const Candidate *c, const char *reason, int64 partition_changes, bool locked)
{
	FullTransactionId next_xid = ReadNextFullTransactionId();
	TimestampTz began = clock_now();
	Verdict		verdict = {0};
	RunRecord	run;
	bool		recorded = false;
	int			sqlstate = 0;

	if (!locked)
	{
		begin_run(c, RUN_ANALYZE, reason, false, partition_changes);
		force_int("lock_timeout", ANALYZE_LOCK_TIMEOUT_MS);
		sqlstate = statement_try(statement_analyze(c->key.relid), c->relname);
		force_int("lock_timeout", 0);
		recorded = end_run(&run);
		if (worker_slot_is_stopped())
			return;
	}
	if (recorded)
		log_analyze(c, &run, reason);
	else
		record_unbegun(c, RUN_ANALYZE, reason, began, sqlstate, &run);
	decide_after(c, c, &verdict, &run, next_xid);
	pgstat_report_stat(true);
}
