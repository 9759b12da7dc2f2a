/*
 * sensors_view.c
 *		sweep.sensors(): what the governor would see, sensed by the session
 *		that asks.
 *
 * Takes two looks, because most of it is a difference.  They are a quarter of
 * a second apart, as the governor's steps are.  Nothing is shared with the
 * governor.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "governor/sensors.h"
#include "server/clock.h"
#include "settings.h"
#include "shmem.h"
#include "sql/row.h"

#define STEP_MS		250
#define SAMPLE_MS	10

#define MB			(1024.0 * 1024.0)

/* Puts one number.  It is unknown if negative. */
static void
put(FunctionCallInfo fcinfo, const char *name, SensorState state, double value, const char *unit,
	const char *why)
{
	Row			row = {0};
	char		text[SENSOR_WHY_LEN + 64];

	row_put_text(&row, name);
	row_put_text(&row, sensors_state_name(state));
	row_put_float(&row, state == SENSOR_OK ? value : -1);
	row_put_text(&row, unit);
	row_put_text(&row, state == SENSOR_OK ? why :
				 sensors_why_not(state, why, text, sizeof(text)));
	row_store(fcinfo, &row);
}

static void
put_disk(FunctionCallInfo fcinfo, const DiskReading *d)
{
	char		busy[SENSOR_WHY_LEN];
	char		device[SENSOR_WHY_LEN];
	char		latency[SENSOR_WHY_LEN];

	strlcpy(busy, d->why, sizeof(busy));
	strlcpy(device, d->why, sizeof(device));
	strlcpy(latency, d->why, sizeof(latency));
	if (d->state == SENSOR_OK)
	{
		snprintf(device, sizeof(device), "device %s", d->device);
		snprintf(latency, sizeof(latency), "device %s", d->slowest);
		snprintf(busy, sizeof(busy), "device %s%s", d->busiest, d->has_queue ? "" :
				 ", which serves several requests at once, or may: busy does not mean full");
	}
	put(fcinfo, "disk_busy", d->state, d->busy_pct, "%", busy);
	put(fcinfo, "disk_latency", d->state, d->latency_ms, "ms", latency);
	put(fcinfo, "disk_queue", d->state, d->queue, "requests", device);
	put(fcinfo, "disk_read", d->state, d->read_bytes_s / MB, "MB/s", device);
	put(fcinfo, "disk_write", d->state, d->write_bytes_s / MB, "MB/s", device);
	put(fcinfo, "disk_read_ahead", d->state == SENSOR_OK && d->read_ahead_kb < 0 ? SENSOR_ABSENT : d->state,
		d->read_ahead_kb, "kB", d->device);
}

static void
put_pressure(FunctionCallInfo fcinfo, const char *name, SensorState state, double pct, const char *why)
{
	put(fcinfo, name, state == SENSOR_OK && pct < 0 ? SENSOR_ABSENT : state, pct, "%", why);
}

static void
put_users(FunctionCallInfo fcinfo, const UsersReading *u)
{
	put(fcinfo, "users_active", u->state, u->active, "sessions", "");
	put(fcinfo, "users_waiting_io", u->state, u->waiting_io, "sessions", "");
	put(fcinfo, "users_waiting_wal", u->state, u->waiting_wal, "sessions", "");
	put(fcinfo, "users_waiting_lwlock", u->state, u->waiting_lwlock, "sessions", "");
	put(fcinfo, "base_backups", u->state, u->base_backups, "backups", "");
	put_pressure(fcinfo, "io_pressure", u->state, u->io_pressure_pct, u->io_why);
	put_pressure(fcinfo, "cpu_pressure", u->state, u->cpu_pressure_pct, u->cpu_why);
}

static void
put_wal(FunctionCallInfo fcinfo, const WalReading *w)
{
	char		slot[SENSOR_WHY_LEN];

	strlcpy(slot, w->why, sizeof(slot));
	if (w->state == SENSOR_OK && w->slot[0] != '\0')
		snprintf(slot, sizeof(slot), "slot \"%s\"", w->slot);
	else if (w->state == SENSOR_OK)
		strlcpy(slot, "no slot loses its WAL", sizeof(slot));
	put(fcinfo, "wal_written", w->state, w->wal_bytes_s / MB, "MB/s", w->state == SENSOR_OK ? "" : w->why);
	put(fcinfo, "archiver_failing", w->state, w->archiver_failing ? 1 : 0, "0 or 1", w->why);
	put(fcinfo, "archiver_behind", w->state, w->archiver_behind_bytes / MB, "MB", w->why);
	put(fcinfo, "wal_disk_used", w->state, w->disk_used_pct, "%", w->state == SENSOR_OK ? "" : w->why);
	put(fcinfo, "slot_left", w->state, w->slot_left_bytes < 0 ? -1 : w->slot_left_bytes / MB, "MB", slot);
}

static void
put_replicas(FunctionCallInfo fcinfo, const ReplicaReading *r)
{
	char		which[SENSOR_WHY_LEN];

	strlcpy(which, r->why, sizeof(which));
	if (r->state == SENSOR_OK && which[0] == '\0' && r->standby[0] != '\0')
		snprintf(which, sizeof(which), "standby \"%s\"", r->standby);
	put(fcinfo, "replica_lag", r->state, r->lag_bytes / MB, "MB", which);
	put(fcinfo, "replica_lag_time", r->state, r->lag_ms, "ms", which);
	put(fcinfo, "standbys", r->state, r->standbys, "standbys", r->state == SENSOR_OK ? "" : r->why);
	put(fcinfo, "standbys_ignored", r->state, r->ignored, "standbys", r->state == SENSOR_OK ? "" : r->why);
}

PG_FUNCTION_INFO_V1(sweep_sensors_0_1);
Datum
sweep_sensors_0_1(PG_FUNCTION_ARGS)
{
	SensorsWanted wanted = {true, true, true, true, true};
	SensorsReading reading;
	int64		until;

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);

	wanted.ignore_standbys = sweep_ignore_standbys;
	sensors_tell = false;
	sensors_sense(&reading, &wanted, clock_now());
	until = clock_steady() + STEP_MS * 1000;
	while (clock_steady() < until)
	{
		sensor_users_sample();
		clock_wait_until(clock_now() + SAMPLE_MS * 1000);
		CHECK_FOR_INTERRUPTS();
	}
	sensors_sense(&reading, &wanted, clock_now());

	put_disk(fcinfo, &reading.disk);
	put_users(fcinfo, &reading.users);
	put_wal(fcinfo, &reading.wal);
	put_replicas(fcinfo, &reading.replicas);
	put(fcinfo, "vacuum_cpu", reading.cpu.state, reading.cpu.vacuums_pct, "% of a core", reading.cpu.why);
	return (Datum) 0;
}
