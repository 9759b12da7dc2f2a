/*
 * slots.h
 *		Background worker slots, and who else wants them.  Launcher only.
 */
#ifndef SWEEP_SLOTS_H
#define SWEEP_SLOTS_H

#include "postgres.h"

#include "datatype/timestamp.h"

/* Counts enabled subscriptions.  Called in a transaction. */
extern void slots_read_subscriptions(void);

/* Counts what is free and who runs. */
extern void slots_look(TimestampTz now);

/* May one more worker begin?  It is counted if so. */
extern bool slots_let_begin(void);

/* Must workers that wait for more work leave? */
extern bool slots_are_short(void);

#endif							/* SWEEP_SLOTS_H */
