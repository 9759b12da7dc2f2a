/*
 * policy/keep_hours.h
 *		Which hours of an archive are kept, and which are moved when the clock
 *		turns out to have been ahead.  Pure.
 *
 * Hours are told by when they begin, in order of time.  Times are microseconds
 * of any clock.
 */
#ifndef SWEEP_POLICY_KEEP_HOURS_H
#define SWEEP_POLICY_KEEP_HOURS_H

#include <stdint.h>

/* The first one that is kept: none that begins before oldest, and not more than most. */
extern int	keep_hours_first(const int64_t *begins, int count, int64_t oldest, int most);

/*
 * The clock was set back by so much, in the hour that began at `at` by the old
 * clock.  Which is the first hour that has to be moved by as much?  count: none
 * has to be.
 *
 * A clock that was ahead all the time moves them all.  One that had been set
 * forward by mistake left a gap as long as that.  The hours before the gap are
 * right.
 */
extern int	keep_hours_moved(const int64_t *begins, int count, int64_t at, int64_t us);

#endif							/* SWEEP_POLICY_KEEP_HOURS_H */
