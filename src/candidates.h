/*
 * candidates.h
 *		The tables of one database, with all that is needed to decide.
 */
#ifndef SWEEP_CANDIDATES_H
#define SWEEP_CANDIDATES_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/rel.h"

#include "policy/score.h"
#include "policy/threshold.h"
#include "shmem.h"
#include "table_settings.h"

/* Whose a table is: catalogs come first, see sweep.scope. */
typedef enum Lane
{
	LANE_CATALOG,				/* pg_catalog and its TOAST tables */
	LANE_AUX,					/* other TOAST tables, sweep.aux_schemas */
	LANE_USER
} Lane;

typedef enum DueReason
{
	DUE_NOT,
	DUE_DEAD,					/* dead rows */
	DUE_INSERTED,				/* inserted rows */
	DUE_CHECKPOINT,				/* new pages, and a checkpoint is near */
	DUE_INSERTS_ENDED,			/* new pages, and no more are coming */
	DUE_UNKNOWN					/* counters lost, map not all-visible */
} DueReason;

typedef struct Candidate
{
	DecisionKey key;			/* dboid invalid: shared catalog */
	Lane		lane;
	char		relkind;
	char		schemaname[NAMEDATALEN];
	char		relname[NAMEDATALEN];
	bool		catalog;
	bool		catalog_horizon;	/* logical slots hold its rows back */
	bool		temporary;
	AutoVacOpts *opts;			/* NULL: none */
	ThresholdSettings settings;
	const TableSettings *own;	/* by sweep.set(); NULL: none */
	Oid			settings_of;	/* whose they are: of a TOAST table its table */
	bool		enabled;		/* autovacuum_enabled, or by sweep.set() */
	bool		counted;		/* it has statistics, or had them */
	int32		xid_age;		/* of its oldest transaction id */
	int32		mxid_age;
	int32		xid_limit;		/* at which core vacuums it in any case */
	int32		mxid_limit;
	double		reltuples;
	int64		pages;			/* as of the last VACUUM or ANALYZE */
	int64		frozen_pages;	/* likewise; 0: the server does not know */
	int64		live;
	int64		dead;
	int64		ins;
	int64		mod;			/* since the last ANALYZE */
	int64		inserted;		/* so far */
	int64		changed;		/* updated and deleted so far */
	int64		vacuums;		/* so far */
	bool		vacuumed_now;	/* we have just done so */
	bool		history_lost;	/* the counters do not go back to a vacuum */
	Decision   *decision;		/* what is remembered; NULL: nothing */
	TableMemory memory;
	double		rows_per_page;
	double		core_insert;	/* threshold without pg_sweep's own rules */
	TimestampTz turn_at;		/* when lost history is made up for */
	bool		turn_to_come;	/* that was later than when it was weighed */
	bool		uncounted;		/* its turn, but it is locked */
	double		ins_early;		/* see Decision */
	bool		waits_for_checkpoint;	/* though due by inserted rows */
	bool		checkpoint_aware;	/* its own setting, or the server's */
	DueReason	due;
	TimestampTz overdue_since;	/* beyond sweep.max_wait; 0: is not */
	TimestampTz analyzed_at;	/* by a user; 0: never */
	TimestampTz autoanalyzed_at;
	TimestampTz vacuumed_at;	/* by anybody; 0: never */
	Thresholds	thresholds;
	Score		score;
	bool		wraparound_near;	/* core's own vacuum is close */
} Candidate;

/*
 * Reads all tables of this database that have statistics; in a transaction of
 * its own; the list and its contents are in the current memory context.
 */
extern List *candidates_read(bool catalogs_only);

/* The same within the caller's transaction. */
extern List *candidates_collect(bool catalogs_only);

extern const char *lane_name(Lane lane);

/* The shortest time between two vacuums of it, in seconds. */
extern int64 candidate_min_interval_s(const Candidate *c);

/* By sweep.scope. */
extern bool candidate_is_in_scope(const Candidate *c);

/*
 * One table, whether it has statistics or not; NULL: it is gone.  Its own
 * transaction.
 */
extern Candidate *candidate_find(Oid relid);

/*
 * Reads one again; false when it is gone, or, the first, has no statistics.
 * Its own transaction.
 */
extern bool candidate_refresh(Candidate *c);
extern bool candidate_is_there(Candidate *c);

#endif							/* SWEEP_CANDIDATES_H */
