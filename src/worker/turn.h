/*
 * turn.h
 *		The turn of a table whose counters were lost.
 */
#ifndef SWEEP_TURN_H
#define SWEEP_TURN_H

#include "worker/candidate.h"

/* When it has its turn, of statistics that begin then. */
extern void turn_set(Candidate *c, TimestampTz history_begins, TimestampTz now);

/* looked_at: when all tables were last looked at. */
extern bool turn_is_now(const Candidate *c, TimestampTz now, TimestampTz looked_at);

/*
 * Does a table whose counters were lost still have its turn to come, and
 * when?
 */
extern bool turn_comes(const Candidate *c, TimestampTz *at);

#endif							/* SWEEP_TURN_H */
