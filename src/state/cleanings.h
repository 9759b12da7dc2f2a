/*
 * cleanings.h
 *		Tables with sparse garbage: what was decided about each, and how many
 *		of them are being cleaned.
 */
#ifndef SWEEP_CLEANINGS_H
#define SWEEP_CLEANINGS_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "port/atomics.h"

#include "state/decisions.h"

#define SWEEP_CLEANINGS_LIMIT	1024
#define CLEANING_NOTE_LEN		96

typedef enum CleaningKind
{
	CLEANING_NONE,				/* this place is free */
	CLEANING_WANTED,			/* by sweep.set(), and nothing is decided yet */
	CLEANING_BELOW_THRESHOLD,
	CLEANING_WATCHED,			/* how fast does garbage come? */
	CLEANING_DONE,
	CLEANING_LEFT_TO_VACUUM,	/* that comes soon */
	CLEANING_NOT_NOW,			/* locked, cancelled or failed */
	CLEANING_IMPOSSIBLE,		/* this table cannot be cleaned */
	CLEANING_OFF,				/* too small, disabled, or not in scope */
	CLEANING_KIND_COUNT
} CleaningKind;

/*
 * What was decided last about one table, and when it is looked at again.
 * Writers: workers.  Readers: the launcher, workers, views.  Protection:
 * LOCK_CLEANINGS.
 */
typedef struct Cleaning
{
	DecisionKey key;
	uint8		kind;			/* CleaningKind */
	uint8		failures;		/* in a row */
	bool		wanted;			/* by sweep.set(), where sweep.cleaner is off */
	bool		again;			/* not all shared buffers were looked at */
	TimestampTz last_at;
	TimestampTz not_before;
	int64		dead;			/* when this was decided */
	int64		next_dead;		/* it is looked at again beyond this many */
	char		note[CLEANING_NOTE_LEN];	/* the reason, in words */
	char		schemaname[NAMEDATALEN];
	char		relname[NAMEDATALEN];
} Cleaning;

/* Writer and protection: see Cleaning. */
typedef struct CleaningState
{
	pg_atomic_uint32 known;		/* places that were ever used, which the
								 * launcher asks without the lock */
	pg_atomic_uint32 running;	/* 1: a worker cleans without being asked */
	pg_atomic_uint32 next_buffer;	/* where the next pass goes on, after the
									 * clock hand's part.  Writer: a worker
									 * that cleans */
	Cleaning	cleanings[SWEEP_CLEANINGS_LIMIT];
} CleaningState;

extern const char *cleaning_name(int kind);

/* Copies what is remembered.  Returns false if nothing is. */
extern bool cleaning_get(DecisionKey key, Cleaning *cleaning);

/* Remembers it.  If there is no room, another one is forgotten. */
extern void cleaning_put(const Cleaning *cleaning);

/* Forgets the tables for which keep() is false. */
extern void cleaning_forget(bool (*keep) (const Cleaning *cleaning, void *arg), void *arg);

/* Copies all, palloc'd. */
extern Cleaning *cleanings_copy(int *count);

/*
 * The launcher, in a round: begins, and asks whether a table has sparse
 * garbage that a worker is to look at.  It copies what it needs, so that no
 * lock is held in between.  cleanings_least() is how many dead rows a table
 * must have at least (negative: nothing is to be cleaned at all).
 */
extern void cleanings_begin_round(TimestampTz now);
extern int64 cleanings_least(void);
extern bool cleanings_are_due(DecisionKey key, int64 dead, int64 live, double *threshold);

/*
 * Takes the place of the one worker that cleans without being asked, until
 * cleanings_end().  Returns false if it is taken.  A process that ends gives
 * it back.
 */
extern bool cleanings_begin(void);
extern void cleanings_end(void);
extern bool cleanings_have_room(void);

/* Moves all times after the clock was set back. */
extern void cleanings_set_back(int64 us);

#endif							/* SWEEP_CLEANINGS_H */
