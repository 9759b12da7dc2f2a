/*
 * policy/estimate.h
 *		How much of a run is done, and when will it end?  Pure.
 */
#ifndef SWEEP_POLICY_ESTIMATE_H
#define SWEEP_POLICY_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum EstimatePhase
{
	ESTIMATE_OTHER,				/* nothing to go by */
	ESTIMATE_SCAN,				/* reading the heap */
	ESTIMATE_INDEXES,			/* vacuuming or cleaning up indexes */
	ESTIMATE_HEAP,				/* second pass over the heap */
	ESTIMATE_TRUNCATE			/* last of all */
} EstimatePhase;

typedef enum EstimateBasis
{
	ESTIMATE_NONE = 0,
	ESTIMATE_LAST_RUN,			/* the last run of the same table */
	ESTIMATE_PROGRESS			/* the phase's own counters */
} EstimateBasis;

typedef struct EstimateInput
{
	double		elapsed_ms;
	int64_t		cost;			/* so far */
	double		cost_per_s;		/* now (0: unknown) */

	EstimatePhase phase;
	int64_t		units_total;	/* of the phase (0: unknown) */
	int64_t		units_done;
	double		phase_ms;		/* time in this phase (0: unknown) */
	double		units_per_s;	/* of the phase, lately (0: unknown) */
	bool		more_passes;	/* dead items wait for an index pass */

	/* what bounds it (nothing does if page_cost is 0) */
	int64_t		page_cost;		/* of a page that is read and dirtied */
	int64_t		phase_cost;		/* in this phase so far */
	int64_t		phase_dirtied;	/* pages dirtied in this phase so far */
	int64_t		to_revisit;		/* pages that the second heap pass will dirty */

	int64_t		pages;			/* of the table now (0: unknown) */
	int64_t		last_pages;		/* of the table at the end of the last run (0:
								 * none) */
	int64_t		last_cost;		/* total of the last run (0: none) */
	double		last_ms;
	int64_t		last_index_passes;	/* of the last run (0: none or unknown) */
} EstimateInput;

typedef struct Estimate
{
	EstimateBasis basis;
	double		done_pct;		/* 0 to 100 (negative: unknown) */
	double		eta_ms;			/* negative: unknown */
} Estimate;

extern Estimate estimate_run(const EstimateInput *in);

#endif							/* SWEEP_POLICY_ESTIMATE_H */
