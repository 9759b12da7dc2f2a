/*
 * breaker.h
 *		The circuit breaker: pg_sweep switches itself off when its processes
 *		keep crashing the server.
 */
#ifndef SWEEP_BREAKER_H
#define SWEEP_BREAKER_H

#include "postgres.h"

/*
 * A pg_sweep process announces itself here.  It takes its mark away when it
 * leaves in order, and notes when it is told to quit.  A mark that is still
 * there when shared memory goes is that of the process that crashed.  Writer:
 * that process, without a lock.
 */
typedef struct ProcessMark
{
	int			pid;			/* 0: not there */
	bool		quit;			/* the postmaster told it to quit at once */
} ProcessMark;

/* Called by the postmaster whenever shared memory was made anew. */
extern void breaker_server_start(void);

/*
 * Called by a pg_sweep process to say that it is there.  If it crashes, its
 * mark stays.
 */
extern void breaker_mark_process(ProcessMark *mark);

/* Forgets the crashes.  Returns true if pg_sweep was off because of them. */
extern bool breaker_rearm(void);

#endif							/* SWEEP_BREAKER_H */
