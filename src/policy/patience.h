/*
 * policy/patience.h
 *		How long a worker may keep others waiting, and what follows.  Pure.
 */
#ifndef SWEEP_POLICY_PATIENCE_H
#define SWEEP_POLICY_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum PatienceStep
{
	PATIENCE_WAIT,
	PATIENCE_CANCEL,			/* cancel what it is at, by SIGINT */
	PATIENCE_TERMINATE			/* end the process, by SIGTERM */
} PatienceStep;

/*
 * A worker holds a lock for which somebody has waited wanted_ms (negative:
 * nobody does).  cancelled_ms is the time since it was first cancelled for
 * that, and again_ms the time since the last.  Both are negative if it was
 * not yet.
 */
extern PatienceStep patience_with_holder(bool patient, int64_t wanted_ms, int64_t cancelled_ms,
										 int64_t again_ms);

/* The same for a worker that waits for a lock itself. */
extern PatienceStep patience_with_waiter(int64_t waits_ms, int64_t cancelled_ms,
										 int64_t again_ms);

/* For a worker that was told to leave so long ago.  up: it has connected. */
extern bool patience_with_leaver_is_over(bool up, int64_t told_ms);

/* For a worker that was started so long ago and has not connected. */
extern bool patience_with_starter_is_over(int64_t started_ms);

/*
 * For a worker to which SIGTERM was sent so long ago, and which does not end.
 */
extern bool patience_is_in_vain(int64_t terminated_ms);

#endif							/* SWEEP_POLICY_PATIENCE_H */
