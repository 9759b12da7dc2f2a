/*
 * running.c
 *		A running vacuum, as the functions that act on one see it.
 *
 * In a session, by its own role.
 */
#include "running.h"

#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/acl.h"

#include "compat.h"

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
 * As pg_cancel_backend(): a superuser anything; the same role, or a member of
 * it, its own; pg_signal_backend what no superuser started.  The vacuums that
 * the system started itself run as superuser but belong to nobody: who may
 * signal backends may act on those as well, and so may who could have run
 * VACUUM on the table.
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
