/*
 * run_target.c
 *		A running vacuum, as the functions that act on one see it.
 *
 * Runs in a session, with that session's role.
 */
#include "sql/run_target.h"

#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/acl.h"

#include "server/compat.h"
#include "shmem.h"

int
running_find(int pid, MeterSlot *slot)
{
	for (int i = 0; i < shmem_meter_count(); i++)
	{
		if (meter_read(i, slot) && slot->pid == pid)
			return i;
	}
	return -1;
}

/*
 * The rules are those of pg_cancel_backend().  A superuser may act on
 * anything.  The same role, or a member of it, may act on its own.
 * pg_signal_backend may act on what no superuser started.
 *
 * The vacuums that the system started itself run as superuser but belong to
 * nobody.  Whoever may signal backends may act on those as well, and so may
 * whoever could have run VACUUM on the table.
 */
bool
running_may_act(const MeterSlot *slot)
{
	PGPROC	   *proc = BackendPidGetProc(slot->pid);
	bool		ours = slot->starter != RUN_BY_MANUAL;

	if (superuser())
		return true;
	if (proc == NULL)
		return false;
	if (!ours && has_privs_of_role(GetUserId(), proc->roleId) &&
		!superuser_arg(proc->roleId))
		return true;
	if (has_privs_of_role(GetUserId(), ROLE_PG_SIGNAL_BACKEND) &&
		(ours || !superuser_arg(proc->roleId)))
		return true;
	return ours && slot->dboid == MyDatabaseId && slot->relid != InvalidOid &&
		compat_may_vacuum(slot->relid);
}
