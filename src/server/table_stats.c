/*
 * table_stats.c
 *		The counters of one table, without connecting to its database.
 */
#include "postgres.h"

#include "server/table_stats.h"

#include "lib/dshash.h"
#include "utils/pgstat_internal.h"

#include "server/compat.h"

bool
table_stats_read(Oid dboid, Oid relid, PgStat_StatTabEntry *result)
{
	PgStat_HashKey key;
	PgStatShared_HashEntry *entry;
	bool		found = false;

	compat_stat_key(&key, dboid, relid);
	entry = dshash_find(pgStatLocal.shared_hash, &key, false);
	if (entry == NULL)
		return false;
	if (!entry->dropped)
	{
		PgStatShared_Relation *shared = dsa_get_address(pgStatLocal.dsa, entry->body);

		memcpy(result, &shared->stats, sizeof(*result));
		found = true;
	}
	dshash_release_lock(pgStatLocal.shared_hash, entry);
	return found;
}
