/*
 * lock_waiter.h
 *		Who waits for a table that this process has locked.
 */
#ifndef SWEEP_LOCK_WAITER_H
#define SWEEP_LOCK_WAITER_H

#include "postgres.h"

/*
 * The process that waits longest for a lock on that table, or 0.  The caller
 * holds no LWLock, because this copies the lock table.
 */
extern int	lock_waiter_first(Oid dboid, Oid relid);

#endif							/* SWEEP_LOCK_WAITER_H */
