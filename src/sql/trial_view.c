/*
 * trial_view.c
 *		sweep.trial: what would have been done in mode observe.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"

#include "shmem.h"
#include "sql/relation.h"
#include "sql/row.h"
#include "state/trial.h"

static void
put_range(Row *row, const TrialRange *range)
{
	row_put(row, Int64GetDatum(range->least));
	row_put(row, Int64GetDatum(range->most));
}

/* What would have been done. */
static void
put_noted(Row *row, const TrialTable *t)
{
	bool		looked_at = t->vacuums > 0 && OidIsValid(t->key.relid);

	row_put(row, Int64GetDatum(t->vacuums));
	row_put(row, Int64GetDatum(t->insert_vacuums));
	row_put_time(row, t->first_at);
	row_put_time(row, t->last_at);
	put_range(row, &t->read);
	put_range(row, &t->dirtied);
	row_put(row, Int64GetDatum(t->frozen));
	row_put_time(row, t->waiting_since);
	row_put_int64(row, looked_at ? t->dead : -1);
	row_put_int64(row, looked_at ? (int64) t->core_threshold : -1);
	row_put_int64(row, looked_at ? t->inserted : -1);
	row_put_int64(row, looked_at ? (int64) t->core_insert : -1);
}

/* What was. */
static void
put_done(Row *row, const TrialTable *t)
{
	row_put(row, Int64GetDatum(t->autovacuums));
	row_put(row, Int64GetDatum(t->autovacuum_read));
	row_put(row, Int64GetDatum(t->autovacuum_dirtied));
	row_put(row, Int64GetDatum(t->manual_vacuums));
	row_put(row, Int64GetDatum(t->followed));
	if (t->followed > 0)
		row_put_interval(row, (double) t->ahead_us / 1000 / (double) t->followed);
	else
		row_put_null(row);
	row_put(row, Int64GetDatum(t->grown));
}

PG_FUNCTION_INFO_V1(sweep_trial_0_1);
Datum
sweep_trial_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	TrialTable *tables;
	TimestampTz since;
	TimestampTz until;
	int			count;

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);

	tables = trial_copy(&count, &since, &until);
	for (int i = 0; i < count; i++)
	{
		const TrialTable *t = &tables[i];

		CHECK_FOR_INTERRUPTS();
		row_put_time(&row, since);
		row_put_time(&row, until);
		row_put_oid(&row, t->key.dboid);
		row_put_oid(&row, t->key.relid);
		if (OidIsValid(t->key.relid))
			relation_put_names(&row, t->key.dboid, t->key.relid, t->schemaname, t->relname);
		else
		{
			row_put_null(&row);
			row_put_null(&row);
		}
		put_noted(&row, t);
		put_done(&row, t);
		row_store(fcinfo, &row);
	}
	pfree(tables);
	return (Datum) 0;
}
