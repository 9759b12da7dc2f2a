/*
 * policy/sensor_state.h
 *		Can a sensor of the governor be believed?
 */
#ifndef SWEEP_POLICY_SENSOR_STATE_H
#define SWEEP_POLICY_SENSOR_STATE_H

typedef enum SensorState
{
	SENSOR_NOT_USED,
	SENSOR_OK,
	SENSOR_ABSENT,				/* this system has none */
	SENSOR_BROKEN
} SensorState;

#endif							/* SWEEP_POLICY_SENSOR_STATE_H */
