/*
 * settings.h
 *		Every setting of pg_sweep.
 */
#ifndef SWEEP_SETTINGS_H
#define SWEEP_SETTINGS_H

#include "postgres.h"

#include "exported.h"
#include "policy/budget_limit.h"

/* sweep.analyze_scope */
typedef enum AnalyzeScope
{
	ANALYZE_OFF,
	ANALYZE_PARTITIONED,
	ANALYZE_ALL
} AnalyzeScope;

typedef enum SweepMode
{
	SWEEP_OFF,
	SWEEP_OBSERVE,
	SWEEP_ACT
} SweepMode;

/* Which vacuums keep the budget besides pg_sweep's own?  Bits. */
typedef enum SweepSteered
{
	STEERED_NONE = 0,
	STEERED_MANUAL = 1,
	STEERED_AUTOVACUUM = 2
} SweepSteered;

/* Are there standbys whose queries vacuums can cancel? */
typedef enum SweepStandbys
{
	STANDBY_OFF,				/* none that matter */
	STANDBY_ON,					/* some, perhaps not to be seen */
	STANDBY_AUTO				/* if one is seen that sends no feedback */
} SweepStandbys;

/*
 * Which tables are ours?  Each scope has the tables of the one before it,
 * too.
 */
typedef enum SweepScope
{
	SCOPE_CATALOG,				/* pg_catalog and its TOAST tables */
	SCOPE_CATALOG_AUX,			/* other TOAST tables, sweep.aux_schemas */
	SCOPE_ALL
} SweepScope;

#define SWEEP_MAX_WORKERS_LIMIT		32
#define SWEEP_WORKERS_LIMIT			(SWEEP_MAX_WORKERS_LIMIT + 1)	/* one for catalogs */

#define WORK_MEM_MIN_KB				1024

extern PGDLLEXPORT int sweep_mode;	/* SweepMode */
extern char *sweep_databases;
extern char *sweep_exclude_databases;
extern PGDLLEXPORT int sweep_scope; /* SweepScope */
extern char *sweep_aux_schemas;
extern int	sweep_vacuum_threshold; /* -1, here and below: the server's */
extern double sweep_vacuum_scale_factor;
extern int	sweep_catalog_threshold;
extern double sweep_catalog_scale_factor;
extern double sweep_insert_cache_fraction;
extern PGDLLEXPORT bool sweep_checkpoint_aware;
extern bool sweep_eager_freeze;
extern PGDLLEXPORT int sweep_naptime_ms;
extern int	sweep_min_interval_s;
extern int	sweep_analyze_scope;
extern PGDLLEXPORT int sweep_max_workers;
extern int	sweep_work_mem_kb;

/* Those that are a number, in their units; 0: not limited. */
extern PGDLLEXPORT double sweep_limits[LIMIT_COUNT];
extern char *sweep_max_replica_lag;
extern char *sweep_ignore_standbys;
extern int	sweep_standby_conflicts;	/* SweepStandbys */
extern char *sweep_reclaim_rate;
extern double sweep_floor;		/* MB/s */
extern PGDLLEXPORT char *sweep_windows;
extern char *sweep_host_directory;
extern bool sweep_adaptive;
extern bool sweep_cleaner;
extern int	sweep_cleaner_naptime_s;
extern int	sweep_cleaner_scan_rate;
extern int	sweep_steer;		/* of SweepSteered */
extern bool sweep_process_title;
extern int	sweep_max_runs;
extern int	sweep_max_decisions;
extern int	sweep_history_days;
extern PGDLLEXPORT int sweep_debug_clock_rate;
extern int	sweep_debug_linger_s;	/* how long a worker waits for more work */
extern int	sweep_debug_clock_offset_s;
extern char *sweep_debug_sensor_root;

extern void settings_define(void);
extern const char *settings_mode_name(int mode);

/* -1: there is none of that name. */
extern PGDLLEXPORT int settings_mode_by_name(const char *name);
extern PGDLLEXPORT int settings_scope_by_name(const char *name);

typedef enum DatabaseScope
{
	DATABASE_OURS,
	DATABASE_NOT_LISTED,		/* in sweep.databases */
	DATABASE_EXCLUDED			/* by sweep.exclude_databases */
} DatabaseScope;

extern PGDLLEXPORT DatabaseScope settings_database_scope(const char *datname);

/* Is it in sweep.aux_schemas? */
extern bool settings_schema_is_aux(const char *nspname);

#endif							/* SWEEP_SETTINGS_H */
