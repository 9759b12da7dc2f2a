/*
 * policy/shard_name.h
 *		Names of shards of Citus.  Pure.
 */
#ifndef SWEEP_POLICY_SHARD_NAME_H
#define SWEEP_POLICY_SHARD_NAME_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The number of the shard that a table of this name would be, and how long
 * the name is without it.  0 if a shard has no such name.
 */
extern int64_t shard_name_number(const char *name, int *length);

/* Can the first bytes of the name of a shard come from this table's name? */
extern bool shard_name_fits(const char *name, int length, const char *table);

#endif							/* SWEEP_POLICY_SHARD_NAME_H */
