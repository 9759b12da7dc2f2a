/*
 * policy/throttle_cause.h
 *		Can a vacuum be what users wait for, and has it helped them that it gave
 *		way?  Pure.
 */
#ifndef SWEEP_POLICY_THROTTLE_CAUSE_H
#define SWEEP_POLICY_THROTTLE_CAUSE_H

#include "throttle_valve.h"

/* Neither busy nor slow, as far as it tells.  False when nothing is known of it. */
extern bool throttle_device_is_idle(const ThrottleReading *r);

/* Then it is not a processor that users wait for.  False when nothing is known. */
extern bool throttle_processors_are_free(const ThrottleReading *r);

/*
 * A cut is an experiment.  Call this in each step: how many users wait now, and how
 * many of them beyond the usual.
 */
extern void throttle_cause_observe(ThrottleCause *c, ThrottleValve *valve, double waiting,
								   double excess, const ThrottleValveStep *v);

/* May it be cut now?  Not soon after a cut that helped nobody. */
extern bool throttle_cause_may_cut(const ThrottleCause *c);

/* It is cut; before: what was allowed. */
extern void throttle_cause_cut(ThrottleCause *c, double before);

#endif							/* SWEEP_POLICY_THROTTLE_CAUSE_H */
