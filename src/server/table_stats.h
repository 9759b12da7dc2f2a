/*
 * table_stats.h
 *		The counters of one table, without connecting to its database.
 */
#ifndef SWEEP_TABLE_STATS_H
#define SWEEP_TABLE_STATS_H

#include "pgstat.h"

/*
 * Returns false if there are none.  An invalid dboid means a shared catalog.
 */
extern bool table_stats_read(Oid dboid, Oid relid, PgStat_StatTabEntry *result);

#endif							/* SWEEP_TABLE_STATS_H */
