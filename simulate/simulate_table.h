/*
 * policy/simulate_table.h
 *		One table while the simulation's clock goes.  Pure.  Only simulate.c
 *		and simulate_learn.c use it.
 */
#ifndef SWEEP_POLICY_SIMULATE_TABLE_H
#define SWEEP_POLICY_SIMULATE_TABLE_H

#include <math.h>

#include "simulate.h"

/* A moment of the simulation. */
typedef struct SimulateMoment
{
	double		now;
	double		checkpoint_at;	/* the next one (HUGE_VAL: none) */
	bool		checkpoint;		/* it begins now */
} SimulateMoment;

/* Rows of an hour that died and left index entries. */
static inline double
simulate_cold_dead(const SimulateActivity *a)
{
	double		cold = a->updated - a->hot_updated;

	return (cold > 0 ? cold : 0) + a->deleted;
}

/*
 * Rows that were deleted soon after they were inserted.  In catalogs that is
 * what temporary tables leave.  Of other tables nothing is known.
 */
static inline double
simulate_young(const SimulateTable *t, const SimulateActivity *a)
{
	return t->catalog ? fmin(a->deleted, a->inserted) : 0;
}

/* Rows that were updated and deleted, anywhere in the table. */
static inline double
simulate_changed(const SimulateTable *t, const SimulateActivity *a)
{
	return a->updated + a->deleted - simulate_young(t, a);
}

/* Rows that were inserted, and new versions on other pages than the old ones. */
static inline double
simulate_added(const SimulateActivity *a)
{
	double		cold = a->updated - a->hot_updated;

	return a->inserted + (cold > 0 ? cold : 0);
}

/* What a vacuum would meet, but for what has changed. */
extern VacuumWork simulate_table_work(const SimulateTable *t, double live, double cold);

/* Before the first hour. */
extern void simulate_table_begin(SimulateTable *t, const SimulateRules *r, double now);

/*
 * From now on what it does is that of the hour.  Without one it does nothing.
 */
extern void simulate_table_hour(SimulateTable *t, int hour, double seconds, bool second_half);

/* Pages that it fills in a second, if pg_sweep's own rules for inserted rows hold. */
extern double simulate_table_new_pages_s(const SimulateTable *t);

/* Brings what is counted up to that time. */
extern void simulate_table_advance(SimulateTable *t, double now);

/* It must have been brought up to now. */
extern SimulateDue simulate_table_due(const SimulateTable *t, const SimulateRules *r,
									  const SimulateMoment *m);

/*
 * Before that time it cannot be due, if nothing but time changes.  HUGE_VAL
 * means never.
 */
extern double simulate_table_next(const SimulateTable *t, const SimulateRules *r, double now);

extern double simulate_table_score(const SimulateTable *t, const SimulateRules *r);

extern VacuumCost simulate_table_vacuum_begin(SimulateTable *t, const SimulateRules *r,
											  bool second_half);
extern void simulate_table_vacuum_end(SimulateTable *t, const SimulateRules *r, double now,
									  const VacuumCost *cost);

#endif							/* SWEEP_POLICY_SIMULATE_TABLE_H */
