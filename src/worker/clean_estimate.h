/*
 * clean_estimate.h
 *		What would it cost to clean a table, by row or by a vacuum?
 */
#ifndef SWEEP_CLEAN_ESTIMATE_H
#define SWEEP_CLEAN_ESTIMATE_H

#include "policy/clean_plan.h"
#include "worker/candidate.h"

typedef struct CleanEstimate
{
	CleanPlan	plan;
	CleanCost	cost;
} CleanEstimate;

/*
 * Estimates it, in a transaction of its own.  `correction` is as in CleanTable.
 * Returns false if the table is locked or gone.
 */
extern bool clean_estimate(const Candidate *c, double correction, CleanEstimate *estimate);

#endif							/* SWEEP_CLEAN_ESTIMATE_H */
