/*
 * databases.h
 *		The databases, as the launcher knows them.  Launcher only.
 */
#ifndef SWEEP_DATABASES_H
#define SWEEP_DATABASES_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "utils/hsearch.h"

#include "settings.h"
#include "state/worker_slot.h"

#define SWEEP_DATABASES_LIMIT	2048
#define SURVEYS_SHARE			0.002	/* of a processor, for surveys of one
										 * database: together a hundredth */

/*
 * What the scout knows of a database.  Writer: launcher, under
 * LOCK_DATABASES.
 */
typedef struct DatabaseState
{
	Oid			dboid;
	uint8		scope;			/* DatabaseScope */
	bool		connectable;
	int64		relations;
	int64		due;			/* in sweep.queue */
	int64		dead_tuples;
	TimestampTz last_visit;
	TimestampTz looked_at;		/* when the last visit to all tables began */
	TimestampTz next_visit;		/* it backs off until then (0: it does not) */
} DatabaseState;

/* What the launcher remembers of a database besides its DatabaseState. */
typedef struct LauncherDatabase
{
	Oid			dboid;			/* hash key */
	NameData	name;
	Oid			owner;
	bool		connectable;
	bool		template;		/* others are made from it, and would wait for
								 * whoever is in it */
	bool		seen;			/* in the last reading of pg_database */
	DatabaseScope scope;
	int			failures;		/* how many visits in a row failed */
	TimestampTz next_visit;
	TimestampTz last_visit;
	TimestampTz looked_at;		/* see DatabaseState */
	TimestampTz surveyed_at;	/* 0: never */
	int64		surveyed_changes;
	int64		surveyed_relations; /* these two as the last survey has found
									 * them */
	int64		surveyed_class_changes;
	uint64		surveyed_xid;	/* the next transaction ID and multixact then */
	MultiXactId surveyed_mxid;
	double		survey_ms;		/* ms of a processor that the last survey took
								 * (0: not known) */
	TimestampTz reset_at;		/* of its statistics, see handover_tables.c */
	bool		turns_left;		/* the last survey has found tables whose turn
								 * is yet to come */
	TimestampTz revisit_at;		/* when tables whose counters were lost have
								 * their turn (0: none) */
} LauncherDatabase;

extern HTAB *databases;			/* of LauncherDatabase, by OID */

extern void databases_begin(void);

/* NULL if it is not known. */
extern LauncherDatabase *databases_find(Oid dboid);
extern bool databases_is_ours(Oid dboid);

/* Reads pg_database, in a transaction of its own, if that was a while ago. */
extern void databases_read(TimestampTz now);
extern void databases_forget_when_read(void);
extern bool databases_were_read_since(TimestampTz time);

/* Has the scout seen tables of a database that is not known yet? */
extern bool databases_are_new(HTAB *seen_databases);

/* Hears what a visit came to.  After a failure the next one has to wait. */
extern void databases_hear_of_worker(const WorkerSlot *slot, bool gone, bool visited,
									 TimestampTz now);

/* Has workers look where tables were given settings of their own. */
extern void databases_take_surveys(void);

/* One of its tables is due by what the scout does not see: a survey comes within seconds. */
extern void databases_survey_soon(Oid dboid);

/* How long surveys of it are apart at least, so that they take SURVEYS_SHARE. */
extern int64 databases_survey_spacing_ms(const LauncherDatabase *db);

/* Moves all times after the clock was set back. */
extern void databases_set_back(int64 us);

/*
 * Has workers look everywhere soon, because other rules hold for the tables
 * now.
 */
extern void databases_survey_all(TimestampTz now);

/* Publishes the databases, with what the scout has seen. */
extern void databases_publish(HTAB *seen_databases);

#endif							/* SWEEP_DATABASES_H */
