/*
 * audit_calls.c
 *		What the functions that act tell the audit, and sweep.audit.
 */
#include "sql/audit_calls.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#include "shmem.h"
#include "sql/row.h"
#include "state/audit.h"

void
audit_table(const char *command, const Vacuumable *table, const char *detail)
{
	AuditTarget target = {table->key, table->schemaname, table->relname, 0};

	audit_note(command, &target, detail);
}

void
audit_vacuum(const char *command, const MeterSlot *slot, const char *detail)
{
	AuditTarget target = {{slot->dboid, slot->relid}, slot->schemaname, slot->relname, slot->pid};

	audit_note(command, &target, detail);
}

void
audit_server(const char *command, const char *detail)
{
	audit_note(command, NULL, detail);
}

const char *
audit_until(TimestampTz until, TimestampTz now)
{
	/* nobody reads microseconds */
	return until == now ? "ended" : psprintf("until %s", timestamptz_to_str(until - until % USECS_PER_SEC));
}

PG_FUNCTION_INFO_V1(sweep_audit_0_1);
Datum
sweep_audit_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	AuditRecord *records;
	int			count;

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);

	records = audit_copy(&count);
	for (int i = 0; i < count; i++)
	{
		const AuditRecord *r = &records[i];
		bool		has_table = OidIsValid(r->key.relid);

		CHECK_FOR_INTERRUPTS();
		row_put_time(&row, r->called_at);
		row_put_oid(&row, r->dboid);
		row_put(&row, Int32GetDatum(r->pid));
		row_put_text(&row, r->session_user[0] ? r->session_user : NULL);
		row_put_text(&row, r->current_user[0] ? r->current_user : NULL);
		row_put_text(&row, r->application_name);
		row_put_text(&row, r->command);
		row_put_oid(&row, r->key.relid);
		row_put_text(&row, has_table ? r->schemaname : NULL);
		row_put_text(&row, has_table ? r->relname : NULL);
		if (r->vacuum_pid != 0)
			row_put(&row, Int32GetDatum(r->vacuum_pid));
		else
			row_put_null(&row);
		row_put_text(&row, r->detail[0] ? r->detail : NULL);
		row_store(fcinfo, &row);
	}
	pfree(records);
	return (Datum) 0;
}
