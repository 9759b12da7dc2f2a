/*
 * handover.h
 *		What this server knows, for the next start or the next primary.
 *		Launcher only.
 */
#ifndef SWEEP_HANDOVER_H
#define SWEEP_HANDOVER_H

#include "postgres.h"

#include "datatype/timestamp.h"

/* A note is written again after so much WAL, so nobody looks back further. */
#define HANDOVER_AGAIN_BYTES	(UINT64CONST(64) * 1024 * 1024)

/* Once a round: notes what is known, if that has changed. */
extern void handover_look(TimestampTz now);

/* The server is being shut down.  Never an ERROR. */
extern void handover_last(void);

/* There is a note that was taken over. */
extern void handover_goes_on(void);

/* Nothing is to be handed over any more, because the mode is not act. */
extern void handover_stop(void);

/* Moves all times after the clock was set back. */
extern void handover_set_back(int64 us);

#endif							/* SWEEP_HANDOVER_H */
