/*
 * worker_claims.h
 *		The tables that own workers have claimed, as others see them.
 */
#ifndef SWEEP_WORKER_CLAIMS_H
#define SWEEP_WORKER_CLAIMS_H

#include "state/worker_slot.h"

/* The tables that own workers are vacuuming now. */
typedef struct WorkerClaims
{
	int			count;
	DecisionKey keys[SWEEP_WORKERS_LIMIT];
} WorkerClaims;

/* A worker that has claimed a table, as it was when somebody looked. */
typedef struct WorkerClaim
{
	int			slot;
	int			pid;
	Oid			relid;
	bool		patient;		/* see WorkerSlot */
	bool		cancelled;		/* likewise, and below */
	TimestampTz let_go_at;
	TimestampTz told_at;
} WorkerClaim;

/* anybody */
extern void worker_claims_get(WorkerClaims *claims);
extern bool worker_claims_cancel(int pid);

/* the governor */
extern double worker_claims_worst_ratio(void);
extern int	worker_claims_copy(WorkerClaim claims[SWEEP_WORKERS_LIMIT]);
extern void worker_claims_make_let_go(const WorkerClaim *claim, bool terminate, TimestampTz now);

#endif							/* SWEEP_WORKER_CLAIMS_H */
