/*
 * next_checkpoint.h
 *		When the next checkpoint begins.
 */
#ifndef SWEEP_NEXT_CHECKPOINT_H
#define SWEEP_NEXT_CHECKPOINT_H

#include "postgres.h"
#include "datatype/timestamp.h"

/* For the launcher: the server's configuration was just loaded again. */
extern void next_checkpoint_woken(TimestampTz now);

/*
 * For the launcher, at each round: looks, and publishes what it expects.
 * wanted says that a table waits for the checkpoint.
 */
extern void next_checkpoint_watch(TimestampTz now, bool wanted);

/* When should a round come that makes the time exact?  0 if none should. */
extern TimestampTz next_checkpoint_round_at(TimestampTz now, bool wanted);

/*
 * What should come before a checkpoint begins this much earlier, besides the
 * time that it takes itself.
 */
#define NEXT_CHECKPOINT_LEAD_MS	100

/* How long is it until then?  PG_INT64_MAX if unknown. */
extern int64 next_checkpoint_ms(TimestampTz now);

#endif							/* SWEEP_NEXT_CHECKPOINT_H */
