/*
 * views.c
 *		SQL functions that only read: what stands behind the views, but for
 *		sweep.progress.
 *
 * Runs in any backend.  Every slot and array is copied under its own
 * protection, and then shown.  No lock is held while rows are built.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "server/clock.h"
#include "server/compat.h"
#include "server/features.h"
#include "server/horizon.h"
#include "server/members.h"
#include "server/standbys.h"
#include "server/table_stats.h"
#include "shmem.h"
#include "sql/relation.h"
#include "sql/row.h"
#include "state/cleanings.h"
#include "state/decision_text.h"
#include "state/decisions.h"
#include "state/hold.h"
#include "state/ledger.h"
#include "state/queue.h"
#include "state/worker_pool.h"
#include "state/xid_rate.h"

/* The same for what SQL reads in shared catalogs and of other sessions. */
PG_FUNCTION_INFO_V1(sweep_readable_0_1);
Datum
sweep_readable_0_1(PG_FUNCTION_ARGS)
{
	shmem_require();
	PG_RETURN_TEXT_P(cstring_to_text(row_readable(text_to_cstring(PG_GETARG_TEXT_PP(0)))));
}

PG_FUNCTION_INFO_V1(sweep_temp_owner_0_1);
Datum
sweep_temp_owner_0_1(PG_FUNCTION_ARGS)
{
	int			pid;

	shmem_require();
	pid = compat_temp_owner(PG_GETARG_OID(0));
	if (pid == 0)
		PG_RETURN_NULL();
	PG_RETURN_INT32(pid);
}

/* ----
 * sweep.runs
 * ----
 */

PG_FUNCTION_INFO_V1(sweep_runs_0_1);
Datum
sweep_runs_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	RunRecord  *runs;
	int			count;

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);

	runs = ledger_copy(&count);
	for (int i = 0; i < count; i++)
	{
		const RunRecord *run = &runs[i];

		CHECK_FOR_INTERRUPTS();
		row_put(&row, Int64GetDatum(run->run_id));
		row_put(&row, Int32GetDatum(run->pid));
		row_put_oid(&row, run->dboid);
		row_put_oid(&row, run->relid);
		relation_put_names(&row, run->dboid, run->relid, run->schemaname, run->relname);
		row_put_text(&row, run_command_name(run->command));
		row_put_text(&row, run_starter_name(run->starter));
		row_put_text(&row, run_mode_name(run->mode));
		row_put_time(&row, run->started_at);
		row_put_time(&row, run->ended_at);
		row_put_counters(&row, &run->used);
		row_put(&row, Int64GetDatum(run_cost(&run->used, &run->costs)));
		row_put_float(&row, run->delay_us < 0 ? -1 : (double) run->delay_us / 1000.0);
		row_put_cost_settings(&row, &run->costs);
		row_put_int64(&row, run->pages);
		row_put_int64(&row, run->index_pass);
		row_put_int64(&row, run->tuples_removed);
		row_put_int64(&row, run->dead_not_removable);
		row_put_int64(&row, run->memory_bytes);
		row_put_text(&row, run_outcome_name(run->outcome));
		row_put_text(&row, run->reason);
		row_store(fcinfo, &row);
	}
	pfree(runs);
	return (Datum) 0;
}

/* ----
 * sweep.databases
 * ----
 */

static const char *
why_not_ours(const DatabaseState *state)
{
	if (!state->connectable)
		return "does not accept connections";
	switch (state->scope)
	{
		case DATABASE_NOT_LISTED:
			return "not in sweep.databases";
		case DATABASE_EXCLUDED:
			return "in sweep.exclude_databases";
		default:
			return NULL;
	}
}

PG_FUNCTION_INFO_V1(sweep_databases_0_1);
Datum
sweep_databases_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	DatabaseState *states;
	int			count;
	bool		is_off;

	shmem_require();

	/*
	 * this goes by what the launcher has heard of, not this session: nothing
	 * waits when it is off
	 */
	is_off = pg_atomic_read_u32(&sweep_shared->metering) == 0;
	InitMaterializedSRF(fcinfo, 0);

	states = palloc(sizeof(DatabaseState) * SWEEP_DATABASES_LIMIT);
	LWLockAcquire(shmem_lock(LOCK_DATABASES), LW_SHARED);
	count = sweep_shared->databases_count;
	memcpy(states, sweep_shared->databases, sizeof(DatabaseState) * count);
	LWLockRelease(shmem_lock(LOCK_DATABASES));

	for (int i = 0; i < count; i++)
	{
		const DatabaseState *state = &states[i];

		row_put_oid(&row, state->dboid);
		row_put(&row, BoolGetDatum(state->scope == DATABASE_OURS && state->connectable));
		row_put_text(&row, why_not_ours(state));
		row_put(&row, Int64GetDatum(state->relations));
		row_put(&row, Int64GetDatum(is_off ? 0 : state->due));
		row_put(&row, Int64GetDatum(state->dead_tuples));
		row_put(&row, Int32GetDatum(worker_pool_count_in(state->dboid)));
		row_put_time(&row, state->last_visit);
		row_put_time(&row, state->next_visit);
		row_store(fcinfo, &row);
	}
	return (Datum) 0;
}

/* ----
 * sweep.decisions
 * ----
 */

/* Says what would have been vacuumed, and when somebody else did that. */
static void
put_observed(Row *row, const Decision *d)
{
	PgStat_StatTabEntry stats;
	TimestampTz manual = 0;
	TimestampTz automatic = 0;
	TimestampTz last;
	RunRecord	run;

	row_put_time(row, d->would_vacuum_at);
	if (d->would_vacuum_at != 0 && table_stats_read(d->key.dboid, d->key.relid, &stats))
	{
		manual = compat_tab_vacuumed_at(&stats);
		automatic = compat_tab_autovacuumed_at(&stats);
	}
	last = Max(manual, automatic);
	if (last <= d->would_vacuum_at)
	{
		row_put_null(row);
		row_put_null(row);
		return;
	}
	row_put_time(row, last);
	/* the statistics know two kinds, and the ledger all */
	if (ledger_last(d->key.dboid ? d->key.dboid : MyDatabaseId, d->key.relid, RUN_VACUUM, &run) &&
		run.started_at <= last && run.ended_at >= last)
		row_put_text(row, run_starter_name(run.starter));
	else
		row_put_text(row, run_starter_name(manual > automatic ? RUN_BY_MANUAL : RUN_BY_AUTOVACUUM));
}

PG_FUNCTION_INFO_V1(sweep_decisions_0_1);
Datum
sweep_decisions_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	Decision   *decisions;
	int			count;
	char		reason[DECISION_REASON_LEN];

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);

	decisions = decision_copy(&count);
	for (int i = 0; i < count; i++)
	{
		const Decision *d = &decisions[i];
		bool		observed;

		CHECK_FOR_INTERRUPTS();
		if (!d->mentioned)
			continue;
		row_put_oid(&row, d->key.dboid);
		row_put_oid(&row, d->key.relid);
		relation_put_names(&row, d->key.dboid, d->key.relid, d->schemaname, d->relname);
		row_put_text(&row, decision_name(d->kind));
		decision_reason(d, reason);
		row_put_text(&row, reason);
		row_put_time(&row, d->first_at);
		row_put_time(&row, d->last_at);
		row_put(&row, Int64GetDatum(d->times));
		row_put_time(&row, d->not_before);
		row_put(&row, Int64GetDatum(d->dead));
		row_put(&row, Int64GetDatum(d->ins));
		observed = d->trial.on && sweep_mode == SWEEP_OBSERVE;
		row_put_int64(&row, d->dead_threshold < 0 ? -1 :
					  (int64) d->dead_threshold + (observed ? d->trial.dead : 0));
		row_put_int64(&row, d->ins_threshold < 0 ? -1 :
					  (int64) d->ins_threshold + (observed ? d->trial.ins : 0));
		if (FullTransactionIdIsValid(d->horizon) && d->kind != DECISION_OBSERVED)
			row_put(&row, TransactionIdGetDatum(XidFromFullTransactionId(d->horizon)));
		else
			row_put_null(&row);
		put_observed(&row, d);
		row_put(&row, BoolGetDatum(d->memory.follows_until > clock_now()));
		row_put_time(&row, d->memory.late_since);
		row_put(&row, Int64GetDatum(d->memory.late_pages));
		row_store(fcinfo, &row);
	}
	pfree(decisions);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(sweep_cleanings_0_1);
Datum
sweep_cleanings_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	Cleaning   *cleanings;
	int			count;

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);

	cleanings = cleanings_copy(&count);
	for (int i = 0; i < count; i++)
	{
		const Cleaning *c = &cleanings[i];

		CHECK_FOR_INTERRUPTS();
		row_put_oid(&row, c->key.dboid);
		row_put_oid(&row, c->key.relid);
		relation_put_names(&row, c->key.dboid, c->key.relid, c->schemaname, c->relname);
		row_put_text(&row, cleaning_name(c->kind));
		row_put_text(&row, c->note);
		row_put_time(&row, c->last_at);
		row_put_time(&row, c->not_before);
		row_put(&row, Int64GetDatum(c->dead));
		row_put(&row, Int64GetDatum(c->next_dead));
		row_store(fcinfo, &row);
	}
	pfree(cleanings);
	return (Datum) 0;
}

/* ----
 * sweep.blockers: the processes among them
 * ----
 */

PG_FUNCTION_INFO_V1(sweep_horizon_holders_0_1);
Datum
sweep_horizon_holders_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	HorizonHolder *holders;
	int			count;

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);
	if (!feature_is_ok(FEATURE_WORKER))
		return (Datum) 0;

	holders = horizon_holders(&count);
	for (int i = 0; i < count; i++)
	{
		if (holders[i].pid != 0)
			row_put(&row, Int32GetDatum(holders[i].pid));
		else
			row_put_null(&row);
		row_put_oid(&row, holders[i].dboid);
		row_put(&row, TransactionIdGetDatum(holders[i].oldest));
		row_put(&row, Int64GetDatum(holders[i].age));
		row_store(fcinfo, &row);
	}
	return (Datum) 0;
}

/* ----
 * sweep.status and sweep.features
 * ----
 */

/* What keeps pg_sweep from doing what sweep.mode says?  NULL if nothing. */
static const char *
why_not_effective(int launcher_pid)
{
	if (pg_atomic_read_u32(&sweep_shared->breaker_tripped) != 0)
		return "switched off because its processes crashed repeatedly. See sweep.rearm()";
	if (sweep_mode == SWEEP_OFF)
		return NULL;
	if (RecoveryInProgress())
		return "this server is a standby";
	if (launcher_pid == 0)
		return "the launcher is not running. Perhaps max_worker_processes is too small";
	if (!feature_is_ok(FEATURE_SCOUT) || !feature_is_ok(FEATURE_WORKER))
		return "this server's structures are not those that pg_sweep was built for. See sweep.features";
	if (!pgstat_track_counts)
		return "track_counts is off";
	if (sweep_mode == SWEEP_ACT && sweep_max_workers == 0)
		return "sweep.max_workers is 0";
	return NULL;
}

/* A worker that takes a place although it was told to end, or NULL. */
static const char *
who_does_not_end(char *text, size_t size)
{
	Oid			dboid;
	int			pid = worker_pool_stubborn(&dboid);

	if (pid == 0)
		return NULL;
	snprintf(text, size, "worker with PID %d in the database with OID %u was told to end and does not: "
			 "it runs code of that database that cannot be interrupted", pid, dboid);
	return text;
}

PG_FUNCTION_INFO_V1(sweep_status_0_1);
Datum
sweep_status_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	TupleDesc	desc;
	LauncherState launcher;
	const char *reason;
	char		standbys[80];
	char		stubborn[256];
	int64		runs;
	TimestampTz runs_complete_since;
	bool		is_off;
	uint32		wal_left;

	shmem_require();
	wal_left = pg_atomic_read_u32(&sweep_shared->wal_left_mb);
	is_off = pg_atomic_read_u32(&sweep_shared->metering) == 0;
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	SpinLockAcquire(&sweep_shared->mutex);
	launcher = sweep_shared->launcher;
	SpinLockRelease(&sweep_shared->mutex);
	reason = why_not_effective(launcher.pid);
	runs = ledger_count(&runs_complete_since);

	row_put_text(&row, SWEEP_VERSION);
	row_put(&row, Int32GetDatum(compat_server_version_built()));
	row_put_text(&row, settings_mode_name(sweep_mode));
	row_put_text(&row, settings_mode_name(reason ? SWEEP_OFF : sweep_mode));
	if (reason == NULL)
		reason = who_does_not_end(stubborn, sizeof(stubborn));
	if (reason == NULL && sweep_mode == SWEEP_ACT && wal_left < WAL_LEFT_ENOUGH)
	{
		snprintf(stubborn, sizeof(stubborn), "only %u MB are left for WAL: vacuums wait until there is more", wal_left);
		reason = stubborn;
	}
	if (reason == NULL && sweep_mode != SWEEP_OFF && worker_pool_is_short(stubborn, sizeof(stubborn)))
		reason = stubborn;
	row_put_text(&row, reason);
	if (launcher.pid != 0)
		row_put(&row, Int32GetDatum(launcher.pid));
	else
		row_put_null(&row);
	row_put_time(&row, launcher.pid != 0 ? launcher.started_at : 0);
	row_put(&row, Int32GetDatum(worker_pool_count_in(InvalidOid)));
	row_put(&row, Int32GetDatum(sweep_max_workers));
	row_put(&row, Int64GetDatum(launcher.rounds));
	row_put_time(&row, launcher.last_round_at);
	row_put_float(&row, launcher.rounds > 0 ? launcher.last_round_ms : -1);
	row_put_float(&row, launcher.rounds > 0 ? launcher.max_round_ms : -1);
	row_put_float(&row, launcher.rounds > 0 ? launcher.last_lock_ms : -1);
	row_put_float(&row, launcher.rounds > 0 ? launcher.max_lock_ms : -1);
	row_put_float(&row, launcher.rounds > 0 ? launcher.naptime_ms : -1);
	row_put(&row, Int64GetDatum(launcher.relations));
	row_put(&row, Int64GetDatum(is_off ? 0 : launcher.due));
	row_put(&row, Int64GetDatum(launcher.worker_starts));
	row_put(&row, Int64GetDatum(launcher.worker_start_failures));
	row_put(&row, Int64GetDatum(runs));
	row_put_time(&row, launcher.runs_saved_at);
	row_put_text(&row, launcher.runs_save_errno != 0 ? strerror(launcher.runs_save_errno) : NULL);
	decisions_lock();
	row_put(&row, Int32GetDatum((int) hash_get_num_entries(sweep_decisions)));
	decisions_unlock();
	row_put(&row, Int32GetDatum(sweep_max_decisions));
	row_put(&row, Int64GetDatum(pg_atomic_read_u64(&sweep_shared->decisions_dropped)));
	row_put(&row, Int64GetDatum(launcher.databases_dropped));
	row_put(&row, Int32GetDatum(pg_atomic_read_u32(&sweep_shared->recent_crashes)));
	row_put_time(&row, hold_until());
	row_put(&row, Int64GetDatum(is_off ? 0 : queue_count_overdue()));
	row_put_int64(&row, feature_is_ok(FEATURE_WORKER) ? horizon_age() : -1);
	row_put_time(&row, runs_complete_since);
	row_put(&row, Int64GetDatum(pg_atomic_read_u64(&sweep_shared->visits)));
	row_put(&row, Int64GetDatum(pg_atomic_read_u64(&sweep_shared->surveys_made)));
	row_put_float(&row, pg_atomic_read_u64(&sweep_shared->visits_cpu_us) / 1000.0);
	row_put_text(&row, standbys_why(standbys, sizeof(standbys)));
	row_put(&row, Int32GetDatum(pg_atomic_read_u32(&sweep_shared->late_tables)));
	row_put(&row, Int64GetDatum(pg_atomic_read_u64(&sweep_shared->late_pages)));

	row_require(&row, desc);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), row.values, row.nulls)));
}

PG_FUNCTION_INFO_V1(sweep_features_0_1);
Datum
sweep_features_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);

	for (int i = 0; i < FEATURE_COUNT; i++)
	{
		uint32		state = pg_atomic_read_u32(&sweep_shared->features[i]);

		row_put_text(&row, feature_name(i));
		if (state == FEATURE_UNCHECKED)
			row_put_null(&row);
		else
			row_put(&row, BoolGetDatum(state == FEATURE_OK));
		row_put_text(&row, feature_reason(i));
		row_store(fcinfo, &row);
	}
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(sweep_xid_rate_0_1);
Datum
sweep_xid_rate_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	TupleDesc	desc;
	XidRate		rate;
	Members		members;

	shmem_require();
	members = members_read();
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	if (xid_rate_measure(&rate, members.next))
	{
		row_put_time(&row, rate.since);
		row_put_float(&row, (double) rate.xids / rate.seconds);
		row_put_float(&row, (double) rate.mxids / rate.seconds);
		row_put_float(&row, rate.members / rate.seconds);
	}
	else
	{
		row_put_null(&row);
		row_put_null(&row);
		row_put_null(&row);
		row_put_null(&row);
	}
	row_put_int64(&row, members.used);
	row_require(&row, desc);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), row.values, row.nulls)));
}
