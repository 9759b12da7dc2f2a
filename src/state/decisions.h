/*
 * decisions.h
 *		What was decided last about each table that looked due.
 */
#ifndef SWEEP_DECISIONS_H
#define SWEEP_DECISIONS_H

#include "postgres.h"

#include "access/transam.h"
#include "datatype/timestamp.h"

#include "policy/carry.h"

typedef enum DecisionKind
{
	DECISION_NONE,
	DECISION_VACUUMED,
	DECISION_BELOW_THRESHOLD,
	DECISION_DISABLED,
	DECISION_OBSERVED,			/* it would have been vacuumed */
	DECISION_HELD_BACK,			/* by the horizon */
	DECISION_LOCKED,
	DECISION_CANCELLED,
	DECISION_FAILED,
	DECISION_TEMPORARY,			/* only its session can vacuum it */
	DECISION_COPY,				/* somebody is making it, to take the place of
								 * another table */
	DECISION_OUT_OF_SCOPE,		/* of sweep.scope */
	DECISION_SNOOZED,			/* until not_before, because a user said so */
	DECISION_CHECKPOINT_AHEAD,	/* vacuumed just before it, or twice */
	DECISION_ANALYZED,			/* a partitioned table */
	DECISION_WOULD_ANALYZE,
	DECISION_NOT_ANALYZED,		/* its partitions are foreign, or too many */
	DECISION_ANALYZE_LATER,		/* its partitions grow: ANALYZE holds the
								 * horizon */
	DECISION_HELD,				/* by sweep.hold() (a verdict, never stored) */
	DECISION_SPACED_OUT,		/* for a standby's queries (never stored) */
	DECISION_KIND_COUNT
} DecisionKind;

typedef struct DecisionKey
{
	Oid			dboid;			/* invalid: shared catalog */
	Oid			relid;
} DecisionKey;

/*
 * What is remembered of a table from vacuum to vacuum, whatever was decided
 * between them.
 */
typedef struct TableMemory
{
	/* the visibility map, and the statistics at which it was counted */
	int64		counted_vacuums;	/* of the table until then (-1: not
									 * counted) */
	int64		counted_changes;	/* rows changed until then */
	int64		pages;
	int64		frozen_pages;
	int64		visible_pages;
	int64		unfrozen_pages; /* all-visible, not frozen */
	int64		cold_pages;		/* how many of those are not in shared
								 * buffers, estimated */
	TimestampTz catch_up_after; /* when to freeze those may be tried again,
								 * after a pinned page was met */
	int64		index_pages;
	bool		whole_cleanup;	/* it has indexes whose cleanup reads them
								 * whole */
	bool		needs_cleanup;	/* it has some of those to which it adds new
								 * rows */
	bool		pending_lists;	/* it has indexes that keep new rows' entries
								 * aside (GIN) */

	/* at the last vacuum by pg_sweep */
	bool		vacuumed;		/* there was one */
	uint64		vacuumed_xid;	/* the next transaction id then */
	int64		inserted;		/* rows so far */
	int64		changed;		/* updated and deleted rows so far */
	int64		cleaned_at;		/* inserted when the indexes were cleaned */
	int64		entries_removed_at; /* changed when their dead entries were
									 * removed */
	int64		old_read;		/* pages that are not new, which the last
								 * insert vacuum has read */
	int64		read_again;		/* the sum of those since the indexes were
								 * vacuumed */
	TimestampTz late_since;		/* insert vacuums come too late since then (0:
								 * in time) */
	int64		late_pages;		/* new pages that had left the cache when they
								 * were vacuumed, so far */
	bool		eager;			/* it froze all that it could */
	bool		frozen;			/* all of the table was frozen then, or
								 * before, and it has been eager since */
	uint8		costly;			/* how many insert vacuums in a row were not
								 * worth their cost */
	int			took_ms;		/* how long the last insert vacuum took (at
								 * most 10 s) */
	TimestampTz analyze_after;	/* own ANALYZE may come again then */
	TimestampTz truncate_after; /* where others have locks on it, the file may
								 * be truncated again then */
	uint8		lost;			/* vacuums in a row that were given up for
								 * somebody who wanted the table */
	uint8		lost_in_indexes;	/* vacuums in a row that failed or were
									 * given up while they were at the indexes */
	TimestampTz follows_until;	/* a vacuum for new rows that comes before
								 * then follows a growing table */
} TableMemory;

/*
 * A vacuum gives way at once.  After so many in a row were lost by that, the
 * next one gives way as late as autovacuum's, so that one comes to its end.
 */
#define LOST_VACUUMS	2

static inline bool
table_memory_is_patient(const TableMemory *m)
{
	return m->lost >= LOST_VACUUMS;
}

/*
 * Is an index broken, or does one take all the time?  Then the table is frozen
 * without its indexes.
 */
static inline bool
table_memory_leaves_indexes(const TableMemory *m)
{
	return m->lost_in_indexes >= LOST_VACUUMS;
}

/*
 * What vacuums that were only noted, in mode observe, would have taken off a
 * table's counters and made of its visibility map.
 */
typedef struct TrialDone
{
	bool		on;				/* there was one */
	int64		vacuums;		/* of the table by others, until then */
	int64		changed;		/* rows updated and deleted until then */
	int64		dead;
	int64		ins;
	int64		rows;			/* that were live then */
	int64		pages;			/* all of which are all-visible since */
	int64		frozen_pages;
	bool		aged;			/* one of them would have frozen all that is
								 * old */
} TrialDone;

/*
 * What was decided last about one table, and when to look at it again.
 * Workers write it.  The launcher, workers and views read it.  Protection:
 * LOCK_DECISIONS.
 */
typedef struct Decision
{
	DecisionKey key;
	uint8		kind;			/* DecisionKind */
	uint8		failures;		/* cancels, lock failures or errors in a row */
	bool		mentioned;		/* worth showing, because it looked due once */
	bool		looks_due;		/* the scout takes the table for due by the
								 * server's settings, though it is not */
	TimestampTz first_at;		/* of this kind */
	TimestampTz last_at;
	int64		times;			/* of this kind, in a row */
	TimestampTz not_before;
	FullTransactionId horizon;	/* of a table that is held back: once the
								 * horizon has passed this, all that was dead
								 * then can be removed */
	FullTransactionId horizon_then; /* where the horizon was when that vacuum
									 * began */
	int64		not_removable;	/* dead rows that the vacuum left */
	bool		catalog_horizon;	/* logical slots hold its horizon, too */
	double		dead_threshold; /* exact: must be exceeded (negative: none) */
	TimestampTz would_vacuum_at;	/* in mode observe (0: never) */
	double		ins_threshold;	/* exact (negative: disabled) */
	double		ins_early;		/* before a checkpoint, or when inserts end */
	double		ins_follow;		/* with more new rows than this follow_at
								 * counts instead of not_before, after a
								 * vacuum (negative: never) */
	double		rows_per_page;
	TimestampTz follow_at;
	bool		own_checkpoint_aware;	/* the table has its own setting, the
										 * next field */
	bool		checkpoint_aware;
	int64		dead;			/* counters when this was decided */
	int64		ins;
	TableMemory memory;
	TrialDone	trial;			/* memory goes by it as well, while it is on */
	CarryOver	carried;		/* what was known before the counters were
								 * lost */

	/* writer: the launcher, with the lock shared (workers read these, too) */
	int64		seen_ins;		/* inserted rows at the last round */
	TimestampTz seen_at;		/* since when it is that number */
	FullTransactionId enough_at;	/* see HeldBack */
	char		schemaname[NAMEDATALEN];
	char		relname[NAMEDATALEN];
} Decision;

/* Copies what is remembered.  Returns false if nothing is. */
extern bool decision_get(DecisionKey key, Decision *decision);

/*
 * Remembers a decision, and keeps first_at and times up.  If there is no
 * room, it forgets what does the least harm, which may be another decision or
 * this one.
 */
extern void decision_put(const Decision *decision);

/* Is there hardly room for more? */
extern bool decisions_are_many(void);

/*
 * How many of this process's decisions found no room, counting those that
 * prevent something only.
 */
extern int64 decisions_lost(void);

/*
 * Leaves the tables alone until decision->not_before, whatever is decided
 * about them meanwhile.  What was known of them is kept.  Returns false if
 * there is no room for all, and then none is snoozed.
 */
extern bool decision_snooze(const Decision *decisions, int n);

/* So many tables can be snoozed at a time, in all databases. */
extern int	decisions_snooze_limit(void);
extern void decision_unsnooze(DecisionKey key);

/* The tables of a database that are snoozed now, palloc'd. */
extern Oid *decision_snoozed_tables(Oid dboid, int *count);

/* Moves all times after the clock was set back. */
extern void decisions_set_back(int64 us);

/* Forgets the tables for which keep() is false. */
extern void decision_forget(bool (*keep) (const Decision *decision, void *arg), void *arg);

/*
 * Calls visit() for all decisions, under the lock, which the caller holds.  It
 * must not wait nor allocate.
 */
extern void decision_visit(void (*visit) (const Decision *decision, void *arg), void *arg);

/* Copies all decisions in no particular order, palloc'd. */
extern Decision *decision_copy(int *count);

/* The scout makes many look-ups under one lock. */
extern void decisions_lock(void);
extern const Decision *decision_find(DecisionKey key);
extern void decisions_unlock(void);

#endif							/* SWEEP_DECISIONS_H */
