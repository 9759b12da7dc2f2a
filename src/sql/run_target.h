/*
 * run_target.h
 *		A running vacuum, as the functions that act on one see it.
 */
#ifndef SWEEP_RUN_TARGET_H
#define SWEEP_RUN_TARGET_H

#include "meter/meter.h"

/* The slot in which that process vacuums: its index, or -1. */
extern int	running_find(int pid, MeterSlot *slot);

/* May the current role cancel or steer it? */
extern bool running_may_act(const MeterSlot *slot);

#endif							/* SWEEP_RUN_TARGET_H */
