/*
 * shards.h
 *		Tables whose rows are elsewhere, in shards of Citus.
 */
#ifndef SWEEP_SHARDS_H
#define SWEEP_SHARDS_H

#include "postgres.h"

#include "catalog/pg_class.h"
#include "utils/hsearch.h"

/* The caller of all these is in a transaction. */

/* Is the table the empty shell of a distributed one? */
extern bool shards_is_shell(Oid relid);

/* The table in which Citus lists all shards, or InvalidOid without Citus. */
extern Oid	shards_list(void);

/*
 * Reads which shards these tables have, in the current memory context.  The
 * key of shells is a table's OID.  NULL if they have none.  The caller has
 * locked the list.
 */
extern HTAB *shards_read(Oid list, HTAB *shells);

/*
 * The distributed table that the table is a shard of, by what was read.
 * InvalidOid if it is no shard of those.
 */
extern Oid	shards_shell(HTAB *shards, Form_pg_class table);

/* The same of one table, if nobody locks the list. */
extern Oid	shards_shell_of(Oid relid);

#endif							/* SWEEP_SHARDS_H */
