/*
 * hours.h
 *		Closes the hours that are over, and puts them into the archive.
 *		Launcher only.
 */
#ifndef SWEEP_HOURS_H
#define SWEEP_HOURS_H

#include "postgres.h"

#include "datatype/timestamp.h"

/* At the launcher's start, after the ledger was loaded. */
extern void hours_begin(void);

/* Before the scout walks: activity is counted in this walk if an hour is over. */
extern void hours_begin_walk(TimestampTz now);

/*
 * At the end of a round: archives what is over.  Problems of the file are a
 * WARNING, and it is tried again.
 */
extern void hours_close(TimestampTz now);

/* pg_sweep is off: nothing is counted and nothing written. */
extern void hours_stop(void);

/* Moves all times after the clock was set back. */
extern void hours_set_back(int64 us);

#endif							/* SWEEP_HOURS_H */
