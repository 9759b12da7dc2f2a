/*
 * policy/checkpoint.h
 *		When does the next checkpoint begin?  Pure.
 *
 * It begins checkpoint_timeout after the last one began, or when enough WAL
 * has been written since.
 *
 * Source: CheckpointerMain() and XLogCheckpointNeeded() in PostgreSQL (15 to
 * 19).
 */
#ifndef SWEEP_POLICY_CHECKPOINT_H
#define SWEEP_POLICY_CHECKPOINT_H

#include <stdint.h>

typedef struct CheckpointState
{
	int64_t		since_ms;		/* since the last one began */
	int64_t		timeout_ms;		/* checkpoint_timeout */
	double		wal_since;		/* bytes since its redo point */
	double		wal_limit;		/* bytes that make the next one begin */
	double		wal_per_ms;		/* bytes, lately */
} CheckpointState;

/* In milliseconds.  0 if it begins at once. */
extern int64_t checkpoint_ms_ahead(const CheckpointState *s);

#endif							/* SWEEP_POLICY_CHECKPOINT_H */
