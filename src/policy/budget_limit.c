/*
 * policy/budget_limit.c
 *		The limits on what vacuums may use: a table of them.  Pure.
 */
#include "budget_limit.h"

#include <stddef.h>

#include "rates.h"

/* the name, and the setting of pg_sweep that has it */
#define SETTING(name)	name, "sweep." name
#define RATE			"MB/s", RATES_MB, LIMIT_BY_VACUUMS, LIMIT_OF_DEVICE

const LimitRow budget_limits[LIMIT_COUNT] = {
	[LIMIT_NONE] = {"none", NULL, "", 1},
	[LIMIT_READ] = {SETTING("read_limit"), RATE,
	"Sets how many pages vacuums may read.", 0, LIMIT_RATE_MAX, true},
	[LIMIT_WRITE] = {SETTING("write_limit"), RATE,
	"Sets how many pages vacuums may dirty.", 0, LIMIT_RATE_MAX, true},
	[LIMIT_WAL] = {SETTING("wal_limit"), RATE,
	"Sets how much WAL vacuums may write, with full-page images.", 0, LIMIT_RATE_MAX, true},
	[LIMIT_IO_LATENCY] = {SETTING("io_latency_limit"), "ms", 1, LIMIT_BY_DISK, LIMIT_NOT_SHARED,
	"Sets how long the device may take for a request before vacuums yield.", 0, 60000, true},
	[LIMIT_DEVICE] = {SETTING("device_utilization"), "%", 1, LIMIT_BY_DISK, LIMIT_NOT_SHARED,
	"Sets how busy the device may be, in percent, before vacuums yield.", 0, 100, true},
	[LIMIT_CPU] = {SETTING("cpu_limit"), "% of a core", 1, LIMIT_BY_CPU, LIMIT_OF_PROCESSORS,
	"Sets how much processor time vacuums may use, in percent of a core.", 0, 100000, true},
	[LIMIT_REPLICA_LAG] = {SETTING("max_replica_lag"), "ms", 1, LIMIT_BY_REPLICAS},
	[LIMIT_USERS] = {SETTING("adaptive"), "users waiting", 1, LIMIT_BY_USERS},
	[LIMIT_ARCHIVER] = {"archiver", NULL, "MB behind", RATES_MB, LIMIT_BY_WAL},
	[LIMIT_SLOTS] = {"slots", "max_slot_wal_keep_size", "MB left", RATES_MB, LIMIT_BY_WAL},
	[LIMIT_WAL_DISK] = {SETTING("wal_disk_limit"), "%", 1, LIMIT_BY_WAL, LIMIT_NOT_SHARED,
	"Sets how full the file system of the WAL may be, in percent, before vacuums yield.", 80, 100, false},
};

const char *
budget_limit_name(int limit)
{
	return limit >= 0 && limit < LIMIT_COUNT ? budget_limits[limit].name : NULL;
}
