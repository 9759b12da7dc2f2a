/*
 * databases.h
 *		The databases, as the launcher knows them.  Launcher only.
 */
#ifndef SWEEP_DATABASES_H
#define SWEEP_DATABASES_H

#include "shmem.h"
#include "utils/hsearch.h"

/* What the launcher remembers of a database beside its DatabaseState. */
typedef struct LauncherDatabase
{
	Oid			dboid;			/* hash key */
	NameData	name;
	bool		connectable;
	bool		seen;			/* in the last reading of pg_database */
	DatabaseScope scope;
	int			failures;		/* visits in a row that failed */
	TimestampTz next_visit;
	TimestampTz last_visit;
	TimestampTz looked_at;		/* see DatabaseState */
	TimestampTz surveyed_at;	/* 0: never */
	int64		surveyed_changes;
	TimestampTz revisit_at;		/* tables whose counters were lost; 0: none */
} LauncherDatabase;

extern HTAB *databases;			/* of LauncherDatabase, by OID */

extern void databases_begin(void);

/* NULL: not known. */
extern LauncherDatabase *databases_find(Oid dboid);
extern bool databases_is_ours(Oid dboid);

/* Reads pg_database, in a transaction of its own, if that was a while ago. */
extern void databases_read(TimestampTz now);
extern void databases_forget_when_read(void);
extern bool databases_were_read_since(TimestampTz time);

/* Has the scout seen tables of a database that is not known yet? */
extern bool databases_are_new(HTAB *seen_databases);

/* What a visit came to: after a failure the next one has to wait. */
extern void databases_hear_of_worker(const WorkerSlot *slot, bool gone, bool visited,
									 TimestampTz now);

/* A worker should look where tables were given settings of their own. */
extern void databases_take_surveys(void);

/* Shows them, with what the scout has seen. */
extern void databases_publish(HTAB *seen_databases);

#endif							/* SWEEP_DATABASES_H */
