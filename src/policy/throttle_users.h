/*
 * policy/throttle_users.h
 *		Do users wait longer than they do without vacuums?  Pure.
 */
#ifndef SWEEP_POLICY_THROTTLE_USERS_H
#define SWEEP_POLICY_THROTTLE_USERS_H

#include "throttle_valve.h"

/* How many users would wait now, without a vacuum. */
extern double throttle_users_expected(const ThrottleUsers *u, const ThrottleReading *r);

/* Is nobody there, but for somebody who looks now and then? */
extern bool throttle_users_absent(const ThrottleUsers *u);

/* Without a vacuum: are they to be looked at as often as with one, for a while? */
extern bool throttle_users_want_to_be_heard(const ThrottleUsers *u);

/* Would a step now, dt_s after the last, find that they wait too long? */
extern bool throttle_users_hurt(const ThrottleUsers *u, const ThrottleValve *valve,
								double waiting, double dt_s);

/* The valve of LIMIT_USERS; why it is where it is. */
extern ThrottleReason throttle_users_step(ThrottleUsers *u, ThrottleValve *valve,
										  const ThrottleReading *r, const ThrottleValveStep *v);

#endif							/* SWEEP_POLICY_THROTTLE_USERS_H */
