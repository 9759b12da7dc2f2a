/*
 * duration.h
 *		How long a user wants something to last.
 */
#ifndef SWEEP_DURATION_H
#define SWEEP_DURATION_H

#include "postgres.h"
#include "datatype/timestamp.h"

#define DURATION_LIMIT_DAYS		31	/* a month, whichever it is */

/*
 * Returns the time that long after now.  ERROR if the duration is negative or
 * longer than the limit.  It goes by the calendar and is not divided by
 * sweep.debug_clock_rate, because users mean real time.
 */
extern TimestampTz duration_end(const Interval *duration, TimestampTz now);

#endif							/* SWEEP_DURATION_H */
