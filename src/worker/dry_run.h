/*
 * dry_run.h
 *		In mode observe: a vacuum is noted, not made.
 */
#ifndef SWEEP_DRY_RUN_H
#define SWEEP_DRY_RUN_H

#include "worker/candidate.h"
#include "worker/verdict.h"

/*
 * Estimates what the vacuum would cost now, and goes on as if it had been
 * made.  Begins and ends a transaction.
 */
extern void dry_run(const Candidate *c, const Verdict *verdict);

#endif							/* SWEEP_DRY_RUN_H */
