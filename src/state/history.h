/*
 * history.h
 *		What all runs of the last hour, of the last day and of all time came to.
 *
 * The ledger keeps single runs, up to a number of them.  This keeps sums, for
 * a fixed time.  It keeps those of all tables by the minute for an hour, and
 * by the hour for a day.  Those of each table it keeps by the hour for a day.
 * One sum of all tables never ends, for those who watch it grow.
 */
#ifndef SWEEP_HISTORY_H
#define SWEEP_HISTORY_H

#include "state/run.h"

typedef enum HistoryKind
{
	HISTORY_MINUTE,				/* of all tables */
	HISTORY_HOUR,				/* of all tables */
	HISTORY_ALL,				/* of all tables, since it began */
	HISTORY_TABLE,				/* of one table, by the hour */
	HISTORY_KIND_COUNT
} HistoryKind;

/* What the runs of one command and starter came to that ended in one step of time. */
typedef struct HistorySum
{
	TimestampTz begin;			/* of the step, or 0: nothing is kept here */
	Oid			dboid;			/* invalid: of all tables */
	Oid			relid;
	uint8		kind;			/* HistoryKind */
	uint8		command;		/* RunCommand */
	uint8		starter;		/* RunStarter */
	int64		last_run_id;	/* the last that is counted */
	TimestampTz last_at;		/* when it ended */
	int64		ended[RUN_OUTCOME_COUNT];
	RunCounters used;
	int64		cost;
	int64		run_us;
	int64		delay_us;		/* as far as it is known */
	int64		tuples_removed; /* likewise */
	int64		dead_not_removable; /* by the last that told, -1: none did */
} HistorySum;

typedef struct HistoryRecord
{
	HistorySum	sum;
	char		schemaname[NAMEDATALEN];	/* empty: unknown, or all tables */
	char		relname[NAMEDATALEN];
} HistoryRecord;

/* More steps than an hour and a day have: a clock that is set back makes some more. */
#define HISTORY_MINUTES	64
#define HISTORY_HOURS	28
#define HISTORY_STEPS	(HISTORY_MINUTES + HISTORY_HOURS + 1)
#define HISTORY_SORTS	(RUN_STARTER_COUNT * (RUN_COMMAND_COUNT - 1))

/* Sums of tables and hours per bucket. */
#define HISTORY_WAYS	8

/* Every process writes it at the end of a run, under LOCK_LEDGER. */
typedef struct HistoryState
{
	TimestampTz since;			/* nothing is missing of what ended later */
	TimestampTz since_of[HISTORY_TABLE];	/* the same, where steps had to
											 * make room, or 0: none had to */
	TimestampTz begins[HISTORY_STEPS];	/* 0: free */
	TimestampTz reset_at;		/* when it was emptied (0: not since the
								 * server's start) */
	HistorySum	sums[HISTORY_STEPS][HISTORY_SORTS];
} HistoryState;

/* For so many runs that are kept there are so many sums of tables, in all. */
extern int	history_table_places(void);

/* It begins, empty, at the server's start. */
extern void history_begin(void);

/*
 * Empties it.  From now on it is complete.  The caller holds LOCK_LEDGER.
 */
extern void history_reset(void);

/* When it was emptied since the server's start, or 0.  Takes LOCK_LEDGER. */
extern TimestampTz history_reset_at(void);

/* Not all runs were seen before that time.  Takes LOCK_LEDGER. */
extern void history_incomplete_before(TimestampTz when);

/* Counts a run, with its number.  The caller holds LOCK_LEDGER. */
extern void history_add(const RunRecord *run);

/* The server's clock was set back by so much. */
extern void history_set_back(int64 us);

/*
 * For the file.  history_copy() copies those of the next places from *next
 * on, at most limit of them, and says how many.  *next is -1 at the end.
 */
extern int	history_copy(HistoryRecord *to, int limit, int64 *next);
extern int64 history_places(void);
extern bool history_is_sane(const HistoryRecord *record);

/*
 * At the server's start.  What is kept already was counted by no number of
 * the file.  history_load() adds what the file has.  Then
 * history_count_late() counts the runs that came later.  The caller holds
 * LOCK_LEDGER.
 */
extern void history_load(const HistoryRecord *records, int count, TimestampTz since);
extern void history_count_late(const RunRecord *run);

/* ---- for the views ---- */

/* Now, by the clock that the sums have. */
extern TimestampTz history_now(void);

/* Where a starter's runs of a command are among the sums of a step. */
extern int	history_sort(int starter, int command);

/* Does a step that begins then lie within the hour, the day or the life of its kind? */
extern bool history_is_recent(HistoryKind kind, TimestampTz begin, TimestampTz now);

extern void history_add_sum(HistorySum *to, const HistorySum *from, int sign);

/*
 * The totals of all tables.  Also tells from which time on they are, and
 * since when nothing is missing.
 */
extern void history_totals(HistoryKind kind, HistorySum totals[HISTORY_SORTS],
						   TimestampTz *since, TimestampTz *complete_since);

#endif							/* SWEEP_HISTORY_H */
