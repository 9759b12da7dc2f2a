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
#include "shmem.h"
#include "sql/audit_calls.h"
#include "sql/run_target.h"
#include "sql/vacuumable.h"
#include "state/duration.h"
#include "state/ledger.h"
#include "state/snooze.h"
#include "state/worker_claims.h"

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
	if (slot.starter == RUN_BY_AUTOVACUUM_WRAPAROUND)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("process %d is preventing transaction ID wraparound", pid),
				 errhint("A cancelled one would start again at once.  If it must be cancelled all the same, use pg_cancel_backend().")));
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
