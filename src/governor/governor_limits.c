/*
 * governor_limits.c
 *		From the settings and the sensors to what policy/throttle decides by,
 *		and from its result to what is published.
 *
 * Governor only.
 */
#include "governor/governor.h"

#include <math.h>

#include "pgtime.h"
#include "utils/timestamp.h"

#include "policy/cpu_room.h"
#include "policy/limit_text.h"
#include "policy/windows.h"
#include "server/control_group.h"
#include "settings.h"
#include "shmem.h"

/*
 * For core's max_slot_wal_keep_size.  It may allow a slot any amount of WAL.
 */
#include "access/transam.h"
#include "access/xlog.h"
#include "replication/slot.h"

/* with its line pointer: an estimate, for how much bloat grows */
#define DEAD_ROW_BYTES	128

/*
 * What sweep.windows sets instead at this hour.  The check hook has read it
 * already.
 */
static void
apply_window(ThrottleSettings *s, TimestampTz now)
{
	pg_time_t	seconds = timestamptz_to_time_t(now);
	struct pg_tm *local = pg_localtime(&seconds, log_timezone);
	static Windows windows;		/* large */
	const Window *window;
	LimitError	error;

	if (sweep_windows == NULL || sweep_windows[0] == '\0' || local == NULL ||
		!windows_parse(sweep_windows, &windows, &error))
		return;
	window = windows_at(&windows, local->tm_hour * 60 + local->tm_min);
	if (window == NULL)
		return;
	for (int i = LIMIT_NONE + 1; i < LIMIT_COUNT; i++)
	{
		if (window->set[i])
			s->limits[i] = window->value[i] * budget_limits[i].scale;
	}
	if (window->set[WINDOW_FLOOR])
		s->floor = window->value[WINDOW_FLOOR] * RATES_MB;
}

/* What is left of a limit that other servers of this machine share, from 0 to 1. */
static double
part_of(BudgetLimit limit, const HostShare *share)
{
	switch (budget_limits[limit].share)
	{
		case LIMIT_OF_DEVICE:
			return share->device;
		case LIMIT_OF_PROCESSORS:
			return share->processors;
		default:
			return 1;
	}
}

/*
 * Other servers of this machine vacuum as well: each keeps to its part of what is
 * set, and of what users leave.
 */
static void
apply_share(ThrottleSettings *s, const HostShare *share)
{
	for (int i = LIMIT_NONE + 1; i < LIMIT_COUNT; i++)
		s->limits[i] *= part_of(i, share);
	s->floor *= share->device;
	s->device_share = share->device;
}

void
governor_limits_get(ThrottleSettings *out, const HostShare *share, TimestampTz now)
{
	LimitError	error;

	memset(out, 0, sizeof(*out));
	for (int i = LIMIT_NONE + 1; i < LIMIT_COUNT; i++)
		out->limits[i] = sweep_limits[i] * budget_limits[i].scale;
	if (sweep_max_replica_lag != NULL)
		(void) limit_parse_lag(sweep_max_replica_lag, &out->replica_lag_bytes, &out->replica_lag_ms, &error);
	out->slot_keep_bytes = max_slot_wal_keep_size_mb > 0 ? max_slot_wal_keep_size_mb * RATES_MB : 0;
	out->floor = sweep_floor * RATES_MB;
	out->adaptive = sweep_adaptive;
	if (sweep_reclaim_rate != NULL)
		(void) limit_parse_reclaim(sweep_reclaim_rate, &out->reclaim_auto, &out->reclaim_rows_s, &error);
	apply_window(out, now);
	apply_share(out, share);
}

/* Is any set that is not always looked at? */
bool
governor_limits_any(const ThrottleSettings *s)
{
	for (int i = LIMIT_NONE + 1; i < LIMIT_COUNT; i++)
	{
		if (s->limits[i] > 0 && budget_limits[i].initial == 0)
			return true;
	}
	return s->replica_lag_bytes > 0 || s->replica_lag_ms > 0;
}

double
governor_limits_worst_ratio(void)
{
	double		worst = 0;

	LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_SHARED);
	for (int i = 0; i < sweep_shared->queue_count; i++)
	{
		const QueueEntry *e = &sweep_shared->queue[i];

		if (!e->by_inserts && e->threshold > 0)
			worst = Max(worst, (double) e->tuples / e->threshold);
	}
	LWLockRelease(shmem_lock(LOCK_QUEUE));
	return worst;
}

/* Transactions that write, a second: each takes an id. */
static double
commits_s(TimestampTz now)
{
	static FullTransactionId before;
	static TimestampTz before_at = 0;
	FullTransactionId next = ReadNextFullTransactionId();
	double		s = (double) (now - before_at) / 1000000.0;
	double		rate = -1;

	if (before_at != 0 && s > 0 && s <= 10)
		rate = (double) (U64FromFullTransactionId(next) - U64FromFullTransactionId(before)) / s;
	before = next;
	before_at = now;
	return rate;
}

/*
 * Rows that die, a second, in all databases.  This is what the scout has
 * counted more than in its round before.  Negative when it has counted
 * nothing new.
 */
static double
produced_rows_s(TimestampTz now)
{
	static int64 before = -1;
	static TimestampTz before_at;
	int64		dead = 0;
	double		rate = -1;

	LWLockAcquire(shmem_lock(LOCK_DATABASES), LW_SHARED);
	for (int i = 0; i < sweep_shared->databases_count; i++)
		dead += sweep_shared->databases[i].dead_tuples;
	LWLockRelease(shmem_lock(LOCK_DATABASES));

	if (dead == before && now - before_at < 10 * USECS_PER_SEC)
		return -1;
	/* fewer: a vacuum has ended, and nobody knows how many died meanwhile */
	if (before >= 0 && now > before_at && dead >= before)
		rate = (double) (dead - before) * USECS_PER_SEC / (double) (now - before_at);
	before = dead;
	before_at = now;
	return rate;
}

static CpuRoom cpu_room;

/*
 * A control group that has used up its quota of processors stands still, users
 * and all, until the next tenth of a second.  So vacuums keep to what users leave
 * of it.
 */
static void
apply_quota(ThrottleSettings *s, const CpuReading *cpu, TimestampTz now)
{
	double		limit = cpu_room_step(&cpu_room, control_group_used_ms(), Max(cpu->vacuums_pct, 0), (double) now / 1000);

	cpu_room.binds = s->limits[LIMIT_CPU] <= 0 || limit < s->limits[LIMIT_CPU];
	if (cpu_room.binds)
		s->limits[LIMIT_CPU] = limit;
}

void
governor_limits_read(ThrottleReading *out, ThrottleSettings *s,
					 SensorsReading *sensors, TimestampTz now)
{
	SensorsWanted wanted = {0};

	wanted.disk = s->limits[LIMIT_IO_LATENCY] > 0 || s->limits[LIMIT_DEVICE] > 0 || s->adaptive;
	wanted.users = s->adaptive;
	wanted.wal = true;
	wanted.replicas = s->replica_lag_bytes > 0 || s->replica_lag_ms > 0;
	cpu_room.quota = s->adaptive ? control_group_quota() : HUGE_VAL;
	cpu_room.binds = false;
	wanted.cpu = s->limits[LIMIT_CPU] > 0 || isfinite(cpu_room.quota);
	wanted.ignore_standbys = sweep_ignore_standbys;
	wanted.max_lag_bytes = s->replica_lag_bytes;
	wanted.max_lag_ms = s->replica_lag_ms;
	sensors_sense(sensors, &wanted, now);
	if (isfinite(cpu_room.quota))
		apply_quota(s, &sensors->cpu, now);

	memset(out, 0, sizeof(*out));
	out->produced_rows_s = produced_rows_s(now);
	out->dead_row_bytes = DEAD_ROW_BYTES;
	out->disk = sensors->disk.state;
	out->latency_ms = sensors->disk.latency_ms;
	out->busy_pct = sensors->disk.busy_pct;
	out->users = sensors->users.state;
	out->active = sensors->users.active;
	out->waiting = sensors->users.waiting_io + sensors->users.waiting_wal;
	out->commits_s = commits_s(now);
	out->io_pressure_pct = sensors->users.io_pressure_pct;
	out->cpu_pressure_pct = sensors->users.cpu_pressure_pct;
	out->base_backups = sensors->users.base_backups;
	out->wal = sensors->wal.state;
	out->archiver_failing = sensors->wal.archiver_failing;
	out->archiver_behind_bytes = sensors->wal.archiver_behind_bytes;
	out->wal_disk_used_pct = sensors->wal.disk_used_pct;
	out->slot_left_bytes = sensors->wal.slot_left_bytes;
	out->replicas = sensors->replicas.state;
	out->lag_bytes = sensors->replicas.lag_bytes;
	out->lag_ms = sensors->replicas.lag_ms;
	out->cpu = sensors->cpu.state;
	out->cpu_pct = sensors->cpu.vacuums_pct;
}

/* ----
 * Publishing
 * ----
 */

/* The sensor that a limit is looked at by. */
static SensorState
sensor_of(const SensorsReading *sensors, BudgetLimit limit, const char **why)
{
	*why = "";
	switch (budget_limits[limit].sensor)
	{
		case LIMIT_BY_DISK:
			*why = sensors->disk.why;
			return sensors->disk.state;
		case LIMIT_BY_CPU:
			*why = sensors->cpu.why;
			return sensors->cpu.state;
		case LIMIT_BY_REPLICAS:
			*why = sensors->replicas.why;
			return sensors->replicas.state;
		case LIMIT_BY_USERS:
			*why = sensors->users.why;
			return sensors->users.state;
		case LIMIT_BY_WAL:
			*why = sensors->wal.why;
			return sensors->wal.state;
		default:
			return SENSOR_OK;
	}
}

/* What is set is shown as it is set. */
static void
describe_share(BudgetLimitState *to, BudgetLimit limit, const HostShare *share)
{
	int			others = budget_limits[limit].share == LIMIT_OF_PROCESSORS ? share->on_machine : share->on_device;
	double		part = part_of(limit, share);
	size_t		length = strlen(to->detail);

	if (part >= 1 || to->configured <= 0 || (limit == LIMIT_CPU && cpu_room.binds))
		return;
	to->configured /= part;
	snprintf(to->detail + length, sizeof(to->detail) - length, "%s%.0f %% of it, because %d other %s here",
			 length > 0 ? ". Now " : "", 100 * part, others, others == 1 ? "server vacuums" : "servers vacuum");
}

static void
describe_limit(BudgetLimitState *to, const ThrottleLimit *from, const SensorsReading *sensors,
			   BudgetLimit limit)
{
	const char *why;
	SensorState state = sensor_of(sensors, limit, &why);

	to->configured = from->configured;
	to->measured = from->measured;
	to->allowed = from->allowed;
	to->sensor = from->used ? state : SENSOR_NOT_USED;
	if (!from->used)
		return;
	if (state == SENSOR_BROKEN)
		snprintf(to->detail, sizeof(to->detail), "%s. It holds at what was allowed before", why);
	else if (state == SENSOR_ABSENT)
		strlcpy(to->detail, why, sizeof(to->detail));
	else
		strlcpy(to->detail, throttle_reason_text(from->reason), sizeof(to->detail));
	if (limit == LIMIT_CPU && cpu_room.binds)
		snprintf(to->detail, sizeof(to->detail), "what users leave of a quota of %.3g processors", cpu_room.quota);
	if (limit == LIMIT_DEVICE && state == SENSOR_OK && !sensors->disk.has_queue)
		strlcpy(to->detail, "this device serves many requests at once, so how busy it is says little. Prefer io_latency_limit",
				sizeof(to->detail));
}

void
governor_limits_publish(const ThrottleSettings *s, const ThrottleResult *result,
						const SensorsReading *sensors, const HostShare *share,
						TimestampTz now, bool binds)
{
	static Budget budget;		/* large */

	memset(&budget, 0, sizeof(budget));
	budget.at = now;
	budget.binds = binds;
	budget.adaptive = s->adaptive;
	budget.allowed = result->allowed;
	budget.binding = result->binding;
	budget.floor = result->floor;
	budget.bloat_bytes_h = result->bloat_bytes_h;
	for (int i = LIMIT_NONE + 1; i < LIMIT_COUNT; i++)
	{
		describe_limit(&budget.limits[i], &result->limits[i], sensors, i);
		describe_share(&budget.limits[i], i, share);
	}
	budget_publish(&budget);
}
