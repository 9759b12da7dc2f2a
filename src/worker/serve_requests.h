/*
 * serve_requests.h
 *		A worker vacuums what somebody has asked for.
 */
#ifndef SWEEP_SERVE_REQUESTS_H
#define SWEEP_SERVE_REQUESTS_H

#include "postgres.h"

/*
 * Serves all requests that are ready in this worker's database, one after the
 * other, until must_stop() says so.  Returns true if anything was vacuumed.
 */
extern bool serve_requests(bool (*must_stop) (void));

#endif							/* SWEEP_SERVE_REQUESTS_H */
