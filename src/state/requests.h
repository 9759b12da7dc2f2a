/*
 * requests.h
 *		Tables that somebody wants vacuumed now.
 */
#ifndef SWEEP_REQUESTS_H
#define SWEEP_REQUESTS_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "state/decisions.h"
#include "state/worker_claims.h"

#define SWEEP_REQUESTS_LIMIT	1024
#define REQUEST_ATTEMPTS_LIMIT	6	/* how often a lock may be found not
									 * available */

typedef enum RequestState
{
	REQUEST_NONE,				/* -> WAITING */
	REQUEST_WAITING,			/* -> RUNNING, NONE (nobody can serve it) */
	REQUEST_RUNNING				/* -> NONE (over), WAITING (locked, or
								 * stopped) */
} RequestState;

/*
 * One table that somebody wants vacuumed now.  Backends put it, workers take
 * it and give it back or finish it, the launcher drops it.  Protection:
 * LOCK_REQUESTS.
 */
typedef struct Request
{
	RequestState state;
	int64		id;				/* the same for all leaves of one table */
	int64		turn;			/* grows: the lowest is next */
	Oid			dboid;			/* where it was asked for */
	DecisionKey key;
	bool		aux;			/* it is somebody's auxiliary table */
	bool		clean;			/* row by row, unless a vacuum is cheaper */
	bool		by_row;			/* ... even then */
	int			attempts;
	TimestampTz requested_at;
	TimestampTz not_before;		/* set when a lock was not available (0: now) */
	char		requested_by[NAMEDATALEN];
	char		schemaname[NAMEDATALEN];
	char		relname[NAMEDATALEN];
} Request;

/* Writer and protection: see Request. */
typedef struct RequestQueue
{
	int64		last_turn;
	int			count;			/* not NONE */
	Request		requests[SWEEP_REQUESTS_LIMIT];
} RequestQueue;

extern const char *request_state_name(int state);

/*
 * Logs why a request is given up: whoever asked may look for the reason in
 * the log.
 */
extern void request_log_end(const Request *request, const char *reason);

/*
 * For a backend: puts all of them as one request and returns its id.  A table
 * that is asked for already keeps its place.  If all are, the id is that of
 * the first.  ERROR if there is no room, and then nothing is put.  Only the
 * names, OIDs and flags of `wanted` are used.
 */
extern int64 requests_put(const Request *wanted, int count);

/* Copies all in the order of their turns, palloc'd. */
extern Request *requests_copy(int *count);

/*
 * For a worker: takes the next request in its database that no worker is at.
 * Returns false if there is none.  The worker then has it until it calls one
 * of the two functions below.  If the worker ends before, the request is
 * given back.
 */
extern bool requests_take(bool catalogs_only, Request *taken);

/* The request is over, however it ended. */
extern void requests_finish(const Request *request);

/*
 * The request is to be tried again, not before that time.  `attempted` says
 * that this try counts.  Returns false if it was the last try, so that the
 * request is over.
 */
extern bool requests_give_back(const Request *request, TimestampTz not_before, bool attempted);

/* For the launcher: has a request been put since the last call? */
extern bool requests_are_new(void);

/*
 * Could a worker serve it in that database now?  catalogs_only: a worker that
 * takes only catalogs.
 */
extern bool requests_is_ready(const Request *request, const WorkerClaims *claims, Oid dboid,
							  bool catalogs_only, TimestampTz now);

/* Moves all times after the clock was set back. */
extern void requests_set_back(int64 us);

/*
 * Drops the waiting requests for which why_not() gives a reason, and logs it.
 */
extern void requests_drop(const char *(*why_not) (const Request *request));

#endif							/* SWEEP_REQUESTS_H */
