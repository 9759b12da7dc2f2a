/*
 * ledger.h
 *		The finished runs.
 */
#ifndef SWEEP_LEDGER_H
#define SWEEP_LEDGER_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "exported.h"
#include "state/run.h"

#define LEDGER_LONGEST	64
#define LEDGER_WAYS		8		/* records per bucket of `last` */

/* Every process writes it at the end of a run, under LOCK_LEDGER. */
typedef struct LedgerState
{
	int64		next_run_id;
	int64		forgotten;		/* runs with a lower number count as free
								 * places */
	TimestampTz complete_since; /* the newest run that had to make room in the
								 * ring ended then, or 0: none had to */
	int64		resets;			/* how often all were forgotten */
	uint64		added;			/* runs ever added to the ring */
	int64		kept;			/* runs in any of the collections */
	bool		loaded;			/* the file was read */
	bool		hold_said;		/* since the server's start: not the file's */
} LedgerState;

/* Records a run.  Safe in a transaction callback: one LWLock, no ERROR. */
extern void ledger_add(const RunRecord *run);

/* The last successful run of that kind.  Returns false if none is kept. */
extern PGDLLEXPORT bool ledger_last(Oid dboid, Oid relid, RunCommand command, RunRecord *run);

/*
 * The last run of that kind among the recent ones, whatever came of it.
 * Returns false if there is none.
 */
extern bool ledger_last_tried(Oid dboid, Oid relid, RunCommand command, RunRecord *run);

/* Copies all kept runs, newest first, each once.  The copy is palloc'd. */
extern RunRecord *ledger_copy(int *count);

/*
 * How many runs ledger_copy() copies.  It is counted as they come and go: a
 * look at them all would be half of what sweep.status costs a new session.
 * Of what ended after complete_since none is missing.  It is 0 if none was
 * ever left out.
 */
extern int64 ledger_count(TimestampTz *complete_since);

/*
 * Copies the runs that were added since the last call, oldest first, and says
 * how many.  *seen is kept by the caller.  With PG_UINT64_MAX it begins with
 * what comes from now on.  Runs that had to make room meanwhile are left out.
 */
extern int	ledger_read_new(uint64 *seen, RunRecord *to, int limit);

extern void ledger_reset(void);

/* Runs were not recorded until now. */
extern void ledger_begin_again(void);

/* Reads the file, once.  Only the launcher calls it.  Never an ERROR. */
extern void ledger_load(void);

/* Writes the file if something changed.  False (and errno) if it failed. */
extern bool ledger_save(void);

#endif							/* SWEEP_LEDGER_H */
