/*
 * next_checkpoint.h
 *		When the next checkpoint begins.
 */
#ifndef SWEEP_NEXT_CHECKPOINT_H
#define SWEEP_NEXT_CHECKPOINT_H

#include "postgres.h"
#include "datatype/timestamp.h"

/* The launcher: the server's configuration was just loaded again. */
extern void next_checkpoint_woken(TimestampTz now);

/*
 * The launcher, at each round: looks, and publishes what it expects.  wanted:
 * a table waits for it.
 */
extern void next_checkpoint_watch(TimestampTz now, bool wanted);

/* When a round should come that makes the time exact; 0: none. */
extern TimestampTz next_checkpoint_round_at(TimestampTz now, bool wanted);

/* What should come before it begins so early, beside the time that it takes. */
#define NEXT_CHECKPOINT_LEAD_MS	100

/* Until then; PG_INT64_MAX: unknown. */
extern int64 next_checkpoint_ms(TimestampTz now);

#endif							/* SWEEP_NEXT_CHECKPOINT_H */
