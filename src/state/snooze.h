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

typedef struct SnoozeTable
{
	DecisionKey key;
	char		schemaname[NAMEDATALEN];
	char		relname[NAMEDATALEN];
} SnoozeTable;

/*
 * Leaves the tables alone until then.  ERROR if there is no room to remember
 * all of them, and then none is.
 */
extern void snooze_begin(const SnoozeTable *tables, int n, TimestampTz until);
extern void snooze_end(DecisionKey key);

/*
 * Adds the snoozed tables of this database that exist to a hash of OIDs.
 * Runs in a transaction of its own.
 */
extern void snooze_add_tables(HTAB *relids);

#endif							/* SWEEP_SNOOZE_H */
