/*
 * simulate_view.c
 *		The library pg_sweep_simulate: what other settings would have done with
 *		what users did.
 *
 * Runs in the backend of who asks, which loads it when it calls one of the
 * functions of sql/simulate_functions.  It changes nothing, and sets no
 * setting.
 */
#include "postgres.h"

#include "access/transam.h"
#include "commands/dbcommands.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "server/clock.h"
#include "server/compat.h"
#include "shmem.h"
#include "sql/relation.h"
#include "sql/row.h"
#include "sql/simulate_functions.h"

#include "simulate_input.h"

PG_MODULE_MAGIC;

/* A test builds a library that does not fit. */
#ifndef SIMULATE_VERSION
#define SIMULATE_VERSION	SWEEP_VERSION
#endif

/*
 * At this age the server gives out no more transaction ids.  Source:
 * SetTransactionIdLimit() in PostgreSQL's varsup.c (15 to 19).
 */
#define STOP_AGE	((double) (MaxTransactionId >> 1) - 3000000)

/* What is later than in a hundred years is not told. */
#define LATEST_S	(100.0 * 365.25 * SECS_PER_DAY)

SimulateFit
sweep_simulate_fit(void)
{
	return simulate_fit_of(SIMULATE_VERSION);
}

static SimulateInput *
read_input(ArrayType *settings, Interval *back, bool back_test, SimulatedSettings *s)
{
	TimestampTz now = clock_now();
	TimestampTz since = DatumGetTimestampTz(DirectFunctionCall2(timestamptz_mi_interval,
																TimestampTzGetDatum(now),
																IntervalPGetDatum(back)));

	if (TIMESTAMP_NOT_FINITE(since) || since >= now)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the time to simulate must be longer than nothing"),
				 errhint("Name how far to go back, for example '7 days'.")));
	*s = simulated_settings(settings);
	return simulate_input_read(s, since, back_test);
}

static SimulateInput *
run_simulation(FunctionCallInfo fcinfo)
{
	SimulatedSettings s;
	SimulateInput *in = read_input(PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_INTERVAL_P(1), PG_GETARG_BOOL(2), &s);

	simulate(&in->simulation);
	return in;
}

/* A number of rows, pages or vacuums, which may be larger than any is. */
static Datum
whole(double number)
{
	return Int64GetDatum((int64) (Min(Max(number, 0), 9e15) + 0.5));
}

static void
put_sum(Row *row, const SimulateSum *sum)
{
	row_put(row, whole(sum->vacuums));
	row_put(row, whole(sum->insert_vacuums));
	row_put(row, whole(sum->read));
	row_put(row, whole(sum->dirtied));
	row_put(row, Float8GetDatum(1000 * sum->busy_s));
	row_put(row, whole(sum->dead_mean));
	row_put(row, whole(sum->dead_most));
}

static void
put_recorded(Row *row, const RecordedSum *sum)
{
	row_put(row, whole(sum->vacuums));
	row_put(row, whole(sum->read));
	row_put(row, whole(sum->dirtied));
	row_put(row, whole(sum->dead));
}

Datum
sweep_simulate_hours(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	SimulateInput *in;

	InitMaterializedSRF(fcinfo, 0);
	in = run_simulation(fcinfo);
	for (int i = 0; i < in->simulation.hours_count; i++)
	{
		row_put_time(&row, in->begins[i]);
		row_put_interval(&row, 1000 * in->simulation.hours[i].seconds);
		put_sum(&row, &in->simulation.by_hour[i]);
		row_put(&row, whole(in->simulation.by_hour[i].waiting));
		put_recorded(&row, &in->recorded[i]);
		row_store(fcinfo, &row);
	}
	return (Datum) 0;
}

Datum
sweep_simulate_tables(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	SimulateInput *in;

	InitMaterializedSRF(fcinfo, 0);
	in = run_simulation(fcinfo);
	for (int i = 0; i < in->simulation.tables_count; i++)
	{
		const SimulateTable *t = &in->simulation.tables[i];
		const SimulatedTable *info = &in->tables[i];
		char	   *datname = OidIsValid(info->key.dboid) ? get_database_name(info->key.dboid) : NULL;

		CHECK_FOR_INTERRUPTS();
		row_put_oid(&row, info->key.dboid);
		row_put_text(&row, datname ? row_readable(datname) : NULL);
		row_put_oid(&row, info->key.relid);
		relation_put_names(&row, info->key.dboid, info->key.relid, info->schemaname, info->relname);
		put_sum(&row, &t->sum);
		put_recorded(&row, &info->recorded);
		row_put(&row, whole(Min(t->learned[0].cost.runs, t->learned[1].cost.runs)));
		row_put(&row, BoolGetDatum(info->estimated));
		row_store(fcinfo, &row);
	}
	return (Datum) 0;
}

/*
 * When the oldest transaction id has that age.  NULL if it never will, or so
 * late that nobody knows what will be then.
 */
static void
put_time_of_age(Row *row, double age, double limit, double ids_s)
{
	double		seconds = simulate_seconds_to_age(age, limit, ids_s);

	row_put_time(row, seconds < 0 || seconds > LATEST_S ? 0 :
				 clock_now() + (TimestampTz) (seconds * USECS_PER_SEC));
}

static void
put_known(Row *row, bool known, double number)
{
	if (known)
		row_put(row, whole(number));
	else
		row_put_float(row, -1); /* NULL */
}

Datum
sweep_simulate_summary(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	SimulatedSettings s;
	SimulateInput *in;
	const Simulation *sim;
	int32		age = (int32) (ReadNextTransactionId() - compat_oldest_xid());
	int			unlearned = 0;
	int			last;

	InitMaterializedSRF(fcinfo, 0);
	in = read_input(PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_INTERVAL_P(1), false, &s);
	sim = &in->simulation;
	last = sim->hours_count - 1;
	for (int i = 0; i < sim->tables_count; i++)
		unlearned += sim->tables[i].learned[0].cost.runs <= 0;

	row_put_time(&row, in->begins[0]);
	row_put_time(&row, in->begins[last] + (TimestampTz) (sim->hours[last].seconds * USECS_PER_SEC));
	row_put(&row, Int32GetDatum(sim->hours_count));
	row_put(&row, Int32GetDatum(in->missing));
	row_put(&row, Int32GetDatum(sim->tables_count));
	row_put(&row, Int32GetDatum(unlearned));
	row_put(&row, Float8GetDatum(in->changes > 0 ? 100 * in->changes_left_out / in->changes : 0));
	row_put(&row, Int32GetDatum(Max(age, 0)));
	row_put_float(&row, in->ids_s < 0 ? -1 : SECS_PER_HOUR * in->ids_s);
	row_put(&row, Int32GetDatum(s.freeze_max_age));
	put_time_of_age(&row, age, s.freeze_max_age, in->ids_s);
	put_time_of_age(&row, age, STOP_AGE, in->ids_s);
	put_known(&row, in->ids_s >= 0, in->to_freeze);
	put_known(&row, in->ids_s >= 0, in->pages_to_freeze);
	row_store(fcinfo, &row);
	return (Datum) 0;
}
