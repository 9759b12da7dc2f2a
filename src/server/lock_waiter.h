/*
 * lock_waiter.h
 *		Who waits for a table that this process has locked, and whom a process
 *		waits for.
 */
#ifndef SWEEP_LOCK_WAITER_H
#define SWEEP_LOCK_WAITER_H

#include "postgres.h"

/*
 * The process that waits longest for a lock on that table, or 0.  The caller
 * holds no LWLock, because this copies the lock table.
 */
extern int	lock_waiter_first(Oid dboid, Oid relid);

/*
 * Whom that process waits for now, as text, palloc'd.  NULL if it waits for no
 * lock.  This takes all partitions of the lock table, so ask only where a
 * process seems to wait.
 */
extern char *lock_holders(int pid);

#endif							/* SWEEP_LOCK_WAITER_H */
