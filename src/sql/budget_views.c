/*
 * budget_views.c
 *		sweep.budget and sweep.governor: what vacuums may use, and why.
 *
 * Runs in any backend, and copies what the governor has published.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "governor/sensors.h"
#include "policy/budget_limit.h"
#include "settings.h"
#include "shmem.h"
#include "sql/row.h"
#include "state/budget.h"

static double
scaled(double value, double scale)
{
	return value < 0 ? -1 : value / scale;
}

static void
put_limit(Row *row, const Budget *budget, BudgetLimit i, bool stale)
{
	const BudgetLimitState *limit = &budget->limits[i];
	double		scale = budget_limits[i].scale;
	const char *unit = budget_limits[i].unit;
	const char *from = budget_limits[i].setting;
	const char *setting = from ? GetConfigOption(from, true, false) : NULL;
	int			kb;

	if (i == LIMIT_REPLICA_LAG && setting && parse_int(setting, &kb, GUC_UNIT_KB, NULL))
	{
		unit = "MB";
		scale = RATES_MB;
	}
	row_put_text(row, budget_limit_name(i));
	row_put_text(row, setting);
	row_put_text(row, unit);
	row_put_float(row, limit->configured > 0 ? limit->configured / scale : -1);
	row_put_float(row, limit->sensor == SENSOR_NOT_USED ? -1 : scaled(limit->measured, scale));
	row_put_float(row, limit->allowed > 0 ? limit->allowed / RATES_MB : -1);
	row_put(row, BoolGetDatum(!stale && budget->binding == i));
	row_put_text(row, sensors_state_name((SensorState) limit->sensor));
	row_put_text(row, stale ? "the governor is not running" : limit->detail);
}

/*
 * Says how much bloat it makes that the ceiling is below what the floor
 * takes.
 */
static void
put_floor(Row *row, const Budget *budget, bool stale)
{
	char		text[128] = "";

	if (stale)
		strlcpy(text, "the governor is not running", sizeof(text));
	else if (budget->bloat_bytes_h > 0)
		snprintf(text, sizeof(text), "the limits are below it: bloat grows by %.0f MB an hour",
				 budget->bloat_bytes_h / RATES_MB);
	row_put_text(row, FLOOR_NAME);
	row_put_text(row, GetConfigOption("sweep." FLOOR_NAME, true, false));
	row_put_text(row, "MB/s");
	row_put_float(row, sweep_floor);
	row_put_null(row);
	row_put_float(row, budget->floor / RATES_MB);
	row_put(row, BoolGetDatum(false));
	row_put_text(row, "not used");
	row_put_text(row, text);
}

PG_FUNCTION_INFO_V1(sweep_budget_0_1);
Datum
sweep_budget_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	Budget	   *budget;
	bool		stale;

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);
	budget = palloc0(sizeof(Budget));
	if (!budget_read(budget) || budget->at == 0)
		return (Datum) 0;
	stale = GetCurrentTimestamp() - budget->at > BUDGET_STALE_US;
	for (int i = LIMIT_NONE + 1; i < LIMIT_COUNT; i++)
	{
		put_limit(&row, budget, i, stale);
		row_store(fcinfo, &row);
	}
	put_floor(&row, budget, stale);
	row_store(fcinfo, &row);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(sweep_governor_0_1);
Datum
sweep_governor_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	GovernorStep step;

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < GOVERNOR_STEPS; i++)
	{
		if (!budget_read_step(i, &step))
			continue;
		row_put_time(&row, step.at);
		row_put(&row, Int32GetDatum(step.vacuums));
		row_put_float(&row, step.measured.read / RATES_MB);
		row_put_float(&row, step.measured.write / RATES_MB);
		row_put_float(&row, step.measured.wal / RATES_MB);
		row_put_float(&row, step.cpu_pct);
		row_put_float(&row, step.users_waiting);
		row_put_float(&row, step.allowed.total > 0 ? step.allowed.total / RATES_MB : -1);
		row_put_float(&row, step.floor / RATES_MB);
		row_put_text(&row, step.binding == LIMIT_NONE ? NULL : budget_limit_name(step.binding));
		row_put_text(&row, budget_decision_name(step.decision));
		row_put_text(&row, step.reason);
		row_store(fcinfo, &row);
	}
	return (Datum) 0;
}
