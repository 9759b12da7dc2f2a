/*
 * table_activity.h
 *		What users do to tables, hour by hour.  Launcher only.
 */
#ifndef SWEEP_TABLE_ACTIVITY_H
#define SWEEP_TABLE_ACTIVITY_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "pgstat.h"

#include "state/archive.h"

/* Does the scout show its tables to activity_see() in this round? */
extern bool activity_is_walking;

/*
 * Before the scout's walk, with the hour that it is now.  Only where that is
 * another than before is there something to count.
 */
extern void activity_begin_walk(TimestampTz hour, TimestampTz now);

/* The counters of a table, while its partition of the statistics is locked. */
extern void activity_see(Oid dboid, Oid relid, const PgStat_StatTabEntry *stats);

/* After the walk. */
extern void activity_end_walk(void);

/* The last hour that is over and was not taken yet.  It stays until the next one is over. */
extern bool activity_last(ArchivedHour *hour);
extern void activity_taken(void);

/* Nothing is counted any more, until the next walk. */
extern void activity_forget(void);

/* Moves all times after the clock was set back.  It is now that hour. */
extern void activity_set_back(int64 us, TimestampTz hour);

#endif							/* SWEEP_TABLE_ACTIVITY_H */
