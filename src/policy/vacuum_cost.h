/*
 * policy/vacuum_cost.h
 *		What does a vacuum cost, by what has changed since the last one?  Pure.
 *
 * It is a model, for vacuums of the past or of the future, whose pages nobody
 * can look at.  trial_cost.h estimates from a sample of pages as they are.
 * Both share how many pages scattered rows meet, and which all-visible pages
 * are read between those.  So the cost saturates: ten times the dead rows do
 * not lie on ten times the pages.
 *
 * What is in memory is not known, nor how close together the rows lie.  What
 * the model is wrong by is learned for each table from vacuums that were made.
 *
 * A page that users have dirtied, and that is still in memory and not written
 * yet, costs a vacuum nothing to dirty.  Checkpoints write each page once in
 * their interval.  So it counts how long ago the last change of a page was, and
 * where vacuums come more often they dirty less at each time.
 *
 * Rows that die young lie where the last rows were added, and so do their index
 * entries.  These few pages are filled again and again, and are nearly always
 * dirty.
 */
#ifndef SWEEP_POLICY_VACUUM_COST_H
#define SWEEP_POLICY_VACUUM_COST_H

#include <stdbool.h>

/* A table, and what has happened to it since its last vacuum. */
typedef struct VacuumWork
{
	double		pages;
	double		index_pages;	/* of all its indexes */
	double		indexes;		/* their number */
	double		rows_per_page;
	double		changed;		/* rows updated and deleted, anywhere */
	double		added;			/* rows inserted, and new versions on other
								 * pages than the old ones */
	double		dead;			/* rows that have left index entries */
	double		young;			/* of these, rows that were added and deleted
								 * in that time, and are not among changed */
	double		left;			/* dead rows whose index entries the last
								 * vacuums have left */
	bool		all_indexes;	/* they are vacuumed in any case */
	double		seconds;		/* in which all that has happened */
	double		write_s;		/* between two writes of a page (0: not known,
								 * then none is dirty) */
	double		cold;			/* share of the pages that is not in memory */
} VacuumWork;

typedef struct VacuumCost
{
	double		scanned;		/* pages of the table */
	double		read;			/* pages, with indexes */
	double		dirtied;		/* likewise */
	double		touched;		/* pages that it would dirty if all were clean */
	double		seconds;		/* if nothing limits it */
	bool		indexes;		/* they are vacuumed */
} VacuumCost;

extern VacuumCost vacuum_cost(const VacuumWork *work);

/*
 * What vacuums leave that leave the indexes out.  The pages with these rows
 * are read again by the next one.
 */
typedef struct VacuumLeft
{
	double		rows;
	double		read;			/* old pages that the last one has read */
	double		read_again;		/* and all since the indexes were vacuumed */
} VacuumLeft;

/*
 * The same after those vacuums, and what this one leaves.  If it is due by
 * inserted rows, by pg_sweep's own rules, it vacuums the indexes once so many
 * pages were read again.  A page that is read costs as much as `read` tells.
 */
extern VacuumCost vacuum_cost_after(VacuumWork *work, VacuumLeft *left, bool own_inserts, double read);

/* Factors.  They are 1 where nothing was learned. */
typedef struct VacuumCorrection
{
	double		runs;			/* from which it was learned */
	double		read;
	double		dirtied;
	double		seconds;
} VacuumCorrection;

extern VacuumCorrection vacuum_correction_none(void);

/*
 * modelled and actual are sums over so many runs.  A few runs do not move the
 * factor all the way from what is assumed without any.
 *
 * A checkpoint writes the pages of a table one after the other, so a vacuum
 * meets many clean ones or none.  Where most are dirty in memory, many runs
 * are needed to know how many it dirties on average.
 */
extern VacuumCorrection vacuum_correction_learn(const VacuumCost *modelled,
												const VacuumCost *actual, double runs,
												const VacuumCorrection *otherwise);

extern VacuumCost vacuum_cost_correct(VacuumCost cost, const VacuumCorrection *c);

/* Adds it so many times. */
extern void vacuum_cost_add(VacuumCost *sum, const VacuumCost *cost, double times);

#endif							/* SWEEP_POLICY_VACUUM_COST_H */
