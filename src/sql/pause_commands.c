/*
 * pause_commands.c
 *		SQL functions that have a table, or all of them, left alone for a while.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/timestamp.h"

#include "server/clock.h"
#include "shmem.h"
#include "sql/distributed.h"
#include "sql/vacuumable.h"
#include "state/duration.h"
#include "sql/audit_calls.h"
#include "state/hold.h"
#include "state/snooze.h"

static void
snooze_all(const Vacuumable *tables, int n, TimestampTz until)
{
	SnoozeTable *snoozed = palloc(sizeof(SnoozeTable) * Max(n, 1));

	for (int i = 0; i < n; i++)
	{
		snoozed[i].key = tables[i].key;
		strlcpy(snoozed[i].schemaname, tables[i].schemaname, NAMEDATALEN);
		strlcpy(snoozed[i].relname, tables[i].relname, NAMEDATALEN);
	}
	snooze_begin(snoozed, n, until);
	pfree(snoozed);
}

/*
 * Each leaf of a partitioned table is snoozed for itself.  Returns until
 * when, or NULL if the snooze has ended.
 */
PG_FUNCTION_INFO_V1(sweep_snooze_0_1);
Datum
sweep_snooze_0_1(PG_FUNCTION_ARGS)
{
	TimestampTz now = clock_now();
	TimestampTz until;
	Vacuumable	named;
	Vacuumable *tables;
	int			count;

	shmem_require();
	vacuumable_check(PG_GETARG_OID(0), &named);
	until = duration_end(PG_GETARG_INTERVAL_P(1), now);
	if (until != now)
		distributed_refuse(&named, "sweep.snooze('%s', '1 hour')");
	tables = vacuumable_expand(&named, &count);
	if (until != now)
		snooze_all(tables, count, until);
	for (int i = 0; i < count && until == now; i++)
		snooze_end(tables[i].key);
	audit_table("snooze", &named, audit_until(until, now));
	if (until == now)
	{
		shmem_wake_launcher();
		PG_RETURN_NULL();
	}
	PG_RETURN_TIMESTAMPTZ(until);
}

PG_FUNCTION_INFO_V1(sweep_hold_0_1);
Datum
sweep_hold_0_1(PG_FUNCTION_ARGS)
{
	TimestampTz now = clock_now();
	TimestampTz until;

	shmem_require();
	until = duration_end(PG_GETARG_INTERVAL_P(0), now);
	(void) hold_set(until == now ? 0 : until);
	audit_server("hold", audit_until(until, now));
	shmem_wake_launcher();
	if (until == now)
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMPTZ(until);
}
