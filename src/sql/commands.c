/*
 * commands.c
 *		SQL functions that act.  EXECUTE on each is the switch.  What core
 *		would check for the same act is checked here as well.
 */
#include "postgres.h"

#include <signal.h>

#include "access/htup_details.h"
#include "catalog/catalog.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/acl.h"
#include "utils/timestamp.h"

#include "meter/meter.h"
#include "server/breaker.h"
#include "server/clock.h"
#include "server/compat.h"
#include "settings.h"
#include "shmem.h"
#include "sql/audit_calls.h"
#include "sql/run_target.h"
#include "sql/vacuumable.h"
#include "state/duration.h"
#include "state/ledger.h"
#include "state/requests.h"
#include "state/snooze.h"
#include "state/worker_claims.h"

/* An autovacuum worker that is cancelled lets go of its table within so long. */
#define LET_GO_US	INT64CONST(1000000)
#define LOOK_US		10000

/*
 * Leaves the table of that vacuum alone.  This takes the rights that
 * sweep.snooze() asks for.  Only a superuser can know who may vacuum a table
 * in another database.
 */
static DecisionKey
snooze_table_of(const MeterSlot *slot, const Interval *duration)
{
	TimestampTz now = clock_now();
	TimestampTz until = duration_end(duration, now);
	DecisionKey key = {slot->dboid, slot->relid};
	Vacuumable	table;

	if (slot->relid == InvalidOid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("process %d has no table at the moment", slot->pid),
				 errhint("Try again, or cancel without a snooze.")));
	if (IsSharedRelation(slot->relid))
		key.dboid = InvalidOid;
	if (slot->dboid == MyDatabaseId)
		vacuumable_check(slot->relid, &table);
	else if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to snooze a table of another database"),
				 errhint("Connect to that database.")));
	if (until > now)
	{
		SnoozeTable snoozed = {.key = key};

		strlcpy(snoozed.schemaname, slot->schemaname, NAMEDATALEN);
		strlcpy(snoozed.relname, slot->relname, NAMEDATALEN);
		snooze_begin(&snoozed, 1, until);
	}
	return key;
}

static void
check_wraparound(const MeterSlot *slot, bool force, bool snooze)
{
	if (slot->starter != RUN_BY_AUTOVACUUM_WRAPAROUND)
		return;
	if (!force)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("process %d is preventing transaction ID wraparound", slot->pid),
				 errhint("Autovacuum would begin it again.  If it must be cancelled all the same, use force => true.")));
	if (snooze)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("process %d is preventing transaction ID wraparound", slot->pid),
				 errhint("Its table cannot be left alone.  Cancel it without a snooze.")));
}

/*
 * Autovacuum begins a vacuum against wraparound again as soon as it may.  So
 * pg_sweep freezes the table instead, and gives way to whoever wants it.  That
 * is asked for when the table's lock is free, or the request would be put off.
 */
static void
freeze_instead(const MeterSlot *slot)
{
	Request		request = {.key = {IsSharedRelation(slot->relid) ? InvalidOid : slot->dboid, slot->relid}};
	int64		until = clock_steady() + LET_GO_US;
	MeterSlot	now;

	if (sweep_mode != SWEEP_ACT || shmem_is_off() || !OidIsValid(slot->relid))
	{
		ereport(NOTICE,
				(errmsg("the vacuum of process %d prevented transaction ID wraparound", slot->pid),
				 errdetail("Autovacuum begins it again when it comes to this database.  The table still has to be frozen.")));
		return;
	}
	while (clock_steady() < until && running_find(slot->pid, &now) >= 0 && now.relid == slot->relid)
	{
		clock_wait_until_steady(clock_steady() + LOOK_US);
		CHECK_FOR_INTERRUPTS();
	}
	strlcpy(request.schemaname, slot->schemaname, NAMEDATALEN);
	strlcpy(request.relname, slot->relname, NAMEDATALEN);
	(void) requests_put(&request, 1);
	ereport(NOTICE,
			(errmsg("the vacuum of process %d prevented transaction ID wraparound", slot->pid),
			 errdetail("pg_sweep freezes the table instead, and gives way to whoever wants it, autovacuum included.")));
}

/*
 * The snooze comes first.  Otherwise the vacuum's end would be remembered
 * before it, and the table would be due.
 */
PG_FUNCTION_INFO_V1(sweep_cancel_0_1);
Datum
sweep_cancel_0_1(PG_FUNCTION_ARGS)
{
	int			pid;
	MeterSlot	slot;
	DecisionKey snoozed = {0};
	TimestampTz now = clock_now();

	shmem_require();
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	pid = PG_GETARG_INT32(0);
	if (running_find(pid, &slot) < 0)
	{
		ereport(WARNING,
				(errmsg("process %d is not running a vacuum", pid)));
		PG_RETURN_BOOL(false);
	}
	if (!running_may_act(&slot))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to cancel the vacuum of process %d", pid),
				 errdetail("Only a superuser, a role with privileges of \"pg_signal_backend\", or a role that may vacuum the table can cancel it.")));
	check_wraparound(&slot, !PG_ARGISNULL(2) && PG_GETARG_BOOL(2), !PG_ARGISNULL(1));
	if (!PG_ARGISNULL(1))
		snoozed = snooze_table_of(&slot, PG_GETARG_INTERVAL_P(1));
	if (!worker_claims_cancel(pid) && kill(pid, SIGINT) != 0)
	{
		if (OidIsValid(snoozed.relid))
			snooze_end(snoozed);
		ereport(WARNING,
				(errmsg("could not send signal to process %d: %m", pid)));
		PG_RETURN_BOOL(false);
	}
	audit_vacuum("cancel", &slot, PG_ARGISNULL(1) ? NULL :
				 psprintf("snoozed %s", audit_until(duration_end(PG_GETARG_INTERVAL_P(1), now), now)));
	if (slot.starter == RUN_BY_AUTOVACUUM_WRAPAROUND)
		freeze_instead(&slot);
	PG_RETURN_BOOL(true);
}

PG_FUNCTION_INFO_V1(sweep_reset_runs_0_1);
Datum
sweep_reset_runs_0_1(PG_FUNCTION_ARGS)
{
	shmem_require();
	ledger_reset();
	audit_server("reset_runs", NULL);
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(sweep_rearm_0_1);
Datum
sweep_rearm_0_1(PG_FUNCTION_ARGS)
{
	bool		was_off;

	shmem_require();
	was_off = breaker_rearm();
	if (was_off)
		ledger_begin_again();	/* what ended meanwhile is not known */
	shmem_wake_launcher();
	shmem_wake_governor();
	audit_server("rearm", was_off ? NULL : "it was not off");
	PG_RETURN_BOOL(was_off);
}
