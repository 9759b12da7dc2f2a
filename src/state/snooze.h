/*
 * snooze.h
 *		A table that a user wants left alone for a while.
 */
#ifndef SWEEP_SNOOZE_H
#define SWEEP_SNOOZE_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "utils/hsearch.h"

#include "state/decisions.h"

/*
 * Leaves the table alone until then.  ERROR if there is no room to remember
 * it.
 */
extern void snooze_begin(DecisionKey key, const char *schemaname, const char *relname,
						 TimestampTz until);
extern void snooze_end(DecisionKey key);

/*
 * Adds the snoozed tables of this database that exist to a hash of OIDs.
 * Runs in a transaction of its own.
 */
extern void snooze_add_tables(HTAB *relids);

#endif							/* SWEEP_SNOOZE_H */
