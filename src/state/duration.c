/*
 * duration.c
 *		How long a user wants something to last.
 *
 * What somebody switches off by a command must come on again by itself, and
 * soon enough that it is not forgotten.  What is to last longer is a setting.
 */
#include "state/duration.h"

#include "utils/builtins.h"
#include "utils/timestamp.h"

static TimestampTz
later(TimestampTz now, const Interval *duration)
{
	return DatumGetTimestampTz(DirectFunctionCall2(timestamptz_pl_interval,
												   TimestampTzGetDatum(now),
												   IntervalPGetDatum(duration)));
}

TimestampTz
duration_end(const Interval *duration, TimestampTz now)
{
	Interval	limit = {0};
	TimestampTz until = later(now, duration);

	limit.day = DURATION_LIMIT_DAYS;
	if (until < now || until > later(now, &limit))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("interval must be between 0 and %d days", DURATION_LIMIT_DAYS),
				 errhint("Settings last longer: see \"sweep.mode\", \"sweep.exclude_databases\" and sweep.set().")));
	return until;
}
