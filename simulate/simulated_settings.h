/*
 * simulated_settings.h
 *		The settings that a simulation goes by: those in force, and others
 *		instead of some of them.
 */
#ifndef SWEEP_SIMULATED_SETTINGS_H
#define SWEEP_SIMULATED_SETTINGS_H

#include "postgres.h"

#include "utils/array.h"

#include "policy/windows.h"
#include "rules.h"

typedef struct SimulatedSettings
{
	RuleSettings rules;
	int			mode;			/* SweepMode */
	int			scope;			/* SweepScope */
	bool		autovacuum;		/* the setting, without track_counts */
	bool		checkpoint_aware;
	int			naptime_ms;
	int			max_workers;
	int			autovacuum_max_workers;
	int			freeze_max_age;
	int			checkpoint_timeout_s;
	double		read_limit;		/* MB/s */
	double		write_limit;
	const char *windows_text;
	Windows		windows;
} SimulatedSettings;

/*
 * settings is a text[] of "name=value".  Each is checked as the server checks
 * its settings, and none is set.  ERROR if one is unknown or bad.
 */
extern SimulatedSettings simulated_settings(ArrayType *settings);

#endif							/* SWEEP_SIMULATED_SETTINGS_H */
