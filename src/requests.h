/*
 * requests.h
 *		Tables that somebody wants vacuumed now.
 */
#ifndef SWEEP_REQUESTS_H
#define SWEEP_REQUESTS_H

#include "shmem.h"
#include "worker_slot.h"

extern const char *request_state_name(int state);

/* Whoever asked for it may look for the reason in the log. */
extern void request_log_end(const Request *request, const char *reason);

/*
 * A backend: puts all of them, as one request, whose id is returned.  One that
 * is asked for already keeps its place; if all are, the id is that of the
 * first.  ERROR, and nothing is put, when there is no room.  Only the names,
 * OIDs and flags are taken from them.
 */
extern int64 requests_put(const Request *wanted, int count);

/* Copies all, in the order of their turns; palloc'd. */
extern Request *requests_copy(int *count);

/*
 * A worker: the next one in its database that no worker is at; false: none.
 * It is then the worker's, and is given back should the worker end, until one
 * of the functions below is called.
 */
extern bool requests_take(bool catalogs_only, Request *taken);

/* Over, however it ended. */
extern void requests_finish(const Request *request);

/*
 * To be tried again, not before that time; attempted: this one counts.  false:
 * it was the last attempt, and the request is over.
 */
extern bool requests_give_back(const Request *request, TimestampTz not_before, bool attempted);

/* The launcher: has one been put since the last call? */
extern bool requests_are_new(void);

/* Could it be served in that database now, by a worker for all or for catalogs only? */
extern bool requests_is_ready(const Request *request, const WorkerClaims *claims, Oid dboid,
							  bool catalogs_only, TimestampTz now);

/* Drops waiting ones for which why_not() gives a reason, which is logged. */
extern void requests_drop(const char *(*why_not) (const Request *request));

#endif							/* SWEEP_REQUESTS_H */
