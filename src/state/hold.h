/*
 * hold.h
 *		No new vacuums by pg_sweep for a while.
 */
#ifndef SWEEP_HOLD_H
#define SWEEP_HOLD_H

#include "postgres.h"
#include "datatype/timestamp.h"

extern bool hold_is_on(void);

/* Until when is there a hold?  0 if there is none. */
extern TimestampTz hold_until(void);

/* Holds until then, or ends the hold with 0.  Was there a hold? */
extern bool hold_set(TimestampTz until);

/*
 * Takes the hold that the ledger's file has kept, unless somebody has said
 * otherwise since.  The caller holds LOCK_LEDGER.
 */
extern void hold_restore(TimestampTz until);

/* Takes the hold that was noted in the WAL, in the same way. */
extern void hold_carried(TimestampTz until);

/*
 * Moves the end after the clock was set back, so that the hold lasts as long
 * as was said.
 */
extern void hold_set_back(int64 us);

#endif							/* SWEEP_HOLD_H */
