/*
 * table_tree.c
 *		The partitioned table that a table is a partition of.
 *
 * Runs in workers, and in the backends of views.
 */
#include "server/table_tree.h"

#include "catalog/partition.h"
#include "catalog/pg_inherits.h"
#include "utils/lsyscache.h"

int
table_tree_size(Oid relid)
{
	List	   *ancestors = get_rel_relispartition(relid) ? get_partition_ancestors(relid) : NIL;

	return ancestors == NIL ? 1 : list_length(find_all_inheritors(llast_oid(ancestors), NoLock, NULL));
}
