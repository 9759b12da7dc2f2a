/*
 * meter_slot.c
 *		The slot in which a process publishes what its vacuum has done so far.
 *
 * Runs in the process that vacuums, in mainline code or in its tick
 * (meter_tick.c).  Some mainline code writes the slot, or what the tick reads
 * together with it.  Meanwhile it sets meter_slot_busy, and then the tick does
 * nothing.  There are no locks.
 */
#include "meter/meter.h"

#include "executor/instrument.h"
#include "commands/progress.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/autovacuum.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "utils/backend_status.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "meter/meter_process.h"
#include "policy/activity.h"
#include "server/compat.h"
#include "shmem.h"

static const MeterReport no_report = {-1, -1, -1, false};

MeterProcess meter_this = {.report = {-1, -1, -1, false}};
MeterSlot  *meter_slot = NULL;
volatile sig_atomic_t meter_slot_busy = 0;

/* ----
 * Counters
 * ----
 */

void
meter_read_usage(RunCounters *used)
{
	used->blks_hit = pgBufferUsage.shared_blks_hit + pgBufferUsage.local_blks_hit;
	used->blks_read = pgBufferUsage.shared_blks_read + pgBufferUsage.local_blks_read;
	used->blks_dirtied = pgBufferUsage.shared_blks_dirtied + pgBufferUsage.local_blks_dirtied;
	used->wal_records = pgWalUsage.wal_records;
	used->wal_fpi = pgWalUsage.wal_fpi;
	used->wal_bytes = pgWalUsage.wal_bytes;
}

/* ----
 * The slot.  Between write_begin() and write_end() its change count is odd.
 * ----
 */

static void
write_begin(void)
{
	pg_atomic_write_u32(&meter_slot->change, pg_atomic_read_u32(&meter_slot->change) + 1);
	pg_write_barrier();
}

static void
write_end(void)
{
	pg_write_barrier();
	pg_atomic_write_u32(&meter_slot->change, pg_atomic_read_u32(&meter_slot->change) + 1);
}

bool
meter_read(int index, MeterSlot *copy)
{
	MeterSlot  *from = &sweep_meters[index];

	for (int tries = 0; tries < 1000; tries++)
	{
		uint32		before = pg_atomic_read_u32(&from->change);

		pg_read_barrier();
		if (from->pid == 0)
			return false;
		memcpy(copy, from, sizeof(MeterSlot));
		pg_read_barrier();
		if ((before & 1) == 0 && pg_atomic_read_u32(&from->change) == before)
			return copy->pid != 0;
	}
	return false;				/* its owner was stopped while it wrote */
}

bool
meter_waits_for_lock(const MeterSlot *slot)
{
	return slot->nsamples > 0 &&
		slot->samples[(slot->nsamples - 1) % METER_WINDOW].wait == METER_WAIT_LOCK;
}

static void
forget_ended_workers(void)
{
	for (int i = 0; i < RUN_COUNTERS; i++)
		pg_atomic_write_u64(&meter_slot->ended_workers[i], 0);
}

/*
 * A new run starts in the slot.  The caller is between write_begin and _end.
 */
static void
slot_start_run(Oid relid, RunCommand command)
{
	meter_slot->relid = relid;
	meter_slot->command = command;
	meter_slot->mode = RUN_MODE_UNKNOWN;
	meter_slot->started_at = meter_this.base_at;
	meter_slot->phase_at = meter_this.base_at;
	meter_slot->phase = -1;
	meter_slot->to_revisit = 0;
	memset(&meter_slot->phase_used, 0, sizeof(meter_slot->phase_used));
	meter_slot->ticks = meter_slot->delay_ticks = 0;
	meter_slot->delay_us = -1;
	meter_slot->dead_peak = 0;
	meter_slot->nsamples = 0;
	forget_ended_workers();
	memset(&meter_slot->used, 0, sizeof(meter_slot->used));
	memset(meter_slot->params, 0, sizeof(meter_slot->params));
	meter_slot->schemaname[0] = meter_slot->relname[0] = '\0';
	if (meter_this.own.active)
	{
		memcpy(meter_slot->schemaname, meter_this.own.schemaname, NAMEDATALEN);
		memcpy(meter_slot->relname, meter_this.own.relname, NAMEDATALEN);
	}
}

static MeterWait
wait_now(void)
{
	uint32		event = MyProc->wait_event_info;

	if (event == 0)
		return METER_WAIT_NONE;
	if (event == WAIT_EVENT_VACUUM_DELAY)
		return METER_WAIT_DELAY;
	switch (event & 0xFF000000)
	{
		case PG_WAIT_IO:
			return METER_WAIT_IO;
		case PG_WAIT_LOCK:
		case COMPAT_WAIT_BUFFER_PIN:
			return METER_WAIT_LOCK;
		default:
			return METER_WAIT_OTHER;
	}
}

RunStarter
meter_starter_now(void)
{
	if (meter_this.own.active)
		return RUN_BY_SWEEP;
	if (meter_this.kind == PROCESS_AUTOVACUUM)
		return (MyProc->statusFlags & PROC_VACUUM_FOR_WRAPAROUND) != 0 ?
			RUN_BY_AUTOVACUUM_WRAPAROUND : RUN_BY_AUTOVACUUM;
	return RUN_BY_MANUAL;
}

RunMode
meter_mode_now(const MeterSlot *s)
{
	if (compat_failsafe_active())
		return RUN_MODE_FAILSAFE;
	if (COMPAT_PROGRESS_MODE >= 0 && s->command == RUN_VACUUM)
	{
		int64		mode = s->params[Max(COMPAT_PROGRESS_MODE, 0)];

		if (mode >= 1 && mode <= 3)
			return (RunMode) mode;
	}
	if (meter_this.report.aggressive || (MyProc->statusFlags & PROC_VACUUM_FOR_WRAPAROUND) != 0)
		return RUN_MODE_AGGRESSIVE;
	return meter_this.report.tuples_removed >= 0 ? RUN_MODE_NORMAL : RUN_MODE_UNKNOWN;
}

/* The command that the progress entry shows, or RUN_NONE. */
static RunCommand
command_in_progress(void)
{
	if (MyBEEntry == NULL)
		return RUN_NONE;
	switch (MyBEEntry->st_progress_command)
	{
		case PROGRESS_COMMAND_VACUUM:
			return meter_this.statement.clean ? RUN_CLEAN : RUN_VACUUM;
		case PROGRESS_COMMAND_ANALYZE:
			return RUN_ANALYZE;
		case COMPAT_PROGRESS_REWRITE:
			return meter_this.statement.active && meter_this.statement.full ? RUN_VACUUM_FULL : RUN_NONE;
		default:
			return RUN_NONE;
	}
}

/*
 * Takes the names from the activity text, where it can be split without
 * doubt.
 */
static void
sample_names(void)
{
	ActivityText text;

	if (meter_this.kind == PROCESS_AUTOVACUUM && meter_slot->relname[0] == '\0')
		(void) activity_parse((const char *) MyBEEntry->st_activity_raw, pgstat_track_activity_query_size,
							  meter_slot->schemaname, meter_slot->relname, NAMEDATALEN, &text);
}

static void
sample_delay(MeterWait wait)
{
	int			param = meter_slot->command == RUN_ANALYZE ?
		COMPAT_PROGRESS_ANALYZE_DELAY : COMPAT_PROGRESS_VACUUM_DELAY;

	meter_slot->ticks++;
	if (wait == METER_WAIT_DELAY)
		meter_slot->delay_ticks++;
	/* VACUUM FULL never naps */
	if (meter_slot->command == RUN_VACUUM_FULL)
		meter_slot->delay_us = 0;
	/* its leader tells the progress of all */
	else if (meter_this.kind == PROCESS_PARALLEL)
		meter_slot->delay_us = -1;
	else if (param >= 0 && compat_delay_is_timed())
		meter_slot->delay_us = meter_slot->params[param] / 1000;
	else if (meter_this.naps.unknown)
		meter_slot->delay_us = -1;
	else
		meter_slot->delay_us = (int64) (Max(meter_this.naps.ms, 0) * 1000);
}

/* Is there something to be shown now? */
bool
meter_is_working(void)
{
	if (meter_this.statement.active)
		return true;
	/* it has taken the cost settings when it has the balance that all share */
	if (meter_this.kind == PROCESS_PARALLEL)
		return (MyProc->statusFlags & PROC_IN_VACUUM) != 0 && VacuumSharedCostBalance != NULL;
	return command_in_progress() != RUN_NONE;
}

/* Publishes the present state.  From the tick, or with meter_slot_busy set. */
void
meter_sample(TimestampTz now)
{
	RunCommand	command = command_in_progress();
	MeterSample *s;
	int			phase;

	write_begin();
	if (command != RUN_NONE &&
		(meter_slot->relid != MyBEEntry->st_progress_command_target || meter_slot->command != command))
		slot_start_run(MyBEEntry->st_progress_command_target, command);

	meter_slot->pid = meter_is_working() ? MyProcPid : 0;
	meter_slot->starter = meter_starter_now();
	if (command != RUN_NONE)
	{
		for (int i = 0; i < PGSTAT_NUM_PROGRESS_PARAM; i++)
			meter_slot->params[i] = MyBEEntry->st_progress_param[i];
		meter_slot->dead_peak = Max(meter_slot->dead_peak, meter_slot->params[COMPAT_PROGRESS_DEAD]);
	}
	meter_slot->mode = meter_mode_now(meter_slot);

	/*
	 * A parallel worker counts from its first sample on.  The leader will not
	 * be told what it read to get started, and the leader's total must not
	 * fall.
	 */
	if (meter_this.kind == PROCESS_PARALLEL && meter_slot->nsamples == 0)
		meter_read_usage(&meter_this.base);
	meter_read_usage(&meter_slot->used);
	run_counters_subtract(&meter_slot->used, &meter_this.base);
	meter_read_costs(&meter_slot->costs);
	sample_names();

	phase = (int) meter_slot->params[meter_slot->command == RUN_VACUUM_FULL ?
									 COMPAT_REWRITE_PHASE : PROGRESS_VACUUM_PHASE];
	if (meter_slot->phase != phase)
	{
		/* the index pass is over, so our counters have what its workers did */
		if (meter_slot->phase == PROGRESS_VACUUM_PHASE_VACUUM_INDEX ||
			meter_slot->phase == PROGRESS_VACUUM_PHASE_INDEX_CLEANUP)
			forget_ended_workers();
		if (meter_slot->phase == PROGRESS_VACUUM_PHASE_SCAN_HEAP)
			meter_slot->to_revisit += meter_slot->used.blks_dirtied - meter_slot->phase_used.blks_dirtied;
		else if (meter_slot->phase == PROGRESS_VACUUM_PHASE_VACUUM_HEAP)
			meter_slot->to_revisit = 0;
		meter_slot->phase = phase;
		meter_slot->phase_at = now;
		meter_slot->phase_used = meter_slot->used;
	}

	s = &meter_slot->samples[meter_slot->nsamples++ % METER_WINDOW];
	s->at = now;
	s->used = meter_slot->used;
	s->units = meter_slot->params[phase == PROGRESS_VACUUM_PHASE_VACUUM_HEAP ?
								  PROGRESS_VACUUM_HEAP_BLKS_VACUUMED : PROGRESS_VACUUM_HEAP_BLKS_SCANNED];
	s->wait = wait_now();
	sample_delay(s->wait);
	write_end();
}

/* ----
 * Taking a slot, and giving it back
 * ----
 */

/*
 * A parallel worker's counts pass to its leader's slot.  The leader itself
 * learns of them only when all workers have ended.
 */
static void
bequeath(void)
{
	RunCounters used;

	if (meter_slot->nsamples == 0)
		return;					/* it never counted */
	meter_read_usage(&used);
	run_counters_subtract(&used, &meter_this.base);
	for (int i = 0; i < shmem_meter_count(); i++)
	{
		MeterSlot  *leader = &sweep_meters[i];

		if (leader->pid != meter_slot->leader_pid || leader == meter_slot)
			continue;
		for (int j = 0; j < RUN_COUNTERS; j++)
			pg_atomic_fetch_add_u64(&leader->ended_workers[j], ((int64 *) &used)[j]);
	}
}

static void
slot_release(int code, Datum arg)
{
	meter_slot_busy = 1;
	write_begin();
	meter_slot->pid = 0;
	write_end();
	meter_slot = NULL;
	if (compat_am_autovacuum_worker())
		pg_atomic_fetch_sub_u32(&sweep_shared->core_vacuuming, 1);
}

/* Called once per process. */
void
meter_slot_take(void)
{
	MeterSlot  *mine = &sweep_meters[compat_backend_index()];

	meter_slot_busy = 1;
	meter_slot = mine;
	write_begin();
	meter_slot->pid = 0;
	meter_slot->leader_pid = meter_this.kind == PROCESS_PARALLEL ? MyProc->lockGroupLeader->pid : 0;
	meter_slot->dboid = MyDatabaseId;
	write_end();
	meter_slot_busy = 0;
	on_shmem_exit(slot_release, (Datum) 0);
	if (compat_am_autovacuum_worker())
		pg_atomic_fetch_add_u32(&sweep_shared->core_vacuuming, 1);
}

/* A parallel worker has done its part.  It shows nothing any more. */
void
meter_parallel_end(void)
{
	meter_slot_busy = 1;		/* this stays set, because the process ends */
	write_begin();
	bequeath();
	meter_slot->pid = 0;
	write_end();
}

/* The command that this process is known to run, before its progress tells. */
static RunCommand
command_expected(void)
{
	if (meter_this.kind == PROCESS_PARALLEL)
		return RUN_VACUUM;
	if (!meter_this.statement.active)
		return RUN_NONE;
	if (meter_this.statement.full)
		return RUN_VACUUM_FULL;
	if (meter_this.statement.clean)
		return RUN_CLEAN;
	return meter_this.statement.vacuum ? RUN_VACUUM : RUN_ANALYZE;
}

/* The next run begins here. */
void
meter_base_take(void)
{
	meter_slot_busy = 1;
	meter_this.base_at = GetCurrentTimestamp();
	meter_read_usage(&meter_this.base);
	meter_forget_naps();
	meter_this.report = no_report;
	write_begin();
	slot_start_run(InvalidOid, command_expected());
	meter_slot->pid = meter_this.statement.active ? MyProcPid : 0;
	meter_slot->tables = meter_this.statement.tables;
	meter_slot->starter = meter_starter_now();
	meter_read_costs(&meter_slot->costs);
	write_end();
	meter_slot_busy = 0;
}
