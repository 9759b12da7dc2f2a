/*
 * distributed.h
 *		Tables whose rows are elsewhere, in shards of Citus.
 */
#ifndef SWEEP_DISTRIBUTED_H
#define SWEEP_DISTRIBUTED_H

#include "sql/vacuumable.h"

/* The caller is in a transaction. */
extern bool distributed_is_shell(Oid relid);

/*
 * ERROR if it is one.  command is the function to call for the shards
 * instead.
 */
extern void distributed_refuse(const Vacuumable *table, const char *command);

#endif							/* SWEEP_DISTRIBUTED_H */
