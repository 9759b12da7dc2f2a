/*
 * vacuumable.h
 *		A relation that a user names to have it vacuumed, or not.
 */
#ifndef SWEEP_VACUUMABLE_H
#define SWEEP_VACUUMABLE_H

#include "postgres.h"

#include "state/decisions.h"

typedef struct Vacuumable
{
	Oid			relid;
	DecisionKey key;
	char		relkind;
	Oid			toastrelid;
	char		schemaname[NAMEDATALEN];
	char		relname[NAMEDATALEN];
} Vacuumable;

/*
 * ERROR unless it is a table, materialized view, TOAST table or partitioned
 * table.  It must be one that others than its session can vacuum, and that
 * the current role may.
 */
extern void vacuumable_check(Oid relid, Vacuumable *table);

/* Without checks.  Returns false if there is no such relation. */
extern bool vacuumable_read(Oid relid, Vacuumable *table);

/*
 * Returns the table itself, or the leaves of a partitioned one, as VACUUM
 * would take them.  Those that the role may not vacuum are left out with a
 * WARNING.  Palloc'd.
 */
extern Vacuumable *vacuumable_expand(const Vacuumable *table, int *count);

#endif							/* SWEEP_VACUUMABLE_H */
