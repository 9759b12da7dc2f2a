/*
 * breaker.h
 *		The circuit breaker: pg_sweep switches itself off when its processes
 *		keep crashing the server.
 */
#ifndef SWEEP_BREAKER_H
#define SWEEP_BREAKER_H

#include "shmem.h"

/* Postmaster, whenever shared memory was made anew. */
extern void breaker_server_start(void);

/* A pg_sweep process says that it is there; it leaves its mark if it crashes. */
extern void breaker_mark_process(ProcessMark *mark);

/* Forgets the crashes; true if pg_sweep was off because of them. */
extern bool breaker_rearm(void);

#endif							/* SWEEP_BREAKER_H */
