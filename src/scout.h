/*
 * scout.h
 *		Finds tables in need in all databases at once.
 */
#ifndef SWEEP_SCOUT_H
#define SWEEP_SCOUT_H

#include "shmem.h"
#include "pgstat.h"
#include "utils/hsearch.h"

#include "policy/threshold.h"

/* What a round finds in a database; an entry of a hash by dboid. */
typedef struct ScoutDatabase
{
	Oid			dboid;			/* hash key; invalid: shared catalogs */
	int64		relations;
	int64		due;
	int64		due_catalogs;	/* of them */
	int64		dead_tuples;
	int64		changes;		/* sum of all counters, to see activity */
	double		urgency;		/* highest score among the due ones */
	int64		requested;		/* tables that somebody asked for */
	int64		requested_catalogs; /* of them */
	TimestampTz reset_at;		/* of its statistics; 0: never */
	/* within this round, for tables and for catalogs */
	bool		horizon_known[2];
	FullTransactionId horizon[2];
} ScoutDatabase;

extern HTAB *scout_create_databases(MemoryContext context);

typedef struct ScoutReport
{
	int64		relations;
	double		max_lock_ms;	/* one of 128 partitions, locked, shared */
	double		cpu_ms;			/* processor time */
	bool		catalogs_due;
	bool		checkpoint_wanted;	/* a table has new rows for it to wait for */
	TimestampTz wake_at;		/* a table's waiting ends before the next
								 * round; 0 */
} ScoutReport;

/*
 * Reads the statistics of all relations of all databases; fills databases.
 */
extern ScoutReport scout_round(HTAB *databases, TimestampTz now);

/* A table's counters, without connecting to its database. */
extern bool scout_read_relation(Oid dboid, Oid relid, PgStat_StatTabEntry *entry);

/*
 * Not a catalog, nothing remembered: large, taking rows, and how much of it is
 * frozen is not known?  Then a worker looks, and remembers what it finds.
 */
extern bool scout_is_worth_a_look(const ThresholdSettings *settings, int64 live, int64 ins);

/* The settings of the thresholds, for catalogs or for other tables. */
extern ThresholdSettings scout_server_settings(bool catalog);

#endif							/* SWEEP_SCOUT_H */
