/*
 * requested.h
 *		A worker vacuums what somebody has asked for.
 */
#ifndef SWEEP_REQUESTED_H
#define SWEEP_REQUESTED_H

#include "postgres.h"

/*
 * All requests that are ready in this worker's database, one after the other,
 * until must_stop() says so; true if anything was vacuumed.
 */
extern bool requested_vacuum_all(bool (*must_stop) (void));

#endif							/* SWEEP_REQUESTED_H */
