/*
 * toast_owner.h
 *		The table that a TOAST table belongs to.
 */
#ifndef SWEEP_TOAST_OWNER_H
#define SWEEP_TOAST_OWNER_H

#include "postgres.h"

#include "access/htup.h"

/*
 * Finds its row of pg_class, which the caller releases as one of the syscache.
 * NULL if there is none.  Called inside a transaction.
 */
extern HeapTuple toast_owner_find(Oid toastrelid, const char *relname);

#endif							/* SWEEP_TOAST_OWNER_H */
