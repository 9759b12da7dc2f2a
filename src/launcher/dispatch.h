/*
 * dispatch.h
 *		Which databases workers are sent to, and for what.  Launcher only.
 */
#ifndef SWEEP_DISPATCH_H
#define SWEEP_DISPATCH_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "utils/hsearch.h"

/* Sends workers where something is due, as far as there are places. */
extern void dispatch_workers(HTAB *seen_databases, TimestampTz now);

/*
 * Would another round send a worker that the last one could not send?
 * any_gone says that a worker has left its place since.
 */
extern bool dispatch_may_go_on(bool any_gone);

#endif							/* SWEEP_DISPATCH_H */
