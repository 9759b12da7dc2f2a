/*
 * pace.h
 *		The cost limit and delay with which one vacuum keeps its rates.
 */
#ifndef SWEEP_POLICY_PACE_H
#define SWEEP_POLICY_PACE_H

#include <stdbool.h>

#include "rates.h"

/* What the process has done since the last call. */
typedef struct PaceTick
{
	double		dt_ms;
	double		credits;
	Rates		bytes;			/* total is not looked at */
} PaceTick;

/* What it can be steered by. */
typedef struct PaceMeans
{
	double		tick_ms;		/* between two calls */
	double		page;			/* credits of the dearest page */
	int			fixed_limit;	/* only the delay can be chosen; 0: both */
	double		least_sleep;	/* ms per credit that it sleeps at least */
} PaceMeans;

#define PACE_RATES	4			/* read, write, WAL, total */

typedef struct PaceState
{
	bool		begun;
	Rates		target;			/* at the last call */
	double		sleep;			/* ms per credit that limit and delay ask for */
	double		work;			/* ms per credit beside that, as it seems */
	double		per_credit[PACE_RATES]; /* bytes */
	double		account[PACE_RATES];	/* bytes beyond the target */
	PaceTick	pending;		/* too little to judge from, so far */
	double		pending_sleep;	/* ms asked for in it */
} PaceState;

typedef struct PaceResult
{
	int			limit;			/* credits, at least 1 */
	double		delay_ms;		/* 0: it need not sleep */
	BudgetLimit limited_by;		/* READ, WRITE, WAL; COUNT for the total; NONE */
	double		target;			/* bytes/s of that rate */
} PaceResult;

extern void pace_begin(PaceState *state);

/*
 * What pace_step() asked for was not applied; the costs in force ask for this
 * many ms of sleep per credit.
 */
extern void pace_unpaced(PaceState *state, double sleep);

/* A target of 0 does not limit. */
extern void pace_step(PaceState *state, const Rates *target, const PaceTick *tick,
					  const PaceMeans *means, PaceResult *result);

#endif							/* SWEEP_POLICY_PACE_H */
