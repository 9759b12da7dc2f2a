/*
 * wraparound.c
 *		Is a VACUUM somebody's work against wraparound?
 *
 * Runs in the process that vacuums, before its statement.  It judges as
 * vacuum_rel() is told by core's autovacuum.
 */
#include "meter/wraparound.h"

#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "postmaster/autovacuum.h"
#include "utils/syscache.h"

#include "server/compat.h"

static bool
is_too_old(TransactionId xid, MultiXactId mxid)
{
	int32		xid_age = TransactionIdIsNormal(xid) ? (int32) (ReadNextTransactionId() - xid) : 0;
	int32		mxid_age = MultiXactIdIsValid(mxid) ? (int32) (ReadNextMultiXactId() - mxid) : 0;

	return xid_age > autovacuum_freeze_max_age ||
		mxid_age > autovacuum_multixact_freeze_max_age;
}

static bool
cluster_is_too_old(void)
{
	MultiXactId oldest;
	MultiXactId next;

	ReadMultiXactIdRange(&oldest, &next);
	return is_too_old(compat_oldest_xid(), oldest);
}

static bool
table_is_too_old(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;
	bool		old;
	Oid			toast;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_class) GETSTRUCT(tuple);
	old = is_too_old(form->relfrozenxid, form->relminmxid);
	toast = form->reltoastrelid;
	ReleaseSysCache(tuple);
	return old || (OidIsValid(toast) && table_is_too_old(toast));
}

bool
wraparound_is_near(const VacuumStmt *stmt)
{
	ListCell   *lc;

	/* the usual case: nothing is, anywhere */
	if (!stmt->is_vacuumcmd || !cluster_is_too_old())
		return false;
	if (stmt->rels == NIL)
		return true;			/* one of them */
	foreach(lc, stmt->rels)
	{
		VacuumRelation *relation = lfirst_node(VacuumRelation, lc);
		Oid			relid = relation->oid;

		if (!OidIsValid(relid))
			relid = RangeVarGetRelid(relation->relation, NoLock, true);
		if (OidIsValid(relid) && table_is_too_old(relid))
			return true;
	}
	return false;
}
