/*
 * policy/budget_limit.c
 *		The limits on what vacuums may use, and what they are called.  Pure.
 */
#include "budget_limit.h"

#include <stddef.h>

#include "rates.h"

/* the name, and the setting of pg_sweep that has it */
#define SETTING(name)	name, "sweep." name

static const struct
{
	const char *name;
	const char *setting;
	const char *unit;
	double		scale;
}			limits[LIMIT_COUNT] = {
	[LIMIT_NONE] = {"none", NULL, "", 1},
	[LIMIT_READ] = {SETTING("read_limit"), "MB/s", RATES_MB},
	[LIMIT_WRITE] = {SETTING("write_limit"), "MB/s", RATES_MB},
	[LIMIT_WAL] = {SETTING("wal_limit"), "MB/s", RATES_MB},
	[LIMIT_IO_LATENCY] = {SETTING("io_latency_limit"), "ms", 1},
	[LIMIT_DEVICE] = {SETTING("device_utilization"), "%", 1},
	[LIMIT_CPU] = {SETTING("cpu_limit"), "% of a core", 1},
	[LIMIT_REPLICA_LAG] = {SETTING("max_replica_lag"), "ms", 1},
	[LIMIT_USERS] = {SETTING("adaptive"), "users waiting", 1},
	[LIMIT_ARCHIVER] = {"archiver", NULL, "MB behind", RATES_MB},
	[LIMIT_SLOTS] = {"slots", "max_slot_wal_keep_size", "MB left", RATES_MB},
	[LIMIT_WAL_DISK] = {SETTING("wal_disk_limit"), "%", 1},
};

const char *
budget_limit_name(int limit)
{
	return limit >= 0 && limit < LIMIT_COUNT ? limits[limit].name : NULL;
}

const char *
budget_limit_setting(BudgetLimit limit)
{
	return limits[limit].setting;
}

const char *
budget_limit_unit(BudgetLimit limit)
{
	return limits[limit].unit;
}

double
budget_limit_scale(BudgetLimit limit)
{
	return limits[limit].scale;
}
