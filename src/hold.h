/*
 * hold.h
 *		No new vacuums by pg_sweep for a while.
 */
#ifndef SWEEP_HOLD_H
#define SWEEP_HOLD_H

#include "postgres.h"
#include "datatype/timestamp.h"

extern bool hold_is_on(void);

/* Until when; 0: there is none. */
extern TimestampTz hold_until(void);

/* Holds until then, or, with 0, no more; was there a hold? */
extern bool hold_set(TimestampTz until);

/*
 * The ledger's file keeps it: what it said, unless something was said since.
 * The caller holds LOCK_LEDGER.
 */
extern void hold_restore(TimestampTz until);

#endif							/* SWEEP_HOLD_H */
