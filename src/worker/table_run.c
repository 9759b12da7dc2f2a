/*
 * table_run.c
 *		What every run of a worker has around it: a vacuum, an analyze or a
 *		clean-up of one table.
 *
 * Its settings, its share of the cost limit, the meter, the log.
 */
#include "worker/table_run.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/autovacuum.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "meter/log.h"
#include "meter/meter.h"
#include "server/bgworker.h"
#include "server/compat.h"
#include "shmem.h"
#include "state/ledger.h"
#include "state/worker_slot.h"
#include "worker/remember.h"

#define ADAPTIVE_IO_BLOCKS	4
#define ADAPTIVE_RING_KB	256

static const char *my_database;
static int	server_log_level;	/* log_min_messages before we lowered it */
static const Candidate *current = NULL; /* the table whose run this is */

/* Takes part in sharing the cost limit, or no longer does. */
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

/*
 * The process ends.  It may be ended because its vacuum has ignored a cancel
 * request.  Then the next worker must not begin with that table.
 */
static void
leave(int code, Datum arg)
{
	share_limit(false);
	if (current != NULL && worker_slot_must_let_go() && !worker_slot_is_stopped())
	{
		Verdict		none = {0};
		RunRecord	run = {0};
		VacuumMoment moment = {{0}};

		run.command = RUN_VACUUM;
		run.outcome = RUN_CANCELLED;
		remember_run(current, current, &none, &run, &moment);
	}
}

void
table_run_force_int(const char *name, int value)
{
	char		text[16];

	snprintf(text, sizeof(text), "%d", value);
	SetConfigOption(name, text, PGC_SUSET, PGC_S_OVERRIDE);
}

/*
 * Applies the settings that core's autovacuum worker would use for this
 * table.  As in core, a table with a cost reloption of its own is not part of
 * the balance.  The others share the limit, which is returned.  Otherwise it
 * returns 0.
 */
static int
apply_table_settings(const AutoVacOpts *opts, const Verdict *verdict)
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
	table_run_force_int("vacuum_cost_limit", own_cost ? limit : meter_own_limit(limit));

	/*
	 * What the kernel collects it writes all at once some time, and then
	 * every commit on a slow disk waits for that.  Readers likewise wait for
	 * a large read.  And when commits wait for the flush of WAL, a vacuum
	 * with a small ring soon waits with them, before anybody tells it to be
	 * slower.
	 */
	if (sweep_adaptive && !own_cost)
	{
		if (backend_flush_after == 0)
			table_run_force_int("backend_flush_after", ADAPTIVE_IO_BLOCKS);
		if (compat_io_combine_is_default())
			table_run_force_int("io_combine_limit", ADAPTIVE_IO_BLOCKS);
		if (compat_ring_is_default())
			table_run_force_int("vacuum_buffer_usage_limit", ADAPTIVE_RING_KB);
	}

	/* does not use FREEZE, which is aggressive and waits for pins */
	if (opts && opts->freeze_min_age >= 0)
		table_run_force_int("vacuum_freeze_min_age", opts->freeze_min_age);
	else if (verdict->eager)
		table_run_force_int("vacuum_freeze_min_age", 0);
	else if (verdict->min_age > 0)
		table_run_force_int("vacuum_freeze_min_age", Min(vacuum_freeze_min_age, verdict->min_age));
	if (verdict->catch_up)
		table_run_force_int("vacuum_freeze_table_age", 0);
	else if (opts && opts->freeze_table_age >= 0)
		table_run_force_int("vacuum_freeze_table_age", opts->freeze_table_age);
	if (opts && opts->multixact_freeze_min_age >= 0)
		table_run_force_int("vacuum_multixact_freeze_min_age", opts->multixact_freeze_min_age);
	else if (verdict->eager)
		table_run_force_int("vacuum_multixact_freeze_min_age", 0);
	if (opts && opts->multixact_freeze_table_age >= 0)
		table_run_force_int("vacuum_multixact_freeze_table_age", opts->multixact_freeze_table_age);

	/*
	 * A vacuum of 18 reads all-visible pages as long as it succeeds in
	 * freezing them.  With such ages it always does, wherever in the table
	 * they are.
	 */
	if (COMPAT_HAS_EAGER_SCAN && verdict->eager)
		SetConfigOption("vacuum_max_eager_freeze_failure_rate", "0", PGC_SUSET, PGC_S_OVERRIDE);
	return own_cost ? 0 : limit;
}

void
table_run_record_unbegun(const Candidate *c, RunCommand command, const char *reason,
						 TimestampTz began, int sqlstate, RunRecord *run)
{
	memset(run, 0, sizeof(*run));
	run->pid = MyProcPid;
	run->dboid = MyDatabaseId;
	run->relid = c->key.relid;
	run->command = command;
	run->starter = RUN_BY_SWEEP;
	run->started_at = began;
	run->ended_at = GetCurrentTimestamp();
	run->pages = run->index_pass = run->tuples_removed = run->dead_not_removable = -1;
	run->memory_bytes = run->partition_changes = -1;
	strlcpy(run->schemaname, c->row.schemaname, NAMEDATALEN);
	strlcpy(run->relname, c->row.relname, NAMEDATALEN);
	if (sqlstate == 0)
	{
		run->outcome = RUN_SKIPPED;
		snprintf(run->reason, sizeof(run->reason), "%s; lock not available", reason);
	}
	else
	{
		run->outcome = sqlstate == ERRCODE_QUERY_CANCELED ? RUN_CANCELLED : RUN_FAILED;
		strlcpy(run->reason, reason, sizeof(run->reason));
		if (run->outcome == RUN_FAILED)
			run_add_reason(run->reason, log_last_error);
	}
	ledger_add(run);
}

void
table_run_prepare(const char *database)
{
	my_database = database;
	server_log_level = compat_log_min_messages();
	SetConfigOption("log_min_messages", "info", PGC_SUSET, PGC_S_OVERRIDE);
	before_shmem_exit(leave, (Datum) 0);
}

void
table_run_begin(const Candidate *c, RunCommand command, const char *reason, const Verdict *verdict,
				int64 partition_changes)
{
	char		activity[NAMEDATALEN * 2 + 32];
	int			shared_limit;

	/* tools know autovacuum's text, by which they spare it or count it */
	snprintf(activity, sizeof(activity), "autovacuum: %s %s.%s", run_command_name(command),
			 c->row.schemaname, c->row.relname);
	pgstat_report_activity(STATE_RUNNING, activity);
	bgworker_become_vacuum();	/* undoes what the last table had of its own */
	shared_limit = apply_table_settings(c->rules.opts, verdict);

	current = c;
	meter_own_begin(c->row.schemaname, c->row.relname, reason, shared_limit, verdict->yields, verdict->pace,
					partition_changes);
	log_capture_begin(my_database, c->row.schemaname, c->row.relname, server_log_level);
}

bool
table_run_end(RunRecord *run)
{
	current = NULL;
	worker_slot_has_let_go();
	log_capture_end();
	share_limit(false);
	return meter_own_end(run);
}

const char *
table_run_database(void)
{
	return my_database;
}
