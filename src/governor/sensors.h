/*
 * sensors.h
 *		What the governor measures.
 *
 * The governor senses, and sweep.sensors() does the same in a session of its
 * own.  A process keeps what it saw in the step before.  A sensor raises no
 * error, takes a bounded time and keeps nothing that it allocates.  A change
 * of state is told once in the log.
 */
#ifndef SWEEP_SENSORS_H
#define SWEEP_SENSORS_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "policy/sensor_state.h"

/*
 * /proc/diskstats deltas of the device of the data directory.  Busy and latency
 * are of the device that is worst, which may hold pg_wal or a tablespace.
 */
typedef struct DiskReading
{
	SensorState state;
	double		busy_pct;
	double		latency_ms;
	double		queue;
	double		read_bytes_s;
	double		write_bytes_s;
	bool		has_queue;
	double		read_ahead_kb;	/* negative: unknown */
	char		device[32];
	char		busiest[32];
	char		slowest[32];
	char		why[128];
} DiskReading;

/* averages of client backends over the sub-samples since the last step */
typedef struct UsersReading
{
	SensorState state;
	double		active;
	double		waiting_io;
	double		waiting_wal;
	double		waiting_lwlock;
	int			base_backups;
	double		io_pressure_pct;	/* negative: unknown, and why */
	double		cpu_pressure_pct;
	char		io_why[128];
	char		cpu_why[128];
	char		why[128];
} UsersReading;

typedef struct WalReading
{
	SensorState state;
	double		wal_bytes_s;
	bool		archiver_failing;
	double		archiver_behind_bytes;
	double		disk_used_pct;
	double		slot_left_bytes;	/* least of max_slot_wal_keep_size that is
									 * left to a slot, or -1: none */
	char		slot[64];
	char		why[128];
} WalReading;

typedef struct ReplicaReading
{
	SensorState state;
	double		lag_bytes;
	double		lag_ms;
	char		standby[64];
	int			standbys;
	int			ignored;
	char		why[128];
} ReplicaReading;

/* /proc/PID/stat of the vacuums that are paced */
typedef struct CpuReading
{
	SensorState state;
	double		vacuums_pct;
	char		why[128];
} CpuReading;

/* A difference to a step longer ago than this says nothing about now. */
#define SENSOR_STALE_MS		10000.0

typedef struct SensorsReading
{
	DiskReading disk;
	UsersReading users;
	WalReading	wal;
	ReplicaReading replicas;
	CpuReading	cpu;
} SensorsReading;

/* What is needed this time.  All else is SENSOR_NOT_USED. */
typedef struct SensorsWanted
{
	bool		disk;
	bool		users;
	bool		wal;
	bool		replicas;
	bool		cpu;
	const char *ignore_standbys;	/* names, separated by commas, or NULL */
	double		max_lag_bytes;	/* the limit that is set, or 0: none */
	double		max_lag_ms;
} SensorsWanted;

/* Takes one step.  A difference is always one to the step before. */
extern void sensors_sense(SensorsReading *out, const SensorsWanted *wanted, TimestampTz now);

/* Between the steps, every 10 ms while vacuums run. */
extern void sensor_users_sample(void);

/* How many wait for I/O or WAL, on average of the samples since the last reading. */
extern double sensor_users_waiting(void);

extern const char *sensors_state_name(SensorState state);

/*
 * Says, for people, why there are no numbers.  The text is empty when there
 * are.  Returns text.
 */
extern const char *sensors_why_not(SensorState state, const char *why, char *text, size_t size);

/* The log is told of changes of state.  This is off in sessions. */
extern bool sensors_tell;

/* ---- the sensors themselves ---- */

extern void sensor_disk_read(DiskReading *out, TimestampTz now);

/* Which disk is it, by its numbers, or the file system's where it is on none? */
extern bool sensor_disk_identify(unsigned *major_number, unsigned *minor_number);
extern void sensor_users_read(UsersReading *out, TimestampTz now);
extern void sensor_wal_read(WalReading *out, TimestampTz now);
extern void sensor_replicas_read(ReplicaReading *out, const SensorsWanted *wanted, TimestampTz now);
extern void sensor_cpu_read(CpuReading *out, TimestampTz now);

#define SENSOR_WHY_LEN		128

#endif							/* SWEEP_SENSORS_H */
