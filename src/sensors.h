/*
 * sensors.h
 *		What the governor measures.
 *
 * Each is sensed by the governor only, never raises an error, takes a bounded
 * time and allocates nothing after its start.  A change of state is told once
 * in the log.
 */
#ifndef SWEEP_SENSORS_H
#define SWEEP_SENSORS_H

#include "postgres.h"

typedef enum SensorState
{
	SENSOR_NOT_USED,
	SENSOR_OK,
	SENSOR_ABSENT,				/* this system has none */
	SENSOR_BROKEN
} SensorState;

/* /proc/diskstats deltas of the device of the data directory */
typedef struct DiskReading
{
	SensorState state;
	double		busy_pct;
	double		latency_ms;
	double		queue;
	double		read_bytes_s;
	double		write_bytes_s;
	bool		has_queue;
	char		device[32];
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
	double		psi_some_pct;
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
									 * left to a slot; -1: none */
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

#endif							/* SWEEP_SENSORS_H */
