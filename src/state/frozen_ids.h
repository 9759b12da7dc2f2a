/*
 * frozen_ids.h
 *		When each database's oldest ids were looked for last.
 */
#ifndef SWEEP_FROZEN_IDS_H
#define SWEEP_FROZEN_IDS_H

#include "postgres.h"

#include "datatype/timestamp.h"

/*
 * Databases that share a place are looked at more often, which is all that
 * comes of it.
 */
#define FROZEN_IDS_PLACES	256

/* Writers: workers.  Protection: LOCK_WORKERS. */
typedef struct FrozenIdsTurn
{
	Oid			dboid;
	TimestampTz at;
} FrozenIdsTurn;

/*
 * Is it the caller's turn to look for the oldest ids of that database?  One
 * worker a minute has a turn, and one whose vacuum has moved the oldest.
 */
extern bool frozen_ids_take_turn(Oid dboid, bool oldest_moved);

#endif							/* SWEEP_FROZEN_IDS_H */
