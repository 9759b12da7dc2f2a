/*
 * breaker.h
 *		The circuit breaker: pg_sweep switches itself off when its processes
 *		keep crashing the server.
 */
#ifndef SWEEP_BREAKER_H
#define SWEEP_BREAKER_H

#include "postgres.h"

/* Called by the postmaster whenever shared memory was made anew. */
extern void breaker_server_start(void);

/* Called by a process of pg_sweep: whatever crashes it is a crash of ours. */
extern void breaker_own_process(void);

/*
 * The same for other processes, where a hook of ours begins and ends.  Between
 * the two there is no code of others.  The end is told what the begin has
 * returned, because a handler of a timeout may come inside another hook.
 */
extern int	breaker_enter(void);
extern void breaker_leave(int before);

/* Forgets the crashes.  Returns true if pg_sweep was off because of them. */
extern bool breaker_rearm(void);

#endif							/* SWEEP_BREAKER_H */
