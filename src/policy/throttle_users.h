/*
 * policy/throttle_users.h
 *		Do users wait longer than they do without vacuums?  Pure.
 */
#ifndef SWEEP_POLICY_THROTTLE_USERS_H
#define SWEEP_POLICY_THROTTLE_USERS_H

#include "throttle_valve.h"

/* How many users would wait now, without a vacuum. */
extern double throttle_users_expected(const ThrottleUsers *u, const ThrottleReading *r);

/* The valve of LIMIT_USERS; why it is where it is. */
extern ThrottleReason throttle_users_step(ThrottleUsers *u, ThrottleValve *valve,
										  const ThrottleReading *r, const ThrottleValveStep *v);

#endif							/* SWEEP_POLICY_THROTTLE_USERS_H */
