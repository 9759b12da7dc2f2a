/*
 * queue.h
 *		The tables of all databases that are over a threshold and wait.
 */
#ifndef SWEEP_QUEUE_H
#define SWEEP_QUEUE_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "utils/hsearch.h"

#include "policy/threshold.h"
#include "state/decisions.h"

#define SWEEP_QUEUE_LIMIT	1000

/*
 * A table that is over a threshold, as the scout found it in its last round.
 * Writer: launcher.  Protection: LOCK_QUEUE.
 */
typedef struct QueueEntry
{
	DecisionKey key;
	double		score;
	bool		by_inserts;		/* inserts make the largest part of the score */
	bool		due;			/* a worker is to look at it now */
	bool		sparse;			/* it is not due, but a cleaner is to look at
								 * it */
	int64		tuples;			/* of the largest part */
	double		threshold;
	TimestampTz since;			/* it was over it in every round since then */
} QueueEntry;

/*
 * The launcher, in a round: begin anew, and add a table to what is collected.
 */
extern void queue_begin(void);
extern void queue_note(DecisionKey key, const Thresholds *t, int64 dead, int64 ins, bool due);

/*
 * The same for a table that waits because of an earlier decision.  Returns
 * false if it is over no threshold, or waits for nothing.
 */
extern bool queue_note_waiting(const Decision *decision, int64 dead, int64 ins);

/*
 * The same for a table with sparse garbage, which no vacuum is due for.  The
 * score is that of a vacuum.
 */
extern void queue_note_sparse(DecisionKey key, int64 dead, double threshold, double score);

/*
 * For a worker: what was due in its database and of the shared catalogs in
 * the last round, palloc'd.  The count is -1 if there was more than the queue
 * has room for.
 */
extern DecisionKey *queue_due(bool catalogs_only, int *count);

/* For a worker: those with sparse garbage in its database, palloc'd. */
extern DecisionKey *queue_sparse(int *count);

/* Has anything been due for so long, without a worker for it? */
extern bool queue_has_due(int64 ms);

/* A table that has been due for so long goes ahead of more urgent ones. */
#define QUEUE_MAX_WAIT_S	300

/* Those that wait longer than QUEUE_MAX_WAIT_S, palloc'd.  For any backend. */
extern QueueEntry *queue_overdue(int *count);

/* Makes a hash of entries by their key, in the current memory context. */
extern HTAB *queue_index(const QueueEntry *entries, int count);

/* Publishes what was collected of those databases that are ours. */
extern void queue_publish(bool (*is_ours) (Oid dboid), TimestampTz now);

/* How many of them wait longer than QUEUE_MAX_WAIT_S?  For any backend. */
extern int64 queue_count_overdue(void);

/* Forgets what was published.  Launcher only. */
extern void queue_clear(void);

/* Moves all times after the clock was set back.  Launcher only. */
extern void queue_set_back(int64 us);

#endif							/* SWEEP_QUEUE_H */
