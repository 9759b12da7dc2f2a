/*
 * carried.h
 *		What was known before the statistics were lost: the note that carries
 *		it, and for which databases there was one.
 */
#ifndef SWEEP_CARRIED_H
#define SWEEP_CARRIED_H

#include "postgres.h"

#include "port/atomics.h"

#include "policy/carry.h"
#include "state/decisions.h"

#define CARRIED_TABLES_LIMIT		2048	/* in a note */
#define CARRIED_DATABASES_LIMIT		2048

/*
 * Which databases have lost nothing, although their statistics are lost.
 * Writer: the launcher, once, before it starts a worker.  count is written
 * last, and is the protection.
 */
typedef struct CarriedState
{
	bool		looked;			/* for a note, since the server's start */
	TimestampTz taken_at;
	pg_atomic_uint32 count;
	Oid			databases[CARRIED_DATABASES_LIMIT];
} CarriedState;

/* Is all known of the database, unless its statistics were reset since? */
extern bool carried_is_known(Oid dboid, TimestampTz reset_at);
extern void carried_know(const Oid *databases, int count, TimestampTz at);

/* Was something carried over that still counts, or may count? */
extern bool carried_has(DecisionKey key);

/* What a note says of a table. */
typedef struct CarriedTable
{
	CarryCounts counts;			/* with what was carried over before */
	int64		inserted;		/* rows so far, by that server's counters */
	int64		changed;		/* updated and deleted rows so far */
	Decision	decision;
} CarriedTable;

/* By which statistics can be told from others. */
typedef struct StatsMark
{
	TimestampTz reset_at[2];	/* of two parts, as they are always there */
} StatsMark;

typedef struct CarriedNote
{
	bool		in_force;		/* or nothing is known any more, because the
								 * mode was left */
	TimestampTz held_until;		/* by sweep.hold() (0: not held) */
	StatsMark	statistics;
	bool		long_writer;	/* some transaction has been writing for long,
								 * and has not reported that */
	double		floor;			/* tables with a lower share were left out */
	Oid		   *databases;		/* of which everything is known */
	int			database_count;
	CarriedTable *tables;
	int			table_count;
} CarriedNote;

/* As it is written, palloc'd. */
extern char *carried_encode(const CarriedNote *note, Size *size);

/*
 * Returns false if it is of another version of the library.  What the note
 * points to is palloc'd.
 */
extern bool carried_decode(const char *data, Size size, CarriedNote *note);

#endif							/* SWEEP_CARRIED_H */
