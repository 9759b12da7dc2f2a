/*
 * worker_pool.h
 *		All workers, as the launcher keeps them.
 */
#ifndef SWEEP_WORKER_POOL_H
#define SWEEP_WORKER_POOL_H

#include "state/worker_slot.h"

/*
 * What the launcher hears of a worker.  visited_at is 0 before its first
 * whole visit.
 */
typedef void (*WorkerReport) (const WorkerSlot *slot, bool gone, bool visited,
							  TimestampTz now);

/* anybody */
extern int	worker_pool_count_in(Oid dboid);
extern int	worker_pool_stubborn(Oid *dboid);

/*
 * Is a worker not begun, because too few background workers are left?  Says so.
 * text has room for size bytes.
 */
extern bool worker_pool_is_short(char *text, size_t size);

/* the launcher */
extern int	worker_pool_count(bool catalogs_only);
extern int	worker_pool_free_in(Oid dboid, bool for_catalogs);
extern bool worker_pool_is_connecting(Oid dboid);
extern bool worker_pool_start(Oid dboid, Oid owner, bool catalogs_only, bool survey, TimestampTz now);
extern bool worker_pool_send_again(Oid dboid, bool for_catalogs, bool survey);
extern void worker_pool_dismiss_one(bool catalogs_only);
extern void worker_pool_dismiss_idle(void);
extern void worker_pool_note_short(int left, int wanted);
extern void worker_pool_stop_all(void);
extern TimestampTz worker_pool_end_overdue(void);
extern bool worker_pool_reap(WorkerReport report, TimestampTz now);
extern void worker_pool_set_back(int64 us); /* the clock was */

#endif							/* SWEEP_WORKER_POOL_H */
