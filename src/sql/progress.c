/*
 * progress.c
 *		sweep.progress: the meter slots, with rates, what limits them, and
 *		what is left.
 *
 * Runs in any backend.  Every slot is copied consistently.  No lock is held
 * while rows are built, but for LOCK_LEDGER while a last run is looked up.
 */
#include "postgres.h"

#include "commands/progress.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/timestamp.h"

#include "meter/meter.h"
#include "policy/estimate.h"
#include "server/compat.h"
#include "server/lock_waiter.h"
#include "shmem.h"
#include "sql/progress.h"
#include "sql/relation.h"
#include "sql/row.h"
#include "state/ledger.h"

/* What the samples of a window say. */
typedef struct ProgressRates
{
	double		cost_per_s;		/* unknown if negative, as all of these */
	double		read_mb_per_s;
	double		dirty_mb_per_s;
	double		wal_mb_per_s;
	double		units_per_s;	/* of this phase of a VACUUM (0: unknown) */
	int			delay_pct;		/* % of the samples */
	int			io_pct;
	int			lock_pct;
} ProgressRates;

static const char *
phase_name(const MeterSlot *slot)
{
	static const char *const vacuum[] = {
		"initializing", "scanning heap", "vacuuming indexes", "vacuuming heap",
		"cleaning up indexes", "truncating heap", "performing final cleanup"
	};
	static const char *const clean[] = {
		"initializing", "scanning heap", "removing index entries", "recycling row pointers",
		"emptying pending lists", NULL, "waiting for transactions"
	};
	static const char *const analyze[] = {
		"initializing", "acquiring sample rows", "acquiring inherited sample rows",
		"computing statistics", "computing extended statistics", "finalizing analyze"
	};
	static const char *const rewrite[] = {
		"initializing", "seq scanning heap", "index scanning heap", "sorting tuples",
		"writing new heap", "swapping relation files", "rebuilding index",
		"performing final cleanup"
	};

	if (slot->relid == InvalidOid)
	{
		if (meter_waits_for_lock(slot))
			return "waiting";
		return slot->tables > 0 ? "between tables" : "starting";
	}
	switch (slot->command)
	{
		case RUN_VACUUM:
			return slot->phase >= 0 && slot->phase < lengthof(vacuum) ?
				vacuum[slot->phase] : NULL;
		case RUN_CLEAN:
			return slot->phase >= 0 && slot->phase < lengthof(clean) ? clean[slot->phase] : NULL;
		case RUN_ANALYZE:
			return slot->phase >= 0 && slot->phase < lengthof(analyze) ?
				analyze[slot->phase] : NULL;
		case RUN_VACUUM_FULL:
			return compat_rewrite_phase_name(slot->phase, rewrite, lengthof(rewrite));
		default:
			return NULL;
	}
}

/* From the oldest sample of this phase on.  0 if there is none. */
static double
units_per_s(const MeterSlot *slot, int kept, const MeterSample *last)
{
	for (int i = kept; (slot->command == RUN_VACUUM || slot->command == RUN_CLEAN) && i > 1; i--)
	{
		const MeterSample *s = &slot->samples[(slot->nsamples - i) % METER_WINDOW];

		if (s->at >= slot->phase_at && s->at < last->at)
			return (double) (last->units - s->units) * 1000000.0 / (double) (last->at - s->at);
	}
	return 0;
}

static ProgressRates
compute_rates(const MeterSlot *slot)
{
	ProgressRates r = {-1, -1, -1, -1, 0, 0, 0, 0};
	int			kept = Min(slot->nsamples, METER_WINDOW);
	const MeterSample *last;
	MeterSample zero = {0};
	const MeterSample *first = &zero;
	double		s;

	if (kept == 0)
		return r;
	last = &slot->samples[(slot->nsamples - 1) % METER_WINDOW];
	if (slot->nsamples > METER_WINDOW)
		first = &slot->samples[slot->nsamples % METER_WINDOW];
	else
		zero.at = slot->started_at;

	for (int i = 0; i < kept; i++)
	{
		MeterWait	wait = slot->samples[i].wait;

		r.delay_pct += wait == METER_WAIT_DELAY;
		r.io_pct += wait == METER_WAIT_IO;
		r.lock_pct += wait == METER_WAIT_LOCK;
	}
	r.delay_pct = r.delay_pct * 100 / kept;
	r.io_pct = r.io_pct * 100 / kept;
	r.lock_pct = r.lock_pct * 100 / kept;

	s = (double) (last->at - first->at) / 1000000.0;
	if (s <= 0)
		return r;
	r.cost_per_s = (double) (run_cost(&last->used, &slot->costs) -
							 run_cost(&first->used, &slot->costs)) / s;
	r.units_per_s = units_per_s(slot, kept, last);
	r.read_mb_per_s = (double) (last->used.blks_read - first->used.blks_read) *
		BLCKSZ / 1048576.0 / s;
	r.dirty_mb_per_s = (double) (last->used.blks_dirtied - first->used.blks_dirtied) *
		BLCKSZ / 1048576.0 / s;
	r.wal_mb_per_s = (double) (last->used.wal_bytes - first->used.wal_bytes) / 1048576.0 / s;
	return r;
}

/* What a pacer has to say of it.  NULL if nothing. */
static const char *
paced_by(int index)
{
	PacerApplied applied;

	if (!budget_read_applied(index, &applied) || !applied.limited)
		return NULL;
	return applied.by_steer ? "sweep.slow()" : budget_limit_name(applied.limited_by);
}

static void
put_limited_by(Row *row, const MeterSlot *slot, const ProgressRates *r, int index)
{
	char		text[64];

	if (slot->nsamples == 0)
		row_put_null(row);
	else if (r->lock_pct >= 50)
		row_put_text(row, "lock");
	else if (paced_by(index) != NULL)
		row_put_text(row, paced_by(index));
	else if (r->delay_pct >= 50)
	{
		snprintf(text, sizeof(text), "cost limit %d", slot->costs.limit);
		row_put_text(row, text);
	}
	else if (r->io_pct >= 50)
		row_put_text(row, "I/O");
	else
		row_put_text(row, "nothing");
}

/*
 * Before 17 the dead items are counted, later their bytes.  So the only
 * question is whether there are any.
 */
static EstimatePhase
estimate_phase(const MeterSlot *slot, EstimateInput *in)
{
	const int64 *p = slot->params;

	if (slot->command == RUN_ANALYZE)
	{
		in->units_total = p[PROGRESS_ANALYZE_BLOCKS_TOTAL];
		in->units_done = p[PROGRESS_ANALYZE_BLOCKS_DONE];
		return slot->phase == PROGRESS_ANALYZE_PHASE_ACQUIRE_SAMPLE_ROWS ?
			ESTIMATE_SCAN : ESTIMATE_OTHER;
	}
	if (slot->command == RUN_VACUUM_FULL)
	{
		in->units_total = p[COMPAT_REWRITE_TOTAL];
		in->units_done = p[COMPAT_REWRITE_SCANNED];
		in->more_passes = true; /* indexes are rebuilt afterwards */
		return ESTIMATE_SCAN;
	}

	in->units_total = p[PROGRESS_VACUUM_TOTAL_HEAP_BLKS];
	if (slot->command == RUN_CLEAN)
	{
		/* each batch has all three phases */
		in->units_done = p[PROGRESS_VACUUM_HEAP_BLKS_SCANNED];
		return ESTIMATE_SCAN;
	}
	switch (slot->phase)
	{
		case PROGRESS_VACUUM_PHASE_SCAN_HEAP:
			in->units_done = p[PROGRESS_VACUUM_HEAP_BLKS_SCANNED];
			in->more_passes = p[COMPAT_PROGRESS_DEAD] > 0;
			return ESTIMATE_SCAN;
		case PROGRESS_VACUUM_PHASE_VACUUM_INDEX:
		case PROGRESS_VACUUM_PHASE_INDEX_CLEANUP:
			return ESTIMATE_INDEXES;
		case PROGRESS_VACUUM_PHASE_VACUUM_HEAP:
			in->units_done = p[PROGRESS_VACUUM_HEAP_BLKS_VACUUMED];
			return ESTIMATE_HEAP;
		case PROGRESS_VACUUM_PHASE_TRUNCATE:
			return ESTIMATE_TRUNCATE;
		default:
			return ESTIMATE_OTHER;
	}
}

/* A page is read and dirtied, and two pages of maps are looked at. */
static void
put_bounds(const MeterSlot *slot, EstimateInput *in)
{
	const RunCosts *costs = &slot->costs;

	in->page_cost = costs->page_miss + costs->page_dirty + 2 * costs->page_hit;
	in->phase_cost = in->cost - run_cost(&slot->phase_used, costs);
	in->phase_dirtied = slot->used.blks_dirtied - slot->phase_used.blks_dirtied;
	in->to_revisit = slot->to_revisit;
	if (in->phase == ESTIMATE_SCAN)
		in->to_revisit += in->phase_dirtied;
}

static Estimate
estimate(const MeterSlot *slot, const ProgressRates *r, TimestampTz now, double *phase_pct)
{
	EstimateInput in = {0};
	RunRecord	last;
	Estimate	nothing = {ESTIMATE_NONE, -1, -1};

	*phase_pct = -1;
	if (slot->relid == InvalidOid)
		return nothing;

	in.elapsed_ms = (double) (now - slot->started_at) / 1000.0;
	in.cost = run_cost(&slot->used, &slot->costs);
	in.cost_per_s = Max(r->cost_per_s, 0);
	in.phase = estimate_phase(slot, &in);
	if (in.units_total > 0 && (in.phase == ESTIMATE_SCAN || in.phase == ESTIMATE_HEAP))
		*phase_pct = Min(100.0 * (double) in.units_done / (double) in.units_total, 100.0);
	in.phase_ms = (double) (now - slot->phase_at) / 1000.0;
	in.units_per_s = r->units_per_s;
	if (slot->command == RUN_VACUUM && slot->phase >= 0)
		put_bounds(slot, &in);
	in.pages = in.units_total;
	if (ledger_last(slot->dboid, slot->relid, slot->command, &last))
	{
		in.last_cost = run_cost(&last.used, &slot->costs);
		in.last_pages = last.pages;
		in.last_ms = (double) (last.ended_at - last.started_at) / 1000.0;
		in.last_index_passes = Max(last.index_pass, 0);
	}
	return estimate_run(&in);
}

static void
put_estimate(Row *row, const Estimate *e, TimestampTz now)
{
	row_put_float(row, e->done_pct);
	row_put_interval(row, e->eta_ms);
	row_put_time(row, e->eta_ms < 0 ? 0 : now + (TimestampTz) (e->eta_ms * 1000.0));
	row_put_text(row, e->basis == ESTIMATE_LAST_RUN ? "last run" :
				 (e->basis == ESTIMATE_PROGRESS ? "progress" : NULL));
}

static void
put_progress(Row *row, const MeterSlot *slot, int index, int parallel_workers, TimestampTz now)
{
	ProgressRates r = compute_rates(slot);
	double		phase_pct;
	Estimate	e = estimate(slot, &r, now, &phase_pct);
	double		elapsed_ms = (double) (now - slot->started_at) / 1000.0;
	int64		delay_us = slot->delay_us >= 0 ? slot->delay_us :
		run_delay_sampled(slot->delay_ticks, slot->ticks, now - slot->started_at);
	double		delay_ms = delay_us < 0 ? -1 : Min((double) delay_us / 1000.0, elapsed_ms);

	row_put(row, Int32GetDatum(slot->pid));
	if (slot->leader_pid != 0)
		row_put(row, Int32GetDatum(slot->leader_pid));
	else
		row_put_null(row);
	row_put_oid(row, slot->dboid);
	row_put_oid(row, slot->relid);
	relation_put_names(row, slot->dboid, slot->relid, slot->schemaname, slot->relname);
	row_put_text(row, run_command_name(slot->command));
	row_put_text(row, run_starter_name(slot->starter));
	row_put_text(row, run_mode_name(slot->mode));
	row_put_text(row, phase_name(slot));
	row_put_float(row, phase_pct);
	row_put_time(row, slot->started_at);
	row_put_counters(row, &slot->used);
	row_put(row, Int64GetDatum(run_cost(&slot->used, &slot->costs)));
	row_put_float(row, r.cost_per_s);
	row_put_float(row, r.read_mb_per_s);
	row_put_float(row, r.dirty_mb_per_s);
	row_put_float(row, r.wal_mb_per_s);
	row_put_float(row, delay_ms);
	row_put_float(row, elapsed_ms > 0 && delay_ms >= 0 ? Min(100.0, 100.0 * delay_ms / elapsed_ms) : -1);
	put_estimate(row, &e, now);
	row_put_int64(row, slot->command == RUN_VACUUM && slot->relid != InvalidOid ?
				  slot->params[PROGRESS_VACUUM_NUM_INDEX_VACUUMS] : -1);
	put_limited_by(row, slot, &r, index);
	row_put_cost_settings(row, &slot->costs);
	row_put_int64(row, (slot->command == RUN_VACUUM || slot->command == RUN_CLEAN) &&
				  slot->relid != InvalidOid ?
				  slot->params[PROGRESS_VACUUM_TOTAL_HEAP_BLKS] : -1);
	row_put(row, Int32GetDatum(parallel_workers));
	row_put_text(row, meter_waits_for_lock(slot) ? lock_holders(slot->pid) : NULL);
}

/*
 * The leader of a parallel vacuum learns what its workers did only when they
 * end.  So until then it is added up here.  A worker knows its table only
 * through its leader.  Returns the number of workers.
 */
static int
join_parallel(MeterSlot *slots, int n, MeterSlot *slot)
{
	int			workers = 0;
	RunCounters ended;

	for (int j = 0; j < RUN_COUNTERS; j++)
		((int64 *) &ended)[j] = (int64) pg_atomic_read_u64(&slot->ended_workers[j]);
	run_counters_add(&slot->used, &ended);

	for (int i = 0; i < n; i++)
	{
		if (slot->leader_pid == 0 && slots[i].leader_pid == slot->pid)
		{
			run_counters_add(&slot->used, &slots[i].used);
			workers++;
		}
		if (slot->leader_pid != 0 && slots[i].pid == slot->leader_pid)
		{
			slot->relid = slots[i].relid;
			slot->command = slots[i].command;
			slot->starter = slots[i].starter;
			slot->mode = slots[i].mode;
			slot->phase = slots[i].phase;
			memcpy(slot->schemaname, slots[i].schemaname, NAMEDATALEN);
			memcpy(slot->relname, slots[i].relname, NAMEDATALEN);
		}
	}
	return workers;
}

PG_FUNCTION_INFO_V1(sweep_progress_0_1);
Datum
sweep_progress_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	MeterSlot  *slots;
	MeterSlot  *joined;
	int		   *places;
	int			n = 0;
	TimestampTz now;

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);

	/* what was published before metering was switched off is stale */
	if (pg_atomic_read_u32(&sweep_shared->metering) == 0)
		return (Datum) 0;

	slots = palloc(sizeof(MeterSlot) * shmem_meter_count());
	places = palloc(sizeof(int) * shmem_meter_count());
	for (int i = 0; i < shmem_meter_count(); i++)
	{
		places[n] = i;
		if (meter_read(i, &slots[n]))
			n++;
	}
	now = GetCurrentTimestamp();
	joined = palloc(sizeof(MeterSlot));
	for (int i = 0; i < n; i++)
	{
		int			workers;

		*joined = slots[i];
		workers = join_parallel(slots, n, joined);
		put_progress(&row, joined, places[i], workers, now);
		row_store(fcinfo, &row);
	}
	return (Datum) 0;
}

ProgressSum
progress_sum(void)
{
	ProgressSum sum = {0};
	MeterSlot	slot;

	/* see sweep_progress_0_1() */
	if (pg_atomic_read_u32(&sweep_shared->metering) == 0)
		return sum;
	for (int i = 0; i < shmem_meter_count(); i++)
	{
		ProgressRates r;

		if (!meter_read(i, &slot) || slot.leader_pid != 0)
			continue;
		r = compute_rates(&slot);
		sum.vacuums++;
		sum.read_mb_per_s += Max(r.read_mb_per_s, 0);
		sum.dirty_mb_per_s += Max(r.dirty_mb_per_s, 0);
		sum.wal_mb_per_s += Max(r.wal_mb_per_s, 0);
	}
	return sum;
}
