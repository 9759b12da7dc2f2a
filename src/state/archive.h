/*
 * archive.h
 *		The hours that are over, on disk: what vacuums came to, and what users did.
 *
 * The history (history.h) has the sums of the last day in shared memory.  The
 * archive, pg_stat/pg_sweep.history, has those of sweep.history_days.  Beside
 * them it has the activity of tables, which is kept nowhere else.
 *
 * An hour that is not in it is not known.  That is not an hour in which
 * nothing happened.
 */
#ifndef SWEEP_ARCHIVE_H
#define SWEEP_ARCHIVE_H

#include "exported.h"
#include "state/history.h"

/*
 * So many tables of an hour have an entry of their own, of what vacuums came
 * to and again of what users did.  Some dozen tables make most of the work in
 * most clusters, so 200 leave little to the entry of all others.  With them an
 * hour takes 134 kB at most, and a month 100 MB, before it is packed.
 */
#define ARCHIVE_TABLES		200

/*
 * So many sums they may have together: a table has one of its vacuums and one
 * of its analyzes, and more where several start them.
 */
#define ARCHIVE_TABLE_SUMS	400

/* What users did to a table in an hour. */
typedef struct ActivityHour
{
	TimestampTz begin;			/* of the hour */
	int64		span_us;		/* for so long it was counted */
	Oid			dboid;			/* invalid: shared catalog, or all others */
	Oid			relid;			/* invalid: all others together */
	int64		inserted;		/* rows, in that time */
	int64		updated;
	int64		hot_updated;	/* of the updated ones */
	int64		deleted;
	int64		live;			/* rows, at its end, as the statistics say */
	int64		dead;
} ActivityHour;

typedef struct ArchivedHour
{
	TimestampTz begin;
	TimestampTz since;			/* activity was counted from then on (0: from
								 * the hour's beginning on) */
	int64		span_us;		/* for so long it was counted (0: not at all) */
	int64		xids;			/* transaction ids used in that time (-1: not
								 * known) */
	int			sum_count;
	int			table_count;
	const HistoryRecord *sums;	/* those of all tables first */
	const ActivityHour *tables; /* the last one is all others */
} ArchivedHour;

/* ---- for any process ---- */

typedef void (*ArchiveVisit) (const ArchivedHour *hour, void *arg);

/*
 * Visits the hours that begin at that time or later, in order of time, each
 * once.  What an hour points to is gone after the visit.  The memory is that
 * of one hour.  The launcher may append to the file or replace it meanwhile.
 * A file that is missing or cannot be read is as an empty one.  So is that of
 * a standby, which has no hours of its own.  It checks for interrupts.
 */
extern PGDLLEXPORT void archive_read(TimestampTz since, ArchiveVisit visit, void *arg);

/* What sweep.history_days leaves begins here or later. */
extern TimestampTz archive_oldest(TimestampTz now);

/* ---- for the launcher ---- */

/* What is in the file. */
typedef struct ArchiveSpan
{
	int			count;			/* hours */
	TimestampTz first;			/* when they begin (0: there are none) */
	TimestampTz last;
} ArchiveSpan;

/* What becomes of the hours in the file when it is written anew. */
typedef struct ArchiveChange
{
	TimestampTz expire_before;	/* those that begin earlier are left out */
	TimestampTz forget_before;	/* those that begin earlier lose their sums */
	TimestampTz move_from;		/* those that begin then or later ... */
	int64		move_us;		/* ... are moved back by so much */
} ArchiveChange;

/*
 * Looks at the file, at the launcher's start.  A damaged or foreign one is set
 * aside with a WARNING.  What was not written whole at its end is cut off.
 */
extern void archive_load(void);
extern const ArchiveSpan *archive_span(void);

/* When the hours in the file begin, palloc'd. */
extern TimestampTz *archive_begins(int *count);

/*
 * Begins to write.  With a change the file is written anew, and archive_span()
 * then tells of the hours that were taken over.  archive_add() adds one that
 * begins after all others.  archive_end() ends it, durably.  With ok all has
 * gone well as far as the caller knows.  After a failure the file is what it
 * was before.  false: errno tells.
 */
extern bool archive_begin(const ArchiveChange *change);
extern bool archive_add(const ArchivedHour *hour);
extern bool archive_end(bool ok);

/* After an error between the two. */
extern void archive_abandon(void);

#endif							/* SWEEP_ARCHIVE_H */
