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

/* What a sample of a relation's pages tells, as shares of 0 to 1. */
typedef struct PageSample
{
	double		not_visible;	/* of all pages: they are not all-visible */
	double		between;		/* of all pages: they are, but lie in runs of
								 * less than skip_pages between such ones */
	double		resident;		/* of both: they are in shared buffers */
	double		dirty;			/* of not_visible: they are dirty there */
} PageSample;

/*
 * Samples those pages of a table, at most 64,000 of them in even distances.
 * The caller holds a lock on it.
 */
extern PageSample residency_sample_table(Relation rel, BlockNumber begin, BlockNumber end,
										 int skip_pages);

/* The same for an index, all of whose pages count as not_visible. */
extern PageSample residency_sample_index(Relation rel, BlockNumber pages);

#endif							/* SWEEP_RESIDENCY_H */
