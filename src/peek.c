/*
 * peek.c
 *		A table opened for a short look, if nothing is in the way.
 *
 * Workers and views.  AccessShareLock, only if it is free.  A table whose file
 * is missing cannot be looked at: its own vacuum may fail of that, but not a
 * worker's look at all tables of the database, or nothing there would be
 * vacuumed any more.
 */
#include "peek.h"

#include "access/relation.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"

Relation
peek_open(Oid relid)
{
	Relation	rel;

	if (!ConditionalLockRelationOid(relid, AccessShareLock))
		return NULL;
	rel = try_relation_open(relid, NoLock);
	if (rel == NULL)
	{
		UnlockRelationOid(relid, AccessShareLock);
		return NULL;
	}
	if (!RELKIND_HAS_STORAGE(rel->rd_rel->relkind) ||
		!smgrexists(RelationGetSmgr(rel), MAIN_FORKNUM))
	{
		peek_close(rel);
		return NULL;
	}
	return rel;
}

void
peek_close(Relation rel)
{
	relation_close(rel, AccessShareLock);
}
