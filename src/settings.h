/*
 * settings.h
 *		Every setting of pg_sweep.
 */
#ifndef SWEEP_SETTINGS_H
#define SWEEP_SETTINGS_H

#include "postgres.h"

typedef enum SweepMode
{
	SWEEP_OFF,
	SWEEP_OBSERVE,
	SWEEP_ACT
} SweepMode;

#define SWEEP_WORKERS_LIMIT			32

#define METER_INTERVAL_MIN_MS		100
#define METER_INTERVAL_MAX_MS		10000

extern int	sweep_mode;			/* SweepMode */
extern char *sweep_databases;
extern char *sweep_exclude_databases;
extern int	sweep_naptime_ms;
extern int	sweep_min_interval_s;
extern int	sweep_catalog_min_interval_s;
extern int	sweep_max_workers;
extern int	sweep_linger_s;
extern int	sweep_meter_interval_ms;
extern bool sweep_process_title;
extern int	sweep_log_min_duration_ms;
extern int	sweep_max_runs;
extern int	sweep_max_decisions;
extern int	sweep_debug_clock_rate;

extern void settings_define(void);
extern const char *settings_mode_name(int mode);

typedef enum DatabaseScope
{
	DATABASE_OURS,
	DATABASE_NOT_LISTED,		/* in sweep.databases */
	DATABASE_EXCLUDED			/* by sweep.exclude_databases */
} DatabaseScope;

extern DatabaseScope settings_database_scope(const char *datname);

#endif							/* SWEEP_SETTINGS_H */
