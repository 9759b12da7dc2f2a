/*
 * settings.c
 *		Every setting of pg_sweep (prefix sweep.).
 *
 * All are PGC_SIGHUP or PGC_POSTMASTER, so neither a role nor the owner of a
 * database can change what pg_sweep does there.  docs/settings.md says for
 * each what happens when it is too low and too high.
 */
#include "settings.h"

#include <limits.h>

#include "utils/guc.h"
#include "utils/varlena.h"

#include "policy/limit_text.h"
#include "policy/windows.h"

int			sweep_mode = SWEEP_OBSERVE;
char	   *sweep_databases = NULL;
char	   *sweep_exclude_databases = NULL;
int			sweep_scope = SCOPE_ALL;
char	   *sweep_aux_schemas = NULL;
int			sweep_vacuum_threshold = -1;
double		sweep_vacuum_scale_factor = -1;
int			sweep_catalog_threshold = 500;
double		sweep_catalog_scale_factor = 0.05;
double		sweep_insert_cache_fraction = 0.25;
bool		sweep_checkpoint_aware = true;
bool		sweep_eager_freeze = true;
int			sweep_naptime_ms = 1000;
int			sweep_min_interval_s = -1;
int			sweep_analyze_scope = ANALYZE_ALL;
int			sweep_max_workers = 2;
int			sweep_work_mem_kb = -1;
char	   *sweep_max_replica_lag = NULL;
char	   *sweep_ignore_standbys = NULL;
int			sweep_standby_conflicts = STANDBY_AUTO;
char	   *sweep_reclaim_rate = NULL;
double		sweep_limits[LIMIT_COUNT];
double		sweep_floor = 2;
char	   *sweep_windows = NULL;
char	   *sweep_host_directory = NULL;
bool		sweep_adaptive = true;
bool		sweep_cleaner = false;
int			sweep_cleaner_naptime_s = 60;
int			sweep_cleaner_scan_rate = 100000;
int			sweep_steer = STEERED_NONE;
bool		sweep_process_title = false;
int			sweep_max_runs = 2000;
int			sweep_max_decisions = 8192;
int			sweep_history_days = 30;
int			sweep_debug_clock_rate = 1;
int			sweep_debug_linger_s = 3;
int			sweep_debug_clock_offset_s = 0;
char	   *sweep_debug_sensor_root = NULL;

static const struct config_enum_entry steer_options[] = {
	{"none", STEERED_NONE, false},
	{"manual", STEERED_MANUAL, false},
	{"autovacuum", STEERED_AUTOVACUUM, false},
	{"all", STEERED_MANUAL | STEERED_AUTOVACUUM, false},
	{NULL, 0, false}
};

static const struct config_enum_entry mode_options[] = {
	{"off", SWEEP_OFF, false},
	{"observe", SWEEP_OBSERVE, false},
	{"act", SWEEP_ACT, false},
	{NULL, 0, false}
};

static const struct config_enum_entry analyze_options[] = {
	{"off", ANALYZE_OFF, false},
	{"partitioned", ANALYZE_PARTITIONED, false},
	{"all", ANALYZE_ALL, false},
	{NULL, 0, false}
};

static const struct config_enum_entry scope_options[] = {
	{"catalog", SCOPE_CATALOG, false},
	{"catalog_aux", SCOPE_CATALOG_AUX, false},
	{"all", SCOPE_ALL, false},
	{NULL, 0, false}
};

static const struct config_enum_entry standby_options[] = {
	{"auto", STANDBY_AUTO, false},
	{"on", STANDBY_ON, false},
	{"off", STANDBY_OFF, false},
	{"true", STANDBY_ON, true},
	{"false", STANDBY_OFF, true},
	{"yes", STANDBY_ON, true},
	{"no", STANDBY_OFF, true},
	{"1", STANDBY_ON, true},
	{"0", STANDBY_OFF, true},
	{NULL, 0, false}
};

/* These engines keep metadata in tables of their own. */
#define AUX_SCHEMAS \
	"columnar, columnar_internal, _timescaledb_catalog, pg_aoseg, cron, partman"

/*
 * Walks a comma-separated list of names as SplitIdentifierString() does, but
 * without its down-casing.  So a name is quoted only when it holds a comma, a
 * quote or outer space.  Calls visit for each name, and stops when that
 * returns true.  Returns false if the list is malformed.
 */
static bool
list_walk(const char *list, bool (*visit) (const char *name, void *arg), void *arg,
		  bool *found)
{
	char		name[NAMEDATALEN];
	const char *p = list;

	*found = false;
	while (isspace((unsigned char) *p))
		p++;
	if (*p == '\0')
		return true;

	for (;;)
	{
		int			length = 0;
		bool		quoted = false;

		while (isspace((unsigned char) *p))
			p++;
		if (*p == '"')
		{
			quoted = true;
			p++;
			for (;;)
			{
				if (*p == '\0')
					return false;
				if (*p == '"' && *++p != '"')
					break;
				if (length >= NAMEDATALEN - 1)
					return false;
				name[length++] = *p++;
			}
		}
		else
		{
			while (*p != '\0' && *p != ',')
			{
				if (*p == '"' || length >= NAMEDATALEN - 1)
					return false;
				name[length++] = *p++;
			}
			while (length > 0 && isspace((unsigned char) name[length - 1]))
				length--;
		}
		if (length == 0)
			return false;
		name[length] = '\0';

		while (isspace((unsigned char) *p))
			p++;
		if (*p != '\0' && *p != ',')
			return false;

		/* an unquoted * stands for all */
		if ((!quoted && strcmp(name, "*") == 0) || (visit && visit(name, arg)))
			*found = true;

		if (*p == '\0')
			return true;
		p++;
	}
}

static bool
same_name(const char *name, void *arg)
{
	return strcmp(name, (const char *) arg) == 0;
}

static bool
list_check(char **newval, void **extra, GucSource source)
{
	bool		found;

	if (*newval == NULL || list_walk(*newval, NULL, NULL, &found))
		return true;

	GUC_check_errdetail("List syntax is invalid.");
	GUC_check_errhint("Give names separated by commas, in double quotes where a name holds a comma, a quote or outer spaces, or * for all.");
	return false;
}

/* As in core, less than the least maintenance_work_mem counts as that. */
static bool
work_mem_check(int *newval, void **extra, GucSource source)
{
	if (*newval != -1 && *newval < WORK_MEM_MIN_KB)
		*newval = WORK_MEM_MIN_KB;
	return true;
}

/* Says what policy/limit_text found wrong, and where. */
static bool
refuse(const char *text, const LimitError *error)
{
	GUC_check_errdetail("At \"%s\": %s.", text + error->position, error->what);
	return false;
}

static bool
replica_lag_check(char **newval, void **extra, GucSource source)
{
	LimitError	error;
	double		bytes;
	double		ms;

	return *newval == NULL || limit_parse_lag(*newval, &bytes, &ms, &error) ||
		refuse(*newval, &error);
}

static bool
reclaim_rate_check(char **newval, void **extra, GucSource source)
{
	LimitError	error;
	bool		automatic;
	double		rows_s;

	return *newval == NULL || limit_parse_reclaim(*newval, &automatic, &rows_s, &error) ||
		refuse(*newval, &error);
}

static bool
windows_check(char **newval, void **extra, GucSource source)
{
	LimitError	error;
	Windows		windows;

	return *newval == NULL || windows_parse(*newval, &windows, &error) ||
		refuse(*newval, &error);
}

static bool
host_directory_check(char **newval, void **extra, GucSource source)
{
	if (*newval == NULL || (*newval)[0] == '\0' || is_absolute_path(*newval))
		return true;
	GUC_check_errdetail("It must be an absolute path, or empty.");
	return false;
}

DatabaseScope
settings_database_scope(const char *datname)
{
	bool		found;

	if (sweep_databases == NULL ||
		!list_walk(sweep_databases, same_name, unconstify(char *, datname), &found) || !found)
		return DATABASE_NOT_LISTED;
	if (sweep_exclude_databases != NULL &&
		list_walk(sweep_exclude_databases, same_name, unconstify(char *, datname), &found) && found)
		return DATABASE_EXCLUDED;
	return DATABASE_OURS;
}

bool
settings_schema_is_aux(const char *nspname)
{
	bool		found = false;

	return sweep_aux_schemas != NULL &&
		list_walk(sweep_aux_schemas, same_name, unconstify(char *, nspname), &found) && found;
}

const char *
settings_mode_name(int mode)
{
	return mode_options[mode].name;
}

static int
option_by_name(const struct config_enum_entry *options, const char *name)
{
	for (; options->name != NULL; options++)
	{
		if (pg_strcasecmp(options->name, name) == 0)
			return options->val;
	}
	return -1;
}

int
settings_mode_by_name(const char *name)
{
	return option_by_name(mode_options, name);
}

int
settings_scope_by_name(const char *name)
{
	return option_by_name(scope_options, name);
}

static void
define_what_is_done(void)
{
	DefineCustomEnumVariable("sweep.mode",
							 "Sets whether pg_sweep does nothing, only decides, or vacuums.",
							 "\"off\" also stops the metering of vacuums.",
							 &sweep_mode, SWEEP_OBSERVE, mode_options,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("sweep.databases",
							   "Sets the databases whose tables pg_sweep looks after.",
							   "A comma-separated list of names, or * for all.",
							   &sweep_databases, "*",
							   PGC_SIGHUP, 0, list_check, NULL, NULL);
	DefineCustomStringVariable("sweep.exclude_databases",
							   "Sets the databases that pg_sweep leaves alone.",
							   "A comma-separated list of names.  It wins over sweep.databases.",
							   &sweep_exclude_databases, "",
							   PGC_SIGHUP, 0, list_check, NULL, NULL);
	DefineCustomEnumVariable("sweep.analyze_scope",
							 "Sets which tables are analyzed when enough of their rows have changed.",
							 "\"partitioned\" are those that autovacuum leaves out.  \"all\" are also those that it does not come to.",
							 &sweep_analyze_scope, ANALYZE_ALL, analyze_options,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("sweep.scope",
							 "Sets whether pg_sweep looks after system catalogs only, auxiliary tables as well, or all.",
							 "Auxiliary are TOAST tables and those in the schemas of sweep.aux_schemas.",
							 &sweep_scope, SCOPE_ALL, scope_options,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("sweep.aux_schemas",
							   "Sets the schemas whose tables count as auxiliary, see sweep.scope.",
							   "A comma-separated list of names, or * for all.",
							   &sweep_aux_schemas, AUX_SCHEMAS,
							   PGC_SIGHUP, 0, list_check, NULL, NULL);
}

static void
define_thresholds(void)
{
	DefineCustomIntVariable("sweep.vacuum_threshold",
							"Sets the number of dead rows before a vacuum.",
							"-1 takes autovacuum_vacuum_threshold.  A table's own value wins.",
							&sweep_vacuum_threshold, -1, -1, INT_MAX,
							PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomRealVariable("sweep.vacuum_scale_factor",
							 "Sets the number of dead rows before a vacuum as a fraction of the table.",
							 "-1 takes autovacuum_vacuum_scale_factor.  A table's own value wins.",
							 &sweep_vacuum_scale_factor, -1, -1, 100,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("sweep.catalog_threshold",
							"Sets the number of dead rows before a vacuum of a system catalog.",
							NULL,
							&sweep_catalog_threshold, 500, 0, INT_MAX,
							PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomRealVariable("sweep.catalog_scale_factor",
							 "Sets the number of dead rows before a vacuum of a system catalog as a fraction of it.",
							 NULL,
							 &sweep_catalog_scale_factor, 0.05, 0, 100,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
}

static void
define_insert_rules(void)
{
	DefineCustomRealVariable("sweep.insert_cache_fraction",
							 "Sets the fraction of shared_buffers that new pages may fill before a vacuum.",
							 "So that it finds them in memory.  0 switches that off.",
							 &sweep_insert_cache_fraction, 0.25, 0, 1,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("sweep.checkpoint_aware",
							 "Vacuums a table with new rows shortly before a checkpoint.",
							 "Afterwards each of its pages would be logged in full once more.",
							 &sweep_checkpoint_aware, true,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("sweep.eager_freeze",
							 "Freezes all that it can in tables that rows are only inserted into.",
							 NULL,
							 &sweep_eager_freeze, true,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
}

static void
define_when_it_is_done(void)
{
	DefineCustomIntVariable("sweep.naptime",
							"Sets the time between two looks at the statistics of all databases.",
							NULL,
							&sweep_naptime_ms, 1000, 100, 3600 * 1000,
							PGC_SIGHUP, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("sweep.min_interval",
							"Sets the shortest time between two vacuums of the same table.",
							"Every vacuum makes all sessions load the table's description again.  -1 is 60 seconds, or less after a vacuum that was short.",
							&sweep_min_interval_s, -1, -1, 24 * 3600,
							PGC_SIGHUP, GUC_UNIT_S, NULL, NULL, NULL);
	DefineCustomEnumVariable("sweep.standby_conflicts",
							 "Sets whether vacuums keep to the times of the server's own daemon because they cancel queries of standbys.",
							 "\"auto\" does so while a standby is connected that sends no feedback.  Standbys that are fed by another standby or by an archive cannot be seen.",
							 &sweep_standby_conflicts, STANDBY_AUTO, standby_options,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("sweep.max_workers",
							"Sets the maximum number of vacuums that pg_sweep runs at a time.",
							"They count against max_worker_processes, with two more for the launcher and the governor.",
							&sweep_max_workers, 2, 0, SWEEP_MAX_WORKERS_LIMIT,
							PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("sweep.work_mem",
							"Sets the memory that each vacuum by pg_sweep may use for dead rows.",
							"-1 takes autovacuum_work_mem, and if that is -1 maintenance_work_mem.",
							&sweep_work_mem_kb, -1, -1, MAX_KILOBYTES,
							PGC_SIGHUP, GUC_UNIT_KB, work_mem_check, NULL, NULL);
}

static void
define_cleaner(void)
{
	DefineCustomBoolVariable("sweep.cleaner",
							 "Lets pg_sweep remove sparse dead rows one by one, with their index entries.",
							 "Workers then load the library pg_sweep_cleaner, which changes pages.",
							 &sweep_cleaner, false,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("sweep.cleaner_naptime",
							"Sets the shortest time between two looks at how much garbage a table has for the cleaner.",
							NULL,
							&sweep_cleaner_naptime_s, 60, 1, 24 * 3600,
							PGC_SIGHUP, GUC_UNIT_S, NULL, NULL, NULL);
	DefineCustomIntVariable("sweep.cleaner_scan_rate",
							"Sets the number of shared buffers per second that are looked at for pages to clean in memory.",
							"Rows are removed there whose removal takes no I/O.  0 cleans only what sweep.clean() asks for.",
							&sweep_cleaner_scan_rate, 100000, 0, INT_MAX,
							PGC_SIGHUP, 0, NULL, NULL, NULL);
}

/* guc.c has no unit for a rate in MB/s. */
static void
define_limit(BudgetLimit limit)
{
	const LimitRow *row = &budget_limits[limit];

	DefineCustomRealVariable(row->setting, row->description,
							 row->sensor == LIMIT_BY_VACUUMS ?
							 "In MB/s, for all vacuums together that pg_sweep paces.  0 does not limit it." :
							 "0 does not limit it.",
							 &sweep_limits[limit], row->initial, 0, row->max,
							 PGC_SIGHUP, strcmp(row->unit, "ms") == 0 ? GUC_UNIT_MS : 0, NULL, NULL, NULL);
}

static void
define_budget(void)
{
	for (int i = LIMIT_NONE + 1; i < LIMIT_COUNT; i++)
	{
		if (budget_limits[i].description != NULL)
			define_limit(i);
	}
	DefineCustomStringVariable("sweep.max_replica_lag",
							   "Sets how far standbys may be behind before vacuums yield.",
							   "An amount of WAL (\"100MB\") or a time (\"5s\").  Empty does not limit it.",
							   &sweep_max_replica_lag, "",
							   PGC_SIGHUP, 0, replica_lag_check, NULL, NULL);
	DefineCustomStringVariable("sweep.ignore_standbys",
							   "Sets the standbys that sweep.max_replica_lag leaves out.",
							   "A comma-separated list of their application_name, or * for all.",
							   &sweep_ignore_standbys, "",
							   PGC_SIGHUP, 0, list_check, NULL, NULL);
}

static void
define_pacing(void)
{
	DefineCustomStringVariable("sweep.reclaim_rate",
							   "Sets the dead rows per second that vacuums must keep up with, whoever waits.",
							   "A number, or \"auto\" for as many as users make.  Empty means none.",
							   &sweep_reclaim_rate, "",
							   PGC_SIGHUP, 0, reclaim_rate_check, NULL, NULL);
	DefineCustomRealVariable("sweep.floor",
							 "Sets the rate that vacuums yield down to, and not further.",
							 "In MB/s of pages read and dirtied and WAL.",
							 &sweep_floor, 2, 0.1, 1000000,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("sweep.windows",
							   "Sets other limits at other hours.",
							   "As \"08:00-20:00 write_limit=20, else write_limit=150\", in the server's time zone.",
							   &sweep_windows, "",
							   PGC_SIGHUP, 0, windows_check, NULL, NULL);
	DefineCustomStringVariable("sweep.host_directory",
							   "Sets the directory in which the servers of one machine find each other, to share limits.",
							   "Servers on one device divide the limits while they vacuum.  If it is empty, or there is no such directory, this server has them for itself.",
							   &sweep_host_directory, "/run/pg_sweep",
							   PGC_SIGHUP, 0, host_directory_check, NULL, NULL);
	DefineCustomBoolVariable("sweep.adaptive",
							 "Has pg_sweep's own vacuums yield to users who wait for I/O or WAL.",
							 "Off: autovacuum_vacuum_cost_limit and _delay apply.",
							 &sweep_adaptive, true,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("sweep.steer",
							 "Sets which vacuums keep the budget besides pg_sweep's own.",
							 "Autovacuum's workers can be steered from PostgreSQL 17 on.",
							 &sweep_steer, STEERED_NONE, steer_options,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
}

static void
define_what_is_shown(void)
{
	DefineCustomBoolVariable("sweep.process_title",
							 "Shows hits, misses and dirtied pages of a running vacuum in its process title.",
							 NULL,
							 &sweep_process_title, false,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("sweep.max_runs",
							"Sets the number of finished vacuums that are remembered.",
							"As many again are kept as the last ones of their tables, and sums of twice as many tables and hours.  About 1,400 bytes of shared memory each.",
							&sweep_max_runs, 2000, 100, 1000000,
							PGC_POSTMASTER, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("sweep.max_decisions",
							"Sets the number of tables about which a decision is remembered.",
							"About 400 bytes of shared memory each.",
							&sweep_max_decisions, 8192, 1024, 10000000,
							PGC_POSTMASTER, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("sweep.history_days",
							"Sets the number of days for which hourly sums are kept in a file.",
							"They are those of sweep.history and sweep.activity.",
							&sweep_history_days, 30, 1, 400,
							PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("sweep.debug_clock_rate",
							"Divides every interval of pg_sweep, for tests.",
							NULL,
							&sweep_debug_clock_rate, 1, 1, 100000,
							PGC_POSTMASTER, GUC_NOT_IN_SAMPLE | GUC_NO_SHOW_ALL, NULL, NULL, NULL);
	DefineCustomIntVariable("sweep.debug_linger",
							"Sets how long a worker waits for more work before it leaves its database, for tests.",
							NULL,
							&sweep_debug_linger_s, 3, 0, 3600,
							PGC_SIGHUP, GUC_UNIT_S | GUC_NOT_IN_SAMPLE | GUC_NO_SHOW_ALL, NULL, NULL, NULL);
	DefineCustomIntVariable("sweep.debug_clock_offset",
							"Sets the clock of pg_sweep forward or back, for tests.",
							NULL,
							&sweep_debug_clock_offset_s, 0, INT_MIN, INT_MAX,
							PGC_SIGHUP, GUC_UNIT_S | GUC_NOT_IN_SAMPLE | GUC_NO_SHOW_ALL, NULL, NULL, NULL);
	DefineCustomStringVariable("sweep.debug_sensor_root",
							   "Sets the directory in which the files of /proc and /sys are looked for, for tests.",
							   NULL,
							   &sweep_debug_sensor_root, "",
							   PGC_POSTMASTER, GUC_SUPERUSER_ONLY | GUC_NOT_IN_SAMPLE | GUC_NO_SHOW_ALL, NULL, NULL, NULL);
}

void
settings_define(void)
{
	define_what_is_done();
	define_thresholds();
	define_insert_rules();
	define_when_it_is_done();
	define_cleaner();
	define_budget();
	define_pacing();
	define_what_is_shown();
	MarkGUCPrefixReserved("sweep");
}
