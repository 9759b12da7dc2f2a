/*
 * policy/simulate.h
 *		What would other settings have done with what users did?  Pure.
 *
 * Recorded is, for each hour and table, how many rows users changed.  A clock
 * goes through these hours once more, with other rules.  Whether a table is
 * due, which comes first and how long it has to wait is decided by the same
 * functions that decide for real tables: threshold, insert, score, order,
 * min_interval, freeze, windows and share.  What a vacuum costs is a model
 * (vacuum_cost), corrected by what vacuums of the table have cost.
 *
 * The clock goes from event to event and not in steps: a table is due, a
 * vacuum ends, a checkpoint comes, a window begins, an hour ends.  Within an
 * hour all rates are constant, so it is known when a threshold will be passed.
 * A table that is due twice a day takes two events, and one that is due every
 * second is met as exactly.  So the time goes with the number of vacuums.
 *
 * The caller has all memory.  Times are seconds since any moment that is the
 * same for all.
 */
#ifndef SWEEP_POLICY_SIMULATE_H
#define SWEEP_POLICY_SIMULATE_H

#include <stdbool.h>

#include "insert.h"
#include "score.h"
#include "threshold.h"
#include "vacuum_cost.h"
#include "windows.h"

/* More vacuums than can run at a time, with the catalogs' own. */
#define SIMULATE_JOBS_LIMIT		64

/* An hour that was recorded. */
typedef struct SimulateHour
{
	double		begin;
	double		seconds;
	int			minute;			/* of the day when it begins, for windows */
} SimulateHour;

/* What users did to a table in an hour, and what vacuums did. */
typedef struct SimulateActivity
{
	int			hour;			/* number in the array of hours */
	double		inserted;		/* rows */
	double		updated;		/* rows, with the next */
	double		hot_updated;
	double		deleted;
	double		live;			/* rows at its end */
	double		dead;			/* likewise (negative: unknown) */

	double		runs;			/* vacuums that ended in it */
	double		removed;		/* rows that they removed (0: unknown) */
	double		others;			/* vacuums that are not simulated, by hand
								 * say: of these it is not known */
	VacuumCost	made;			/* what they read and dirtied, and the time
								 * that they did not sleep */
} SimulateActivity;

/* What recorded vacuums have taught about a table. */
typedef struct SimulateLearned
{
	double		hot_kept;		/* of the HOT-updated rows, the share that is
								 * still counted as dead when a vacuum comes.
								 * Queries prune the others. */
	VacuumCorrection cost;
} SimulateLearned;

/* What is said of an hour, or of a table. */
typedef struct SimulateSum
{
	double		vacuums;
	double		insert_vacuums; /* of these, for inserted rows only */
	double		read;			/* pages */
	double		dirtied;
	double		busy_s;			/* of all workers */
	double		dead_mean;		/* rows of all its tables */
	double		dead_most;		/* rows that one table had */
	double		waiting;		/* most tables at a time that were due and not
								 * vacuumed */
} SimulateSum;

typedef enum SimulateDue
{
	SIMULATE_NOT_DUE,
	SIMULATE_DUE_DEAD,
	SIMULATE_DUE_INSERTED,
	SIMULATE_DUE_CHECKPOINT
} SimulateDue;

/* Where a table is while the clock goes.  simulate_table.c writes it. */
typedef struct SimulateState
{
	int			next_activity;
	double		at;				/* up to which time the rest is */
	double		live;			/* rows */
	double		dead;			/* rows that left index entries */
	double		dead_hot;		/* and that did not */
	double		inserted;		/* rows since the last vacuum */
	double		changed;		/* since then: see VacuumWork, with the next */
	double		added;
	double		young;
	double		known_live;		/* rows and pages when it was vacuumed */
	double		known_pages;
	double		vacuumed_at;
	double		frozen_pages;
	bool		eager;
	int			costly;
	VacuumLeft	left;
	double		fit_share;		/* its part of the new pages of all tables, in
								 * this hour */
	double		not_before;
	double		follow_at;

	double		live_s;			/* what comes each second */
	double		dead_s;
	double		dead_hot_s;
	double		inserted_s;
	double		changed_s;
	double		added_s;
	double		young_s;

	double		dead_area;		/* dead rows times seconds, in this hour */
	double		dead_most;		/* in this hour */
	bool		busy;			/* it waits, or is being vacuumed */
	SimulateDue due;
	double		due_since;
	double		begun_changed;	/* when its vacuum began */
	double		begun_added;
	double		begun_young;
	double		begun_inserted;
} SimulateState;

typedef struct SimulateTable
{
	const SimulateActivity *activity;	/* by hour */
	int			activities;

	/* rules */
	bool		catalog;
	bool		enabled;
	bool		own_inserts;	/* pg_sweep's own rules for inserted rows hold */
	bool		checkpoint_aware;	/* with these: sweep.checkpoint_aware */
	ThresholdSettings settings;
	InsertSettings inserts;
	double		interval_s;
	bool		short_intervals;	/* after short vacuums it is less */
	double		write_s;		/* see VacuumWork: in the recorded hours */

	/* at the end of the last hour */
	double		rows;
	double		pages;
	double		frozen_pages;
	double		index_pages;
	double		indexes;		/* their number */

	/* when the first hour begins.  Negative: unknown, here and below. */
	double		dead_begin;
	double		inserted_begin;

	SimulateLearned learned[2]; /* before and from Simulation.half on */

	SimulateSum sum;			/* out */
	SimulateState state;
} SimulateTable;

typedef struct SimulateRules
{
	bool		act;			/* pg_sweep comes, or else autovacuum */
	bool		core_knows_frozen;	/* its insert threshold is that of the
									 * unfrozen part */
	int			workers;
	bool		catalog_place;	/* one worker more, for catalogs */
	double		look_s;			/* between two looks at all tables */
	double		report_s;		/* between two times that a session reports
								 * what it has done */
	double		max_wait_s;
	double		follow_s;		/* see INSERT_FOLLOW_MS */
	double		checkpoint_s;	/* between two checkpoints for which growing
								 * tables are vacuumed (0: none) */
	double		write_s;		/* see VacuumWork (0: as in the recorded
								 * hours) */
	double		read_limit;		/* MB/s (0, here and below: not limited) */
	double		write_limit;
	Windows		windows;
	double		page_bytes;
	ScoreWeights weights;
	double		cost_hit;		/* vacuum_cost_page_*, for which inserts were
								 * worth a vacuum */
	double		cost_miss;
	double		cost_dirty;
} SimulateRules;

typedef struct Simulation
{
	SimulateRules rules;
	const SimulateHour *hours;
	int			hours_count;
	int			half;			/* the first hour of the second half */
	SimulateTable *tables;
	int			tables_count;

	/* room for each hour, and twice for each table */
	SimulateSum *by_hour;		/* out */
	double	   *next_at;
	int		   *waiting;

	void		(*interrupts) (void);	/* called now and then.  May not
										 * return. */
} Simulation;

/*
 * What do the recorded vacuums teach?  Fills what is learned of each table.
 * With back_test each half of the hours is told by what the other half
 * teaches.
 */
extern void simulate_learn(Simulation *s, bool back_test);

extern void simulate(Simulation *s);

/*
 * In how many seconds will the oldest transaction id be that old, if as many
 * are used each second?  0 if it is already, negative if never.
 */
extern double simulate_seconds_to_age(double age, double limit, double ids_s);

#endif							/* SWEEP_POLICY_SIMULATE_H */
