/*
 * next_checkpoint.h
 *		When the next checkpoint begins.
 */
#ifndef SWEEP_NEXT_CHECKPOINT_H
#define SWEEP_NEXT_CHECKPOINT_H

#include "postgres.h"
#include "datatype/timestamp.h"

/* The launcher, at each round: looks, and publishes what it expects. */
extern void next_checkpoint_watch(TimestampTz now);

/* Is it so close that what should come before it has to begin now? */
extern bool next_checkpoint_is_near(TimestampTz now);

#endif							/* SWEEP_NEXT_CHECKPOINT_H */
