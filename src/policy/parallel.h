/*
 * policy/parallel.h
 *		How many parallel workers a vacuum asks for.  Pure.
 */
#ifndef SWEEP_POLICY_PARALLEL_H
#define SWEEP_POLICY_PARALLEL_H

#include <stdbool.h>

/*
 * Indexes below this size, in bytes, are vacuumed before a worker for them
 * would have started.
 */
#define PARALLEL_INDEX_BYTES	(64.0 * 1024 * 1024)

typedef struct ParallelRoom
{
	int			large_indexes;	/* of the table, of that size or more */
	int			limit;			/* max_parallel_maintenance_workers */
	int			spare;			/* background workers that nobody else wants */
	double		processors;		/* that the server may use */
	double		load;			/* processes that ran or wanted to, on average
								 * over the last minute (negative: unknown) */
} ParallelRoom;

/*
 * The vacuum itself takes one index and one processor.  What somebody else
 * uses is left to them.
 */
extern int	parallel_workers(const ParallelRoom *room);

#endif							/* SWEEP_POLICY_PARALLEL_H */
