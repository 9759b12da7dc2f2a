/*
 * worker_slot.h
 *		The workers' places in shared memory.
 */
#ifndef SWEEP_WORKER_SLOT_H
#define SWEEP_WORKER_SLOT_H

#include "postgres.h"

#include "shmem.h"

/* The tables that own workers are vacuuming now. */
typedef struct WorkerClaims
{
	int			count;
	DecisionKey keys[SWEEP_WORKERS_LIMIT];
} WorkerClaims;

/* What the launcher hears of a worker; visited_at is 0 before its first whole visit. */
typedef void (*WorkerReport) (const WorkerSlot *slot, bool gone, bool visited,
							  TimestampTz now);

/* anybody */
extern void worker_slots_claims(WorkerClaims *claims);
extern int	worker_slots_count_in(Oid dboid);

/* the launcher */
extern int	worker_slots_count(bool catalogs_only);
extern int	worker_slots_free_in(Oid dboid, bool for_catalogs);
extern bool worker_slots_start(Oid dboid, bool catalogs_only, TimestampTz now);
extern bool worker_slots_send_again(Oid dboid, bool for_catalogs);
extern void worker_slots_dismiss_one(bool catalogs_only);
extern void worker_slots_stop_all(void);
extern bool worker_slots_reap(WorkerReport report, TimestampTz now);

/* a worker, of its own place */
extern bool worker_slot_begin(Datum arg);
extern Oid	worker_slot_database(void);
extern bool worker_slot_is_for_catalogs(void);
extern bool worker_slot_is_stopped(void);
extern bool worker_slot_claim(DecisionKey key);
extern void worker_slot_unclaim(void);
extern void worker_slot_visited(bool visited, TimestampTz began, TimestampTz revisit_at);
extern void worker_slot_linger(void);
extern bool worker_slot_is_wanted(void);
extern bool worker_slot_linger_end(void);

#endif							/* SWEEP_WORKER_SLOT_H */
