/*
 * governor.h
 *		The process that finds out what vacuums may use.  For governor*.c only.
 */
#ifndef SWEEP_GOVERNOR_H
#define SWEEP_GOVERNOR_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "governor/host_directory.h"
#include "governor/sensors.h"
#include "policy/throttle.h"
#include "state/budget.h"

/* What the running vacuums did since the last look. */
typedef struct GovernorVacuums
{
	int			running;		/* those that the budget is about */
	int			yielding;		/* of them, those that give way to users */
	double		pace;			/* that these may begin with, bytes/s */
	bool		pace_of_users;	/* and one of them: PACE_OF_USERS */
	int			all;			/* and all others that could be steered */
	Rates		used;			/* of those that the budget is about */
	double		yielding_used;	/* total of those that give way */
	double		removed_rows_s; /* found dead, to be removed in the same run */
} GovernorVacuums;

/* governor_vacuums.c */
extern void governor_vacuums_begin(void);
extern void governor_vacuums_look(GovernorVacuums *out, TimestampTz now);
extern void governor_vacuums_grant(const ThrottleResult *result, bool binds, bool paces_own);
extern void governor_vacuums_unsteer(TimestampTz now);

/* governor_limits.c */
extern void governor_limits_get(ThrottleSettings *out, const HostShare *share, TimestampTz now);
extern bool governor_limits_any(const ThrottleSettings *s);

/* Dead rows against the threshold, of the worst table that is due. */
extern double governor_limits_worst_ratio(void);
extern void governor_limits_read(ThrottleReading *out, ThrottleSettings *s,
								 SensorsReading *sensors, TimestampTz now);
extern void governor_limits_publish(const ThrottleSettings *s, const ThrottleResult *result,
									const SensorsReading *sensors, const HostShare *share,
									TimestampTz now, bool binds);

#endif							/* SWEEP_GOVERNOR_H */
