/*
 * policy/throttle_valve.h
 *		A rate that is cut in proportion and grows by the clock.  Pure.
 */
#ifndef SWEEP_POLICY_THROTTLE_VALVE_H
#define SWEEP_POLICY_THROTTLE_VALVE_H

#include "throttle.h"

/* What all valves need of a step. */
typedef struct ThrottleValveStep
{
	double		dt_s;
	double		floor;
	double		used;			/* total, lately */
	double		peak;
	bool		running;		/* a vacuum is */
	bool		restart;		/* none has been for long */
	bool		room;			/* the device says that it has some */
	double		share;			/* of the device, see ThrottleSettings */
	double		start;			/* the rate that it opens with */
} ThrottleValveStep;

/*
 * To this share of what is used, unless a cut has just been made: what is measured
 * now may still be its cause.
 */
extern void throttle_valve_cut(ThrottleValve *valve, double share, const ThrottleValveStep *v);

/* Another server that shares the device was cut, and leaves so much of it to us. */
extern void throttle_valve_follow(ThrottleValve *valve, double to, const ThrottleValveStep *v);

/* slow_start: the factor of a step of 0.25 s, before the first cut. */
extern void throttle_valve_grow(ThrottleValve *valve, double slow_start, const ThrottleValveStep *v);

/* The sensor is broken: the rate stays as it is. */
extern void throttle_valve_blind(ThrottleValve *valve, const ThrottleValveStep *v);

#endif							/* SWEEP_POLICY_THROTTLE_VALVE_H */
