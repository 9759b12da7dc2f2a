/*
 * worker_slot.h
 *		A worker's place in shared memory.
 */
#ifndef SWEEP_WORKER_SLOT_H
#define SWEEP_WORKER_SLOT_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "settings.h"
#include "state/decisions.h"

typedef enum WorkerState
{
	WORKER_FREE,				/* -> STARTING */
	WORKER_STARTING,			/* -> RUNNING, FREE (never came up) */
	WORKER_RUNNING,				/* -> LINGERING, DONE */
	WORKER_LINGERING,			/* -> RUNNING (more work), DONE */
	WORKER_DONE					/* -> FREE (reaped) */
} WorkerState;

/*
 * There is one place for each possible worker.  The launcher writes STARTING,
 * FREE and the assignment, and the worker writes the rest.  Protection:
 * LOCK_WORKERS.
 */
typedef struct WorkerSlot
{
	WorkerState state;
	uint32		generation;		/* which start in this place (writer:
								 * launcher) */
	Oid			dboid;
	Oid			owner;			/* of the database (launcher) */
	bool		catalogs_only;	/* it is the place that other tables never
								 * take (launcher) */
	int			pid;			/* writer: worker */
	bool		up;				/* it has connected (worker) */
	bool		look_again;		/* set by the launcher, cleared by the worker */
	bool		survey;			/* it looks at all tables, not only at those
								 * in the queue (set by the launcher with
								 * every visit) */
	Oid			relid;			/* the table that the worker has claimed now */
	bool		relid_shared;	/* it is a shared catalog */
	bool		freezing;		/* it is claimed to be frozen ahead */
	bool		patient;		/* its vacuum gives way as late as
								 * autovacuum's */
	double		dead_ratio;		/* while it vacuums that: the table's dead
								 * rows against its threshold (0: it does not,
								 * or that is unknown) */
	bool		visited;		/* it looked at what it was to, without an
								 * error */
	TimestampTz visited_at;		/* when it last did (0: not yet) */
	TimestampTz looked_at;		/* when the last survey began */
	TimestampTz revisit_at;		/* when tables have their turn (0: none),
								 * cleared when the launcher has heard it */
	double		survey_ms;		/* ms of a processor that the last survey took */
	bool		stop;			/* it is to leave (set by the launcher) */
	TimestampTz stop_at;		/* since when (0: it is not) */
	bool		cancelled;		/* by sweep.cancel(), in that backend */
	TimestampTz let_go_at;		/* first told to give up its table (0: not),
								 * by the governor or sweep.cancel() */
	TimestampTz told_at;		/* told so the last time, by the same */
	TimestampTz terminated_at;	/* it was sent SIGTERM, by launcher or
								 * governor */
	struct Latch *latch;		/* writer: worker (NULL: not there, or not
								 * yet) */
	TimestampTz started_at;
} WorkerSlot;

/* These are for a worker, of its own place. */
extern bool worker_slot_begin(Datum arg);
extern void worker_slot_is_up(void);
extern Oid	worker_slot_database(void);
extern Oid	worker_slot_owner(void);
extern bool worker_slot_is_for_catalogs(void);
extern bool worker_slot_is_survey(void);
extern bool worker_slot_is_stopped(void);
extern bool worker_slot_must_let_go(void);
extern void worker_slot_has_let_go(void);
extern bool worker_slot_claim(DecisionKey key);

/*
 * The same, to freeze it ahead of autovacuum.  Only one worker at a time does
 * that, so that there is one for tables that are due.
 */
extern bool worker_slot_claim_to_freeze(DecisionKey key);
extern void worker_slot_unclaim(void);
extern void worker_slot_vacuums(double dead_ratio, bool patient);
extern void worker_slot_visited(bool visited, TimestampTz began, TimestampTz revisit_at);
extern void worker_slot_surveyed(double cpu_ms);
extern void worker_slot_linger(void);
extern bool worker_slot_is_wanted(void);
extern bool worker_slot_linger_end(void);

#endif							/* SWEEP_WORKER_SLOT_H */
