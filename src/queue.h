/*
 * queue.h
 *		The tables of all databases that are over a threshold and wait.
 */
#ifndef SWEEP_QUEUE_H
#define SWEEP_QUEUE_H

#include "candidates.h"
#include "shmem.h"

#include "policy/threshold.h"

/* launcher, in a round: empties what is collected, adds a table to it */
extern void queue_begin(void);
extern void queue_note(DecisionKey key, const Thresholds *t, int64 dead, int64 ins);

/* The same for one that waits because of an earlier decision. */
extern void queue_note_waiting(const Decision *decision, int64 dead, int64 ins);

/*
 * Marks the candidates that have been due for longer than sweep.max_wait.  In
 * a worker.
 */
extern void queue_mark_overdue(List *candidates);

/* Publishes what was collected, of the databases that are ours. */
extern void queue_publish(bool (*is_ours) (Oid dboid), TimestampTz now);

/* Forgets what was published.  In the launcher. */
extern void queue_clear(void);

#endif							/* SWEEP_QUEUE_H */
