/*
 * policy/throttle_wal.h
 *		WAL in danger: its archiver, its slots, its file system.  Pure.
 */
#ifndef SWEEP_POLICY_THROTTLE_WAL_H
#define SWEEP_POLICY_THROTTLE_WAL_H

#include "throttle_valve.h"

extern bool throttle_wal_is_danger(int limit);

/* One step; while WAL is in danger its rate falls to the floor within seconds. */
extern void throttle_wal_step(ThrottleState *state, const ThrottleSettings *s,
							  const ThrottleReading *r, double floor,
							  const ThrottleValveStep *v, ThrottleResult *out);

/* The WAL that all dangers leave, bytes/s; 0: any.  which: of them, or NULL. */
extern double throttle_wal_allowed(const ThrottleState *state, BudgetLimit *which);

#endif							/* SWEEP_POLICY_THROTTLE_WAL_H */
