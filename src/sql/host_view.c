/*
 * host_view.c
 *		sweep.host: the servers of this machine that vacuum, as they tell.
 *
 * Runs in any backend, and copies what the governor has published.
 */
#include "postgres.h"

#include <unistd.h>

#include "fmgr.h"
#include "funcapi.h"
#include "utils/timestamp.h"

#include "governor/sensors.h"
#include "policy/host_share.h"
#include "settings.h"
#include "shmem.h"
#include "sql/row.h"
#include "state/budget.h"

static void
put_record(Row *row, const HostRecord *record)
{
	row_put(row, Int32GetDatum(record->vacuums));
	row_put_float(row, record->urgency);
	row_put_float(row, record->read / RATES_MB);
	row_put_float(row, record->write / RATES_MB);
	row_put_float(row, record->wal / RATES_MB);
}

static void
put_this_server(Row *row, const HostState *host, bool stale)
{
	char		text[HOST_WHY_LEN + 64];

	row_put(row, BoolGetDatum(true));
	row_put_text(row, NULL);
	row_put(row, Int64GetDatum((int64) geteuid()));
	row_put(row, BoolGetDatum(true));
	for (int i = 0; i < 6; i++)
		row_put_null(row);		/* sweep.progress and sweep.budget tell */
	row_put_float(row, host->device_share);
	row_put_float(row, host->processors_share);
	if (stale)
		strlcpy(text, "the governor is not running", sizeof(text));
	else if (host->state == SENSOR_NOT_USED)
		strlcpy(text, "sweep.host_directory is empty", sizeof(text));
	else if (host->left_out > 0)
		snprintf(text, sizeof(text), "%d more servers have no place here, and count as well", host->left_out);
	else
		(void) sensors_why_not(host->state, host->why, text, sizeof(text));
	row_put_text(row, text);
}

static void
put_sibling(Row *row, const HostSiblingState *sibling)
{
	const char *detail = "vacuums";

	if (host_watches(sibling->record.watches, sibling->silent_ms))
		detail = "does not vacuum, but vacuums of others yield to its users";
	else if (!sibling->counts)
		detail = "does not vacuum";
	else if (sibling->silent_ms >= HOST_SILENT_MS)
		detail = "says nothing any more: it has a fixed share until it is taken for gone";
	row_put(row, BoolGetDatum(false));
	row_put_text(row, sibling->record.name);
	row_put(row, Int64GetDatum((int64) sibling->owner));
	row_put(row, BoolGetDatum(sibling->on_device));
	put_record(row, &sibling->record);
	row_put_interval(row, (double) Max(sibling->silent_ms, 0));
	row_put_null(row);
	row_put_null(row);
	row_put_text(row, detail);
}

PG_FUNCTION_INFO_V1(sweep_host_0_1);
Datum
sweep_host_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	HostState  *host;

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);
	host = palloc0(sizeof(HostState));
	if (!budget_read_host(host))
		return (Datum) 0;
	put_this_server(&row, host, GetCurrentTimestamp() - host->at > BUDGET_STALE_US);
	row_store(fcinfo, &row);
	for (int i = 0; i < host->count; i++)
	{
		put_sibling(&row, &host->siblings[i]);
		row_store(fcinfo, &row);
	}
	return (Datum) 0;
}
