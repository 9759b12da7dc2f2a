/*
 * audit.c
 *		Who has called which of the functions that act, and with what.
 *
 * The log keeps it for as long as the log is kept.  What is in shared memory
 * is for sweep.audit, and begins anew when the server starts.
 */
#include "state/audit.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/guc.h"

#include "server/clock.h"
#include "shmem.h"

/* Cuts between two characters. */
static void
copy_text(char *to, const char *from, size_t size)
{
	int			length = pg_mbcliplen(from, (int) strlen(from), (int) size - 1);

	memcpy(to, from, length);
	to[length] = '\0';
}

static void
copy_role(char *to, Oid role)
{
	char	   *name = GetUserNameFromId(role, true);

	strlcpy(to, name ? name : "", NAMEDATALEN);
}

/* One part of the text after another, with commas between them. */
static void
add_part(StringInfo text, const char *part)
{
	if (part[0] != '\0')
		appendStringInfo(text, "%s%s", text->len > 0 ? ", " : ": ", part);
}

static void
write_log(const AuditRecord *r)
{
	StringInfoData text;

	initStringInfo(&text);
	if (r->vacuum_pid != 0)
		add_part(&text, psprintf("process %d", r->vacuum_pid));
	if (r->relname[0] != '\0')
		add_part(&text, psprintf("\"%s.%s\"", r->schemaname, r->relname));
	add_part(&text, r->detail);
	/* who has cancelled himself is to see the answer first, as without a log */
	HOLD_INTERRUPTS();
	ereport(LOG,
			(errmsg("pg_sweep: \"%s\" called sweep.%s()%s", r->session_user, r->command, text.data),
			 errhidestmt(true),
			 errhidecontext(true)));
	RESUME_INTERRUPTS();
	pfree(text.data);
}

void
audit_note(const char *command, const AuditTarget *target, const char *detail)
{
	AuditRecord r;
	AuditState *audit = &sweep_shared->audit;

	memset(&r, 0, sizeof(r));
	r.called_at = clock_now();
	r.dboid = MyDatabaseId;
	r.pid = MyProcPid;
	copy_role(r.session_user, GetSessionUserId());
	copy_role(r.current_user, GetUserId());
	copy_text(r.application_name, application_name ? application_name : "", sizeof(r.application_name));
	strlcpy(r.command, command, sizeof(r.command));
	if (target)
	{
		r.key = target->key;
		r.vacuum_pid = target->vacuum_pid;
		strlcpy(r.schemaname, target->schemaname, NAMEDATALEN);
		strlcpy(r.relname, target->relname, NAMEDATALEN);
	}
	copy_text(r.detail, detail ? detail : "", sizeof(r.detail));

	LWLockAcquire(shmem_lock(LOCK_AUDIT), LW_EXCLUSIVE);
	audit->records[audit->count % SWEEP_AUDIT_LIMIT] = r;
	audit->count++;
	LWLockRelease(shmem_lock(LOCK_AUDIT));
	write_log(&r);
}

AuditRecord *
audit_copy(int *count)
{
	AuditRecord *records = palloc(sizeof(AuditRecord) * SWEEP_AUDIT_LIMIT);
	const AuditState *audit = &sweep_shared->audit;
	int64		first;

	LWLockAcquire(shmem_lock(LOCK_AUDIT), LW_SHARED);
	first = Max(audit->count - SWEEP_AUDIT_LIMIT, 0);
	*count = (int) (audit->count - first);
	for (int i = 0; i < *count; i++)
		records[i] = audit->records[(first + i) % SWEEP_AUDIT_LIMIT];
	LWLockRelease(shmem_lock(LOCK_AUDIT));
	return records;
}
