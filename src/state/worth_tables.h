/*
 * worth_tables.h
 *		What garbage costs the index scans of tables, and what vacuums brought.
 */
#ifndef SWEEP_WORTH_TABLES_H
#define SWEEP_WORTH_TABLES_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "policy/worth.h"
#include "settings.h"
#include "state/decisions.h"
#include "state/run.h"

/* So many tables are followed, those whose indexes were scanned most. */
#define WORTH_TABLES_LIMIT	1000

/* A table with more indexes is not followed. */
#define WORTH_INDEXES_LIMIT	32

/* What is to be counted: the indexes, how much inserting into them takes, and how large all is. */
typedef struct WorthIndexes
{
	int			count;
	Oid			oids[WORTH_INDEXES_LIMIT];	/* in ascending order */
	double		levels;			/* sum of worth_levels() */
	double		pages;			/* of the table and its indexes */
} WorthIndexes;

/*
 * One table.  Writers: workers put it here with its indexes, and begin it anew
 * when these have changed.  All else is the launcher's.  Protection:
 * LOCK_WORTH.
 */
typedef struct WorthTable
{
	DecisionKey key;
	int64		serial;			/* another one whenever it begins anew */
	WorthIndexes indexes;
	int64		scans;			/* of its indexes, when it was put here or
								 * counted last */
	Worth		worth;
	bool		counted;		/* the next two are there */
	WorthCounters counters;
	TimestampTz counted_at;
	TimestampTz scanned_at;		/* when it was last counted that had scans */
	TimestampTz vacuumed_at;	/* the last vacuum that was seen (0: none) */
	int64		run_id;			/* of that (0: none) */

	/*
	 * A vacuum's own fetches are in the statistics once its process has
	 * reported them.  Until then nothing is counted.
	 */
	int			settling_pid;	/* that process (0: settled) */
	TimestampTz settled_at;		/* it has reported by then, if it does nothing
								 * like that again */
	bool		settles_at_exit;	/* it reports when it ends, not before */
	SweepMode	due_in;			/* the mode in which it was due by what was
								 * lost, when it was counted (SWEEP_OFF: it
								 * was not due) */
	bool		unrecorded;		/* the statistics tell of a vacuum that is in
								 * no run so far */
} WorthTable;

typedef struct WorthState
{
	uint64		runs_seen;		/* see ledger_read_new() */
	int64		last_serial;
	int			count;
	WorthTable	tables[WORTH_TABLES_LIMIT];
} WorthState;

/*
 * A worker has the table followed.  If it is already and has the same indexes,
 * nothing changes.  If there is no room, the table with the fewest scans makes
 * room.
 */
extern void worth_tables_put(DecisionKey key, const WorthIndexes *indexes, int64 scans);

/* A worker forgets the tables of its database for which keep() is false. */
extern void worth_tables_forget(bool (*keep) (DecisionKey key, void *arg), void *arg);

/*
 * The next table, from *place on, that is to be counted now.  Returns false
 * after the last one.
 */
extern bool worth_tables_next(int *place, TimestampTz now, WorthTable *copy);

/* The launcher writes back what it has counted, unless a worker has begun it anew. */
extern void worth_tables_write(const WorthTable *table);

/* The launcher: what ended since. */
extern void worth_tables_follow_runs(void);

/* Copies all, palloc'd. */
extern WorthTable *worth_tables_copy(int *count);

/* A table whose index scans have lost as many reads as a vacuum costs. */
typedef struct WorthDue
{
	Oid			relid;
	double		lost_reads;
	double		cost;			/* blocks */
} WorthDue;

/* Copies those of a database, and returns how many. */
extern int	worth_tables_due(Oid dboid, WorthDue due[WORTH_TABLES_LIMIT]);

/* Counts a table from the statistics.  False if it has none. */
extern bool worth_tables_read(const WorthTable *table, WorthCounters *counters, double *dead_share);

/*
 * Takes in what was counted since the last time.  The launcher does that, and
 * a view with its copy.
 */
extern void worth_tables_count(WorthTable *table, const WorthCounters *counters, double dead_share,
							   TimestampTz now);

/* Vacuums were not recorded until now. */
extern void worth_tables_begin_again(void);

/* Moves all times after the clock was set back. */
extern void worth_tables_set_back(int64 us);

/* When shared memory was made. */
extern void worth_tables_begin(void);

#endif							/* SWEEP_WORTH_TABLES_H */
