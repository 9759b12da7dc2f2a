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

#endif							/* SWEEP_HORIZON_H */
