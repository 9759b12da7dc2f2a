/*
 * candidate.h
 *		A table of this database, with all that is needed to decide, and what
 *		can be told from that at once.
 */
#ifndef SWEEP_CANDIDATE_H
#define SWEEP_CANDIDATE_H

#include "postgres.h"

#include "utils/rel.h"

#include "exported.h"
#include "policy/score.h"
#include "policy/threshold.h"
#include "state/decisions.h"
#include "state/table_settings.h"

/* Whose table is it?  Catalogs come first, see sweep.scope. */
typedef enum Lane
{
	LANE_CATALOG,				/* the server's own, and their TOAST tables */
	LANE_AUX,					/* other TOAST tables, what extensions keep in
								 * pg_catalog, sweep.aux_schemas */
	LANE_USER
} Lane;

typedef enum DueReason
{
	DUE_NOT,
	DUE_DEAD,					/* dead rows */
	DUE_INSERTED,				/* inserted rows */
	DUE_CHECKPOINT,				/* new pages, and a checkpoint is near */
	DUE_INSERTS_ENDED,			/* new pages, and no more are coming */
	DUE_UNKNOWN,				/* counters lost, and the map is not
								 * all-visible */
	DUE_LOST_READS,				/* index scans have lost as much by garbage as
								 * a vacuum costs */
	DUE_AGE						/* its oldest ids, and nothing else */
} DueReason;

/* What pg_class says.  candidates.c writes this, and the two structs below. */
typedef struct CandidateRow
{
	Lane		lane;
	char		relkind;
	char		schemaname[NAMEDATALEN];
	char		relname[NAMEDATALEN];
	bool		catalog_horizon;	/* logical slots hold its rows back */
	bool		temporary;
	int32		xid_age;		/* of its oldest transaction id */
	int32		mxid_age;
	TransactionId frozenxid;	/* that id, and the multixact */
	MultiXactId minmxid;
	double		reltuples;
	int64		pages;			/* as of the last VACUUM or ANALYZE */
	int64		frozen_pages;	/* as of the same (0: the server does not
								 * know) */
} CandidateRow;

/* What is set for the table. */
typedef struct CandidateRules
{
	AutoVacOpts *opts;			/* NULL: none */
	const TableSettings *own;	/* by sweep.set() (NULL: none) */
	Oid			settings_of;	/* the table whose settings these are: for a
								 * TOAST table the one it belongs to */
	ThresholdSettings settings;
	bool		enabled;		/* by autovacuum_enabled or sweep.set() */
	bool		index_cleanup;	/* vacuum_index_cleanup is on or off */
	int32		xid_limit;		/* at which core vacuums it in any case */
	int32		mxid_limit;
} CandidateRules;

/* What the statistics say. */
typedef struct CandidateCounters
{
	bool		counted;		/* it has statistics, or had them */
	int64		live;
	int64		dead;
	int64		ins;
	int64		mod;			/* since the last ANALYZE */
	int64		inserted;		/* so far */
	int64		changed;		/* updated and deleted so far */
	int64		fetched;		/* blocks so far, without indexes */
	int64		vacuums;		/* so far */
	int64		analyzes;		/* so far */
	bool		unknown;		/* neither statistics nor pg_class know of any
								 * row, as after pg_upgrade */
	bool		history_lost;	/* the counters do not go back to a vacuum */
	TimestampTz analyzed_at;	/* by a user (0: never) */
	TimestampTz autoanalyzed_at;
	TimestampTz vacuumed_at;	/* by anybody (0: never) */
} CandidateCounters;

/* What follows from all that.  weigh.c writes it, and turn.c. */
typedef struct CandidateWeight
{
	Thresholds	thresholds;
	Score		score;
	DueReason	due;
	double		rows_per_page;
	double		core_insert;	/* threshold without pg_sweep's own rules */
	double		ins_early;		/* see Decision */
	double		ins_follow;		/* see Decision */
	double		ins_fit;		/* with more new rows those of all tables do
								 * not fit the cache (0: they fit) */
	bool		waits_for_checkpoint;	/* although it is due by inserted rows */
	bool		checkpoint_aware;	/* its own setting, or the server's */
	TimestampTz turn_at;		/* when lost history is made up for */
	bool		turn_to_come;	/* turn_at was yet to come when the table was
								 * weighed */
	bool		uncounted;		/* it is its turn, but the table is locked */
	bool		unreadable;		/* an error has kept its map from being
								 * counted */
	double		lost_reads;		/* by index scans, if it is due by that */
	double		vacuum_blks;	/* what a vacuum costs then */
	bool		age_due;		/* it is to be frozen, whatever it is due by */
	bool		quiet;			/* its rows hardly change */
	double		freeze_share;	/* of its limits: it is frozen at that age */
} CandidateWeight;

typedef struct Candidate
{
	DecisionKey key;			/* dboid invalid: shared catalog */
	CandidateRow row;
	CandidateRules rules;
	CandidateCounters counters;
	bool		vacuumed_now;	/* we have just vacuumed it (set by
								 * table_vacuum.c) */

	/* weigh.c */
	Decision   *decision;		/* what is remembered (NULL: nothing) */
	TableMemory memory;
	bool		tried;			/* by a worker in mode observe */
	TrialDone	trial;			/* taken off the counters, if it is on */
	CarryOver	carried;		/* added to them, if it is on */
	CandidateWeight weight;

	TimestampTz overdue_since;	/* since when it waits beyond QUEUE_MAX_WAIT_S
								 * (0: it does not), set by overdue.c */
} Candidate;

extern const char *lane_name(Lane lane);
extern PGDLLEXPORT Lane lane_of(Oid relid, const char *schemaname);

/*
 * The shortest time between two vacuums of the table, in seconds.  Unless the
 * table has a value of its own, it is no longer than the time that core
 * leaves between two looks at a database.
 */
extern int64 candidate_min_interval_s(const Candidate *c);

/* Is it in sweep.scope? */
extern bool candidate_is_in_scope(const Candidate *c);

/*
 * Is it a table that pg_repack makes to take the place of another one, or the
 * log of what changes meanwhile?  It names them by that one's OID.
 */
extern bool candidate_is_copy(const Candidate *c);

/* Is it due by inserted rows alone? */
extern bool candidate_is_due_by_inserts(const Candidate *c);

/* How many rows were inserted when its indexes were cleaned last? */
extern int64 candidate_cleaned_at(const Candidate *c);

/* Says in words why a table is due. */
extern void candidate_why_due(const Candidate *c, char *text, size_t size);

#endif							/* SWEEP_CANDIDATE_H */
