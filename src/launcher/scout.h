/*
 * scout.h
 *		Finds tables in need in all databases at once.
 */
#ifndef SWEEP_SCOUT_H
#define SWEEP_SCOUT_H

#include "postgres.h"

#include "access/transam.h"
#include "datatype/timestamp.h"
#include "pgstat.h"
#include "utils/hsearch.h"

#include "policy/threshold.h"

/* What a round finds in a database.  An entry of a hash by dboid. */
typedef struct ScoutDatabase
{
	Oid			dboid;			/* hash key (invalid: shared catalogs) */
	int64		relations;
	int64		due;			/* for a worker to take now */
	int64		due_catalogs;	/* how many of these are catalogs */
	int64		waiting;		/* in sweep.queue: the due ones, and those
								 * that have to wait */
	int64		sparse;			/* for a cleaner to look at */
	int64		dead_tuples;
	int64		changes;		/* sum of all counters, to see activity */
	int64		class_changes;	/* rows of pg_class that were written, ever */
	double		urgency;		/* highest score among the due ones */
	int64		requested;		/* tables that somebody asked for */
	int64		requested_catalogs; /* how many of these are catalogs */
	TimestampTz reset_at;		/* of its statistics (0: never) */
	/* within this round, for tables and for catalogs */
	bool		horizon_known[2];
	FullTransactionId horizon[2];
} ScoutDatabase;

extern HTAB *scout_create_databases(MemoryContext context);

typedef struct ScoutReport
{
	int64		relations;
	double		max_lock_ms;	/* the longest time that one of 128 partitions
								 * was locked, shared */
	double		cpu_ms;			/* processor time */
	bool		catalogs_due;
	bool		checkpoint_wanted;	/* a table has new rows, and waits for a
									 * checkpoint */
	TimestampTz wake_at;		/* when a table's wait ends before the next
								 * round (0: none) */
} ScoutReport;

/*
 * Reads the statistics of all relations of all databases, and fills
 * databases.
 */
extern ScoutReport scout_round(HTAB *databases, TimestampTz now);

#endif							/* SWEEP_SCOUT_H */
