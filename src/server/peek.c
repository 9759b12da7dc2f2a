/*
 * peek.c
 *		A table opened for a short look, if nothing is in the way.
 *
 * For workers and views.  It takes AccessShareLock, only if that is free.  A
 * table whose file is missing cannot be looked at.  Its own vacuum may fail
 * because of that.  But a worker's look at all tables of the database must
 * not fail, or nothing there would be vacuumed any more.
 */
#include "server/peek.h"

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
