/*
 * residency.h
 *		How much of a table is in shared buffers.
 */
#ifndef SWEEP_RESIDENCY_H
#define SWEEP_RESIDENCY_H

#include "postgres.h"

#include "utils/rel.h"

/*
 * Of the unfrozen pages, which are all-visible and not all-frozen, how many
 * are in shared buffers?  This is an estimate.  Those far from the table's
 * end count as not.  The caller holds a lock on the table.
 */
extern int64 residency_of_unfrozen(Relation rel, int64 pages, int64 unfrozen);

#endif							/* SWEEP_RESIDENCY_H */
