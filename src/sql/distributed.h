/*
 * distributed.h
 *		Tables that Citus distributes, for those who ask or act by SQL.
 */
#ifndef SWEEP_DISTRIBUTED_H
#define SWEEP_DISTRIBUTED_H

#include "sql/vacuumable.h"

/*
 * ERROR if the table is one.  command is the function to call for the shards
 * instead.
 */
extern void distributed_refuse(const Vacuumable *table, const char *command);

/* Says, if it is one, what something that is set for it holds for. */
extern void distributed_tell(const Vacuumable *table);

#endif							/* SWEEP_DISTRIBUTED_H */
