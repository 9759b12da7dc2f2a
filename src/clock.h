/*
 * clock.h
 *		Now, later, and waiting.
 */
#ifndef SWEEP_CLOCK_H
#define SWEEP_CLOCK_H

#include "postgres.h"
#include "datatype/timestamp.h"

extern TimestampTz clock_now(void);

/* The time ms milliseconds after from, by the clock of pg_sweep. */
extern TimestampTz clock_after(TimestampTz from, int64 ms);

/*
 * Waits until then (0: for ever), the process's latch or postmaster's death,
 * which ends the process.  The caller checks for interrupts.
 */
extern void clock_wait_until(TimestampTz then);

/* The same; was it the latch? */
extern bool clock_wait_until_woken(TimestampTz then);

/* Leaves the processor to others for an instant; no interrupt is looked at. */
extern void clock_pause(void);

#endif							/* SWEEP_CLOCK_H */
