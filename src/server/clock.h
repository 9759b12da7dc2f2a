/*
 * clock.h
 *		Now, later, and waiting.
 */
#ifndef SWEEP_CLOCK_H
#define SWEEP_CLOCK_H

#include "postgres.h"
#include "datatype/timestamp.h"

#include "exported.h"

extern PGDLLEXPORT TimestampTz clock_now(void);

/* What clock_now() was at a time that the meter took, whose clock is not set by tests. */
extern TimestampTz clock_at(TimestampTz real);

/* The time ms milliseconds after from, by the clock of pg_sweep. */
extern TimestampTz clock_after(TimestampTz from, int64 ms);

/*
 * Microseconds since some moment, by a clock that nobody sets.  It tells how
 * long something lasts, not when it was.
 */
extern int64 clock_steady(void);

/* How much time of a processor has this process used? */
extern double clock_cpu_ms(void);

/* How far is the wall clock ahead of the steady one? */
extern int64 clock_lead(void);

/*
 * By how many microseconds was the wall clock set back since it had that
 * lead?  0 if it was not.  lead is brought up to date.
 */
extern int64 clock_set_back(int64 *lead);

/* Moves a remembered time after the clock was set back by us. */
static inline void
clock_move(TimestampTz *time, int64 us)
{
	if (*time != 0)
		*time -= us;
}

/*
 * Waits until then (0: for ever), or until the process's latch is set.  If
 * the postmaster dies, the process ends.  The caller checks for interrupts.
 */
extern void clock_wait_until(TimestampTz then);

/* The same.  Was it the latch? */
extern bool clock_wait_until_woken(TimestampTz then);

/* Waits until then, by the steady clock. */
extern void clock_wait_until_steady(int64 then);

/*
 * Leaves the processor to others for an instant, without looking at
 * interrupts.
 */
extern void clock_pause(void);

#endif							/* SWEEP_CLOCK_H */
