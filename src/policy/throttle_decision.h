/*
 * policy/throttle_decision.h
 *		What the governor has decided in a step.
 */
#ifndef SWEEP_POLICY_THROTTLE_DECISION_H
#define SWEEP_POLICY_THROTTLE_DECISION_H

typedef enum ThrottleDecision
{
	THROTTLE_STEADY,
	THROTTLE_BACK_OFF,
	THROTTLE_RECOVER,
	THROTTLE_FLOOR,
	THROTTLE_NO_VACUUM,
	THROTTLE_SENSOR_LOST,
	THROTTLE_DECISION_COUNT
} ThrottleDecision;

#endif							/* SWEEP_POLICY_THROTTLE_DECISION_H */
