/*
 * sense.h
 *		Sensing: fills what sensors.h describes.
 *
 * For the governor; sweep.sensors() does the same in a session of its own.
 * A process keeps what it saw in the step before.
 */
#ifndef SWEEP_SENSE_H
#define SWEEP_SENSE_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "sensors.h"

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

/* What is needed this time; the rest is SENSOR_NOT_USED. */
typedef struct SensorsWanted
{
	bool		disk;
	bool		users;
	bool		wal;
	bool		replicas;
	bool		cpu;
	const char *ignore_standbys;	/* names, separated by commas; may be NULL */
	double		max_lag_bytes;	/* the limit that is set; 0: none */
	double		max_lag_ms;
} SensorsWanted;

/* One step; whatever is a difference is one to the step before. */
extern void sensors_sense(SensorsReading *out, const SensorsWanted *wanted, TimestampTz now);

/* Between the steps, every 10 ms while vacuums run. */
extern void sensor_users_sample(void);

/* How many wait for I/O or WAL, on average of the samples since the last reading. */
extern double sensor_users_waiting(void);

extern const char *sensors_state_name(SensorState state);

/* Why there are no numbers, for people; empty when there are.  Returns text. */
extern const char *sensors_why_not(SensorState state, const char *why, char *text, size_t size);

/* The log is told of changes of state; off in sessions. */
extern bool sensors_tell;

/* ---- the sensors themselves ---- */

extern void sensor_disk_read(DiskReading *out, TimestampTz now);
extern void sensor_users_read(UsersReading *out, TimestampTz now);
extern void sensor_wal_read(WalReading *out, TimestampTz now);
extern void sensor_replicas_read(ReplicaReading *out, const SensorsWanted *wanted, TimestampTz now);
extern void sensor_cpu_read(CpuReading *out, TimestampTz now);

#define SENSOR_WHY_LEN		128

/*
 * The path below the directory that the environment variable
 * PG_SWEEP_SENSOR_ROOT names: tests of the whole server put files there.  It is
 * the postmaster's, so only who starts the server can set it.  real has
 * MAXPGPATH bytes; returned.
 */
extern const char *sensor_path(const char *path, char *real);

/*
 * The beginning of a small file of /proc or /sys, with a null byte at its end; negative, and
 * errno, when it cannot be read.
 */
extern int	sensor_read_file(const char *path, char *buffer, size_t size);

#endif							/* SWEEP_SENSE_H */
