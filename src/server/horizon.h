/*
 * horizon.h
 *		From which transaction on nothing can be removed, in any database.
 */
#ifndef SWEEP_HORIZON_H
#define SWEEP_HORIZON_H

#include "postgres.h"
#include "access/transam.h"

/*
 * The oldest transaction that may still need rows of a user table in that
 * database.  Rows that were deleted by earlier ones can be removed.  With
 * InvalidOid it is that of a shared catalog.  The answer is conservative.
 * Takes ProcArrayLock, shared.
 */
extern FullTransactionId horizon_of_database(Oid dboid, bool catalog);

/*
 * How many transactions have begun since the oldest that any table may need?
 */
extern int64 horizon_age(void);

/*
 * Somebody who holds a horizon, by a transaction of his own, or by a snapshot
 * that does not owe its age to somebody else's transaction.
 */
typedef struct HorizonHolder
{
	int			pid;			/* 0: the prepared transaction `oldest` */
	Oid			dboid;			/* whose horizon, with that of the shared
								 * catalogs (invalid: that of all databases) */
	TransactionId oldest;
	int64		age;			/* how many transactions began since */
} HorizonHolder;

/*
 * Finds all holders but the caller, palloc'd.  Slots are not among them.  A
 * prepared transaction is only there for those databases besides its own
 * whose snapshots are old because of it.  Takes ProcArrayLock, shared.
 */
extern HorizonHolder *horizon_holders(int *count);

#endif							/* SWEEP_HORIZON_H */
