/*
 * steer_commands.c
 *		SQL functions that change the pace of one running vacuum.
 *
 * They write the Steer of its PacerSlot, under LOCK_STEER, and its tick finds
 * it there.  A Steer is for one run.  If that has ended meanwhile, the Steer
 * has no effect.
 */
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#include "server/clock.h"
#include "settings.h"
#include "shmem.h"
#include "sql/audit_calls.h"
#include "sql/run_target.h"
#include "state/budget.h"

/* A rate below this is a pause, which is limited in time. */
#define PAUSE_MB_S		0.1

/* The rate of a vacuum that is paused.  It is less than any page. */
#define PAUSE_BYTES_S	1.0

/* A vacuum that is all but stopped keeps its lock, and its horizon. */
#define MAX_PAUSE_MS	60000

static void
check_governor(void)
{
	BudgetHead	head;
	TimestampTz now = clock_now();

	if (shmem_is_off())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("pg_sweep is off"),
				 errhint("Set \"sweep.mode\" to \"observe\" or \"act\".  See also sweep.status.")));
	if (!budget_read_head(&head) || now - head.at > BUDGET_STALE_US)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the governor of pg_sweep is not running"),
				 errhint("\"max_worker_processes\" may be too small.  The server's log says more.")));
}

static void
check_can(const MeterSlot *slot, PacerCan can)
{
	if (slot->starter == RUN_BY_AUTOVACUUM_WRAPAROUND || can == PACER_WRAPAROUND)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("process %d is preventing transaction ID wraparound", slot->pid),
				 errhint("Such a vacuum is never steered.")));
	if (slot->mode == RUN_MODE_FAILSAFE || can == PACER_FAILSAFE)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the vacuum of process %d is in its wraparound failsafe", slot->pid),
				 errhint("Such a vacuum is never steered.")));
	if (slot->command == RUN_VACUUM_FULL || can == PACER_CANNOT_REWRITE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("process %d is rewriting its table, which cannot be steered", slot->pid),
				 errhint("Wait for it, or cancel it with sweep.cancel().")));
	if (can == PACER_CANNOT_CORE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("autovacuum workers of the server cannot be steered on this version of PostgreSQL"),
				 errhint("Set \"autovacuum_vacuum_cost_limit\", or cancel it with sweep.cancel().")));
}

/*
 * The index of that vacuum's slots.  -1 and a WARNING if there is none.  A
 * parallel worker stands for its leader.
 */
static int
find_steerable(int pid, MeterSlot *slot, uint32 *run)
{
	int			index;

	check_governor();
	index = running_find(pid, slot);
	if (index >= 0 && slot->leader_pid != 0)
		index = running_find(slot->leader_pid, slot);
	if (index >= 0)
		*run = pg_atomic_read_u32(&sweep_pacers[index].run);
	if (index < 0 || (*run & 1) == 0)
	{
		ereport(WARNING,
				(errmsg("process %d is not running a vacuum", pid)));
		return -1;
	}
	if (!running_may_act(slot))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to steer the vacuum of process %d", pid),
				 errdetail("Only a superuser, a role with privileges of \"pg_signal_backend\", or a role that may vacuum the table can steer it.")));
	check_can(slot, (PacerCan) pg_atomic_read_u32(&sweep_pacers[index].can));
	return index;
}

static void
set_steer(int index, uint32 run, Steer steer)
{
	steer.by_pid = MyProcPid;
	steer.run = run;
	LWLockAcquire(shmem_lock(LOCK_STEER), LW_EXCLUSIVE);
	budget_set_steer(index, &steer);
	LWLockRelease(shmem_lock(LOCK_STEER));
	shmem_wake_governor();
}

/* MB/s as given.  Negative if it was not given. */
static double
get_limit(FunctionCallInfo fcinfo, int arg, const char *name)
{
	double		limit;

	if (PG_ARGISNULL(arg))
		return -1;
	limit = PG_GETARG_FLOAT8(arg);
	if (!(limit >= 0 && limit <= 1000000))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be between 0 and 1000000 MB/s", name),
				 errhint("Below 0.1 MB/s the vacuum all but stops, for a minute at most.")));
	return limit;
}

/* The bytes/s that it read, dirtied and logged over the last samples. */
static double
rate_now(const MeterSlot *slot)
{
	int			kept = Min(slot->nsamples, METER_WINDOW);
	const MeterSample *last;
	const MeterSample *first;

	if (kept < 2)
		return 0;
	last = &slot->samples[(slot->nsamples - 1) % METER_WINDOW];
	first = &slot->samples[(slot->nsamples - kept) % METER_WINDOW];
	if (last->at <= first->at)
		return 0;
	return ((double) (last->used.blks_read + last->used.blks_dirtied -
					  first->used.blks_read - first->used.blks_dirtied) * BLCKSZ +
			(double) (last->used.wal_bytes - first->used.wal_bytes)) /
		((double) (last->at - first->at) / 1000000.0);
}

static const char *
limits_text(const Steer *steer)
{
	StringInfoData text;

	if (steer->until != 0)
		return "paused for a minute";
	initStringInfo(&text);
	if (steer->limit.total > 0)
		appendStringInfo(&text, "%.1f MB/s in all", steer->limit.total / RATES_MB);
	if (steer->limit.write > 0)
		appendStringInfo(&text, "write_limit %.1f MB/s", steer->limit.write / RATES_MB);
	if (steer->limit.read > 0)
		appendStringInfo(&text, "%sread_limit %.1f MB/s", text.len > 0 ? ", " : "", steer->limit.read / RATES_MB);
	return text.data;
}

/* Without limits it is half of what the vacuum does now. */
PG_FUNCTION_INFO_V1(sweep_slow_0_1);
Datum
sweep_slow_0_1(PG_FUNCTION_ARGS)
{
	double		write;
	double		read;
	int			pid;
	int			index;
	uint32		run = 0;
	MeterSlot	slot;
	Steer		steer = {STEER_SLOW};

	shmem_require();
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	pid = PG_GETARG_INT32(0);
	write = get_limit(fcinfo, 1, "write_limit");
	read = get_limit(fcinfo, 2, "read_limit");
	index = find_steerable(pid, &slot, &run);
	if (index < 0)
		PG_RETURN_BOOL(false);

	if (write < 0 && read < 0)
		steer.limit.total = Max(rate_now(&slot) / 2, sweep_floor * RATES_MB);
	else if ((write >= 0 && write < PAUSE_MB_S) || (read >= 0 && read < PAUSE_MB_S))
	{
		steer.limit.total = PAUSE_BYTES_S;
		steer.until = clock_after(clock_now(), MAX_PAUSE_MS);
	}
	if (write >= PAUSE_MB_S)
		steer.limit.write = write * RATES_MB;
	if (read >= PAUSE_MB_S)
		steer.limit.read = read * RATES_MB;
	set_steer(index, run, steer);
	audit_vacuum("slow", &slot, limits_text(&steer));
	PG_RETURN_BOOL(true);
}

PG_FUNCTION_INFO_V1(sweep_hurry_0_1);
Datum
sweep_hurry_0_1(PG_FUNCTION_ARGS)
{
	int			pid = PG_GETARG_INT32(0);
	int			index;
	uint32		run = 0;
	MeterSlot	slot;
	Steer		steer = {STEER_HURRY};

	shmem_require();
	index = find_steerable(pid, &slot, &run);
	if (index < 0)
		PG_RETURN_BOOL(false);
	set_steer(index, run, steer);
	audit_vacuum("hurry", &slot, NULL);
	PG_RETURN_BOOL(true);
}

PG_FUNCTION_INFO_V1(sweep_release_0_1);
Datum
sweep_release_0_1(PG_FUNCTION_ARGS)
{
	int			pid = PG_GETARG_INT32(0);
	int			index;
	uint32		run = 0;
	MeterSlot	slot;
	Steer		steer = {STEER_NONE};
	Steer		before;

	shmem_require();
	index = find_steerable(pid, &slot, &run);
	if (index < 0)
		PG_RETURN_BOOL(false);
	if (!budget_read_steer(index, &before) || before.run != run || before.mode == STEER_NONE)
		PG_RETURN_BOOL(false);
	set_steer(index, run, steer);
	audit_vacuum("release", &slot, NULL);
	PG_RETURN_BOOL(true);
}
