/*
 * simulated_settings.c
 *		The settings that a simulation goes by: those in force, and others
 *		instead of some of them.
 *
 * Runs in any backend.  A value is checked by the server itself, by
 * set_config_option() with the request not to change anything.  So ranges,
 * units and the messages about them are those of the settings.
 */
#include "simulated_settings.h"

#include "catalog/pg_type.h"
#include "commands/vacuum.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "postmaster/bgwriter.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "server/compat.h"
#include "settings.h"

typedef enum SettingType
{
	SETTING_INT,
	SETTING_REAL,
	SETTING_BOOL,
	SETTING_TEXT,
	SETTING_MODE,
	SETTING_SCOPE,
	SETTING_MAX_THRESHOLD		/* an int that is kept as a double */
} SettingType;

#define FIELD(field)	offsetof(SimulatedSettings, field)

/* What can be simulated, in the order in which it is listed. */
static const struct
{
	const char *name;
	SettingType type;
	int			unit;			/* GUC_UNIT_* */
	Size		field;
}			known[] = {
	{"autovacuum_vacuum_threshold", SETTING_INT, 0, FIELD(rules.autovacuum_threshold)},
	{"autovacuum_vacuum_scale_factor", SETTING_REAL, 0, FIELD(rules.autovacuum_scale_factor)},
	{"autovacuum_vacuum_max_threshold", SETTING_MAX_THRESHOLD, 0, FIELD(rules.autovacuum_max_threshold)},
	{"autovacuum_vacuum_insert_threshold", SETTING_INT, 0, FIELD(rules.autovacuum_insert_threshold)},
	{"autovacuum_vacuum_insert_scale_factor", SETTING_REAL, 0, FIELD(rules.autovacuum_insert_scale_factor)},
	{"autovacuum_naptime", SETTING_INT, GUC_UNIT_S, FIELD(rules.autovacuum_naptime_s)},
	{"autovacuum_max_workers", SETTING_INT, 0, FIELD(autovacuum_max_workers)},
	{"autovacuum_freeze_max_age", SETTING_INT, 0, FIELD(freeze_max_age)},
	{"autovacuum", SETTING_BOOL, 0, FIELD(autovacuum)},
	{"checkpoint_timeout", SETTING_INT, GUC_UNIT_S, FIELD(checkpoint_timeout_s)},
	{"sweep.mode", SETTING_MODE, 0, FIELD(mode)},
	{"sweep.scope", SETTING_SCOPE, 0, FIELD(scope)},
	{"sweep.vacuum_threshold", SETTING_INT, 0, FIELD(rules.vacuum_threshold)},
	{"sweep.vacuum_scale_factor", SETTING_REAL, 0, FIELD(rules.vacuum_scale_factor)},
	{"sweep.insert_cache_fraction", SETTING_REAL, 0, FIELD(rules.insert_cache_fraction)},
	{"sweep.checkpoint_aware", SETTING_BOOL, 0, FIELD(checkpoint_aware)},
	{"sweep.catalog_threshold", SETTING_INT, 0, FIELD(rules.catalog_threshold)},
	{"sweep.catalog_scale_factor", SETTING_REAL, 0, FIELD(rules.catalog_scale_factor)},
	{"sweep.naptime", SETTING_INT, GUC_UNIT_MS, FIELD(naptime_ms)},
	{"sweep.min_interval", SETTING_INT, GUC_UNIT_S, FIELD(rules.min_interval_s)},
	{"sweep.max_workers", SETTING_INT, 0, FIELD(max_workers)},
	{"sweep.read_limit", SETTING_REAL, 0, FIELD(read_limit)},
	{"sweep.write_limit", SETTING_REAL, 0, FIELD(write_limit)},
	{"sweep.windows", SETTING_TEXT, 0, FIELD(windows_text)},
};

static SimulatedSettings
settings_in_force(void)
{
	SimulatedSettings s = {
		.rules = rules_settings(),
		.mode = sweep_mode,
		.scope = sweep_scope,
		.autovacuum = autovacuum_start_daemon,
		.checkpoint_aware = sweep_checkpoint_aware,
		.naptime_ms = sweep_naptime_ms,
		.max_workers = sweep_max_workers,
		.autovacuum_max_workers = autovacuum_max_workers,
		.freeze_max_age = autovacuum_freeze_max_age,
		.checkpoint_timeout_s = CheckPointTimeout,
		.read_limit = sweep_limits[LIMIT_READ],
		.write_limit = sweep_limits[LIMIT_WRITE],
		.windows_text = sweep_windows,
	};

	return s;
}

static char *
all_names(void)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < lengthof(known); i++)
		appendStringInfo(&names, "%s%s", i > 0 ? ", " : "", known[i].name);
	return names.data;
}

/*
 * The server has checked the value already, so none of these fails.
 */
static void
take(SimulatedSettings *s, int n, const char *value)
{
	void	   *field = (char *) s + known[n].field;
	int			number = 0;

	switch (known[n].type)
	{
		case SETTING_INT:
			(void) parse_int(value, field, known[n].unit, NULL);
			break;
		case SETTING_REAL:
			(void) parse_real(value, field, known[n].unit, NULL);
			break;
		case SETTING_BOOL:
			(void) parse_bool(value, field);
			break;
		case SETTING_MAX_THRESHOLD:
			(void) parse_int(value, &number, 0, NULL);
			*(double *) field = number;
			break;
		case SETTING_TEXT:
			*(const char **) field = value;
			break;
		case SETTING_MODE:
			*(int *) field = settings_mode_by_name(value);
			break;
		case SETTING_SCOPE:
			*(int *) field = settings_scope_by_name(value);
			break;
	}
}

/* Takes "name=value". */
static void
take_text(SimulatedSettings *s, char *text)
{
	char	   *value = strchr(text, '=');
	char	   *end;

	if (value == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid setting to simulate: \"%s\"", text),
				 errhint("Write it as name=value, for example autovacuum_vacuum_scale_factor=0.05.")));
	for (end = value; end > text && isspace((unsigned char) end[-1]); end--)
		 /* blanks before the = */ ;
	*end = '\0';
	while (isspace((unsigned char) *text))
		text++;
	for (value++; isspace((unsigned char) *value); value++)
		 /* and behind it */ ;

	for (int i = 0; i < lengthof(known); i++)
	{
		if (pg_strcasecmp(text, known[i].name) != 0)
			continue;
		(void) set_config_option(known[i].name, value, PGC_POSTMASTER, PGC_S_FILE,
								 GUC_ACTION_SET, false, ERROR, false);
		take(s, i, value);
		return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("setting \"%s\" cannot be simulated", text),
			 errhint("These can: %s.", all_names())));
}

SimulatedSettings
simulated_settings(ArrayType *settings)
{
	SimulatedSettings s = settings_in_force();
	LimitError	error;
	Datum	   *values;
	bool	   *nulls;
	int			count;

	deconstruct_array(settings, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("a setting to simulate must not be null")));
		take_text(&s, TextDatumGetCString(values[i]));
	}
	s.rules.autovacuum = s.autovacuum && pgstat_track_counts;
	if (s.windows_text == NULL || !windows_parse(s.windows_text, &s.windows, &error))
		memset(&s.windows, 0, sizeof(s.windows));
	return s;
}
