/*
 * parallel_indexes.h
 *		With how many parallel workers are a table's indexes vacuumed?
 */
#ifndef SWEEP_PARALLEL_INDEXES_H
#define SWEEP_PARALLEL_INDEXES_H

#include "worker/candidate.h"
#include "worker/verdict.h"

/* Called outside any transaction, when the table is about to be vacuumed. */
extern int	parallel_indexes_workers(const Candidate *c, const StatementOptions *options);

/*
 * A vacuum with parallel workers has failed.  Unless somebody has cancelled
 * it, or a page is broken, that may be for want of them or of shared memory.
 * So none has any until the server is started again.
 */
extern void parallel_indexes_failed(int sqlstate);

#endif							/* SWEEP_PARALLEL_INDEXES_H */
