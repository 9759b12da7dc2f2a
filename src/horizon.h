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
 * database; rows deleted by earlier ones can be removed.  InvalidOid: of a
 * shared catalog.  Conservative.  Takes ProcArrayLock, shared.
 */
extern FullTransactionId horizon_of_database(Oid dboid, bool catalog);

/* A process whose transaction or snapshot holds a horizon. */
typedef struct HorizonHolder
{
	int			pid;
	Oid			dboid;			/* whose horizon, with the shared catalogs';
								 * invalid: all databases' */
	TransactionId oldest;
	int64		age;			/* transactions that began since */
} HorizonHolder;

/*
 * All of them but the caller's present statement, palloc'd; prepared
 * transactions and slots are no processes.  Takes ProcArrayLock, shared.
 */
extern HorizonHolder *horizon_holders(int *count);

#endif							/* SWEEP_HORIZON_H */
