/*
 * table_indexes.h
 *		The indexes of a table, without opening it.
 */
#ifndef SWEEP_TABLE_INDEXES_H
#define SWEEP_TABLE_INDEXES_H

#include "postgres.h"

/*
 * Copies the OIDs of a table's valid indexes, in ascending order, and their
 * sizes in pages as pg_class has them.  Returns how many it has, which may be
 * more than the limit.  Called inside a transaction.
 */
extern int	table_indexes(Oid relid, int limit, Oid *oids, int64 *pages);

#endif							/* SWEEP_TABLE_INDEXES_H */
