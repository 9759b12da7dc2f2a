/*
 * policy/cost_delay.h
 *		The cost limit and delay with which one vacuum keeps its rates.
 */
#ifndef SWEEP_POLICY_COST_DELAY_H
#define SWEEP_POLICY_COST_DELAY_H

#include <stdbool.h>

#include "budget_limit.h"
#include "rates.h"

/* What the process has done since the last call. */
typedef struct CostDelayTick
{
	double		dt_ms;
	double		credits;
	Rates		used;			/* bytes, and ms of a processor; total is not
								 * looked at */
} CostDelayTick;

/* What it can be steered by. */
typedef struct CostDelayMeans
{
	double		tick_ms;		/* between two calls */
	double		page;			/* credits of the dearest page */
	int			fixed_limit;	/* only the delay can be chosen, or 0: both */
	double		least_sleep;	/* ms per credit that it sleeps at least */
	Rates		most;			/* that a credit can bring at most, as long as
								 * nothing is known */
} CostDelayMeans;

#define COST_DELAY_RATES	5	/* read, write, WAL, total, processor */

typedef struct CostDelayState
{
	bool		begun;
	Rates		target;			/* at the last call */
	double		sleep;			/* ms per credit that limit and delay ask for */
	double		work;			/* ms per credit beside that, as it seems */
	double		per_credit[COST_DELAY_RATES];	/* bytes or ms */
	double		account[COST_DELAY_RATES];	/* of them, beyond the target */
	CostDelayTick pending;		/* too little to judge from, so far */
	double		pending_sleep;	/* ms asked for in it */
} CostDelayState;

typedef struct CostDelayResult
{
	int			limit;			/* credits, at least 1 */
	double		delay_ms;		/* 0: it need not sleep */
	BudgetLimit limited_by;		/* READ, WRITE, WAL, CPU, COUNT (total) or
								 * NONE */
} CostDelayResult;

extern void cost_delay_begin(CostDelayState *state);

/*
 * What cost_delay_step() asked for was not applied.  The costs in force ask for
 * this many ms of sleep per credit instead.
 */
extern void cost_delay_unpaced(CostDelayState *state, double sleep);

/* What was done until now beyond the target, or not, is not made up for. */
extern void cost_delay_forgive(CostDelayState *state);

/* A target of 0 does not limit. */
extern void cost_delay_step(CostDelayState *state, const Rates *target, const CostDelayTick *tick,
							const CostDelayMeans *means, CostDelayResult *result);

#endif							/* SWEEP_POLICY_COST_DELAY_H */
