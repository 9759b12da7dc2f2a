/*
 * snooze.h
 *		A table that a user wants left alone for a while.
 */
#ifndef SWEEP_SNOOZE_H
#define SWEEP_SNOOZE_H

#include "shmem.h"
#include "utils/hsearch.h"

/* Leaves it alone until then; ERROR when there is no room to remember it. */
extern void snooze_begin(DecisionKey key, const char *schemaname, const char *relname,
						 TimestampTz until);
extern void snooze_end(DecisionKey key);

/*
 * Adds the snoozed tables of this database that exist to a hash of OIDs.  Its
 * own transaction.
 */
extern void snooze_add_tables(HTAB *relids);

#endif							/* SWEEP_SNOOZE_H */
