/*
 * pause_commands.c
 *		SQL functions that have a table, or all of them, left alone for a while.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "duration.h"
#include "hold.h"
#include "snooze.h"
#include "vacuumable.h"

/*
 * A partitioned table's leaves, each for itself.  Returns until when, or NULL
 * when the snooze has ended.
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
	tables = vacuumable_expand(&named, &count);
	for (int i = 0; i < count; i++)
	{
		if (until == now)
			snooze_end(tables[i].key);
		else
			snooze_begin(tables[i].key, tables[i].schemaname, tables[i].relname, until);
	}
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
	if (until == now)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("interval must be longer than 0"),
				 errhint("Call sweep.unhold() to end a hold.")));
	(void) hold_set(until);
	PG_RETURN_TIMESTAMPTZ(until);
}

PG_FUNCTION_INFO_V1(sweep_unhold_0_1);
Datum
sweep_unhold_0_1(PG_FUNCTION_ARGS)
{
	bool		was_on;

	shmem_require();
	was_on = hold_set(0);
	shmem_wake_launcher();
	PG_RETURN_BOOL(was_on);
}
