/*
 * trial.h
 *		What pg_sweep would have done in mode observe, and what others did.
 */
#ifndef SWEEP_TRIAL_H
#define SWEEP_TRIAL_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "state/decisions.h"

/* So many tables have sums of their own.  All others share one more. */
#define SWEEP_TRIAL_LIMIT	1000

/* A range: an estimate lies somewhere in it. */
typedef struct TrialRange
{
	int64		least;
	int64		most;
} TrialRange;

/*
 * The sums of one table.  Writers: a worker, of what would have been done,
 * and the launcher, of what was.  Protection: LOCK_TRIAL.
 */
typedef struct TrialTable
{
	DecisionKey key;			/* no relid: all tables without a place */
	char		schemaname[NAMEDATALEN];
	char		relname[NAMEDATALEN];

	/* what would have been done */
	int64		vacuums;
	int64		insert_vacuums; /* of these, for inserted rows only */
	TimestampTz first_at;
	TimestampTz last_at;
	TrialRange	read;			/* pages, with indexes */
	TrialRange	dirtied;
	int64		frozen;			/* pages that would have been frozen early */
	int64		dead;			/* rows, when it was last looked at */
	int64		inserted;
	double		core_threshold; /* of dead rows, for core (negative: it does
								 * not come) */
	double		core_insert;	/* of inserted rows (negative: never) */

	/* since the first of those that others have not made up for (0: none) */
	TimestampTz waiting_since;
	int64		pages_then;

	/* what was done */
	int64		autovacuums;
	int64		autovacuum_read;
	int64		autovacuum_dirtied;
	int64		manual_vacuums;
	int64		followed;		/* of both, while it waited */
	int64		ahead_us;		/* how long it had waited then, in all */
	int64		grown;			/* pages by which the table had grown then */
} TrialTable;

typedef struct TrialState
{
	TimestampTz since;			/* the mode became observe (0: never) */
	TimestampTz until;			/* it is no longer (0: it is) */
	uint64		runs_seen;		/* see ledger_read_new() */
	int			count;
	TrialTable	tables[SWEEP_TRIAL_LIMIT + 1];	/* the last one is the others' */
} TrialState;

/*
 * Is the table still as it was after the vacuum that was noted?  It is not if
 * others have vacuumed it (the count has changed), or truncated it (there are
 * fewer new rows than then).  ins is the counter of the statistics.
 */
extern bool trial_holds(const TrialDone *done, int64 vacuums, int64 ins);

/*
 * What would be left of the counters, if the vacuums that were noted had been
 * made.  vacuums is how often the table was vacuumed so far, changed how many
 * of its rows were updated and deleted.  Only in mode observe is anything
 * taken off.
 */
extern void trial_take_off(const TrialDone *done, int64 vacuums, int64 changed, int64 *dead, int64 *ins);

/* A vacuum that would have been made. */
typedef struct TrialVacuum
{
	bool		for_inserts;
	TrialRange	read;
	TrialRange	dirtied;
	int64		frozen;
	int64		pages;
	int64		dead;
	int64		inserted;
	double		core_threshold;
	double		core_insert;
} TrialVacuum;

/* A worker notes it. */
extern void trial_note(DecisionKey key, const char *schemaname, const char *relname,
					   const TrialVacuum *vacuum);

/*
 * The launcher, in each round: begins when the mode is observe, counts what
 * has ended since, and ends when it is not.
 */
extern void trial_follow(void);

/* Copies it, palloc'd.  The tables in no particular order, the others last. */
extern TrialTable *trial_copy(int *count, TimestampTz *since, TimestampTz *until);

/* Moves all times after the clock was set back. */
extern void trial_set_back(int64 us);

#endif							/* SWEEP_TRIAL_H */
