/*
 * sensors.c
 *		All sensors in one step, and what they have in common.
 *
 * Nothing here raises an error, allocates, or waits.  A sensor that cannot
 * read what it needs is broken until it can read it again.
 */
#include "postgres.h"

#include "governor/sensors.h"

typedef enum Sensor
{
	THE_DISK,
	THE_USERS,
	THE_WAL,
	THE_REPLICAS,
	THE_CPU,
	SENSOR_COUNT
} Sensor;

static const char *const names[SENSOR_COUNT] = {
	[THE_DISK] = "disk",
	[THE_USERS] = "users",
	[THE_WAL] = "WAL",
	[THE_REPLICAS] = "standbys",
	[THE_CPU] = "processor",
};

bool		sensors_tell = true;

static SensorState told[SENSOR_COUNT];	/* what the log knows */

const char *
sensors_state_name(SensorState state)
{
	switch (state)
	{
		case SENSOR_NOT_USED:
			return "not used";
		case SENSOR_OK:
			return "ok";
		case SENSOR_ABSENT:
			return "absent";
		case SENSOR_BROKEN:
			return "broken";
	}
	return "unknown";
}

const char *
sensors_why_not(SensorState state, const char *why, char *text, size_t size)
{
	switch (state)
	{
		case SENSOR_OK:
			text[0] = '\0';
			break;
		case SENSOR_NOT_USED:
			strlcpy(text, "no limit that is set needs it", size);
			break;
		case SENSOR_ABSENT:
			snprintf(text, size, "this system has none: %s", why);
			break;
		case SENSOR_BROKEN:
			snprintf(text, size, "cannot be read at present: %s", why);
			break;
	}
	return text;
}

/*
 * The log is told when a sensor is lost and when it is back, not how it is
 * every quarter of a second.  One that comes and goes is told of at each
 * change: that is what is wrong with it.
 */
static void
tell(Sensor sensor, SensorState now, const char *why)
{
	SensorState before = told[sensor];

	if (!sensors_tell || now == SENSOR_NOT_USED || now == before)
		return;
	told[sensor] = now;
	if (now == SENSOR_BROKEN)
		ereport(LOG,
				(errmsg("pg_sweep: the sensor \"%s\" cannot be read: %s", names[sensor], why),
				 errdetail("Limits that need it hold the last rate.")));
	else if (now == SENSOR_ABSENT)
		ereport(LOG,
				(errmsg("pg_sweep: there is no sensor \"%s\": %s", names[sensor], why)));
	else if (before == SENSOR_BROKEN || before == SENSOR_ABSENT)
		ereport(LOG,
				(errmsg("pg_sweep: the sensor \"%s\" can be read again", names[sensor])));
}

void
sensors_sense(SensorsReading *out, const SensorsWanted *wanted, TimestampTz now)
{
	memset(out, 0, sizeof(*out));
	out->users.io_pressure_pct = out->users.cpu_pressure_pct = -1;
	out->wal.disk_used_pct = -1;
	out->wal.slot_left_bytes = -1;

	if (wanted->disk)
		sensor_disk_read(&out->disk, now);
	if (wanted->users)
		sensor_users_read(&out->users, now);
	if (wanted->wal)
		sensor_wal_read(&out->wal, now);
	if (wanted->replicas)
		sensor_replicas_read(&out->replicas, wanted, now);
	if (wanted->cpu)
		sensor_cpu_read(&out->cpu, now);

	tell(THE_DISK, out->disk.state, out->disk.why);
	tell(THE_USERS, out->users.state, out->users.why);
	tell(THE_WAL, out->wal.state, out->wal.why);
	tell(THE_REPLICAS, out->replicas.state, out->replicas.why);
	tell(THE_CPU, out->cpu.state, out->cpu.why);
}
