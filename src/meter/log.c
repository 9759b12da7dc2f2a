/*
 * log.c
 *		What VACUUM itself writes about a table: reads it and passes it on.
 *
 * Core logs an automatic vacuum only when its own worker runs it.  So a
 * worker of ours says VACUUM (VERBOSE), takes the report from the log hook
 * before it is written, and writes it as core's line.  The report is also the
 * only place that tells the number of removed tuples.  The report of a core
 * worker is read when that worker logs it.
 *
 * The hook runs in any process, inside error reporting.  It allocates nothing
 * and raises no error.
 */
#include "meter/log.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/backend_status.h"
#include "utils/elog.h"

#include "meter/meter.h"
#include "meter/pacer.h"
#include "policy/activity.h"
#include "policy/report.h"
#include "server/breaker.h"
#include "server/compat.h"
#include "shmem.h"

/*
 * What lazy_check_wraparound_failsafe() says.  Before 16 nothing else tells.
 */
#define FAILSAFE_MESSAGE	"bypassing nonessential maintenance of table"

/* What vacuum_open_relation() says of a table that is locked. */
#define SKIPPING_VACUUM		"skipping vacuum of "

#define REPORT_SIZE		8192	/* more than a report of 30 indexes */

int			log_last_sqlstate = 0;
char		log_last_error[RUN_REASON_LEN] = "";

static emit_log_hook_type prev_hook = NULL;

static struct
{
	bool		active;
	bool		captured;
	bool		aggressive;
	int			min_messages;
	char		name[3 * NAMEDATALEN];	/* database.schema.table */
	char		body[REPORT_SIZE];
}			capture;

/*
 * The vacuum has its table, and in newer servers its indexes, and begins.
 * What is left to wait for comes when the work is done: the row of pg_class is updated in place, and
 * whoever has changed that row, as GRANT does, has to end first.  To give up
 * then would throw the work away.  So it waits, as autovacuum does.  Who waits
 * for something else is ended by the governor.  table_vacuum.c sets lock_timeout
 * again.
 */
static void
wait_for_locks(void)
{
	LockTimeout = 0;
}

/* Takes a message of VACUUM (VERBOSE), and keeps it out of the log. */
static void
capture_message(const ErrorData *edata)
{
	const char *body;
	VacuumReport report;

	if (edata->message == NULL)
		return;
	if (strncmp(edata->message, "aggressively vacuuming \"", 24) == 0)
		capture.aggressive = true;
	if (capture.aggressive || strncmp(edata->message, "vacuuming \"", 11) == 0)
		wait_for_locks();
	body = report_body(edata->message, "finished vacuuming \"", capture.name);
	if (body == NULL)
		return;
	strlcpy(capture.body, body, sizeof(capture.body));
	capture.captured = true;
	if (report_parse(body, &report))
		meter_report(report.tuples_removed, report.dead_not_removable,
					 report.index_scans, capture.aggressive);
}

/* Reads core's line about its own vacuum. */
static void
read_core_report(const ErrorData *edata)
{
	VacuumReport report;

	if (edata->message != NULL &&
		strncmp(edata->message, "automatic ", 10) == 0 &&
		report_parse(edata->message, &report))
		meter_report(report.tuples_removed, report.dead_not_removable,
					 report.index_scans,
					 strncmp(edata->message, "automatic aggressive ", 21) == 0);
}

/*
 * Of which table does this core worker skip the vacuum, and nothing else?  The
 * message has no schema, and does not say whether there would have been an
 * ANALYZE.  So it comes from the worker's activity.  False where that does not
 * tell.
 */
static bool
find_skipped(char *schemaname, char *relname)
{
	ActivityText text;

	return MyBEEntry != NULL &&
		activity_parse((const char *) MyBEEntry->st_activity_raw, pgstat_track_activity_query_size,
					   schemaname, relname, NAMEDATALEN, &text) && text.named && !text.analyze;
}

/*
 * Core's worker says "skipping vacuum of ... lock not available" at each of
 * its rounds while a worker of ours vacuums the table.  The table is not
 * missing that vacuum, so nobody needs to hear of it.  But it may miss its
 * ANALYZE.
 */
static bool
is_vacuumed_by_us(const ErrorData *edata)
{
	static MeterSlot slot;		/* it is too large for a stack as deep as this */
	char		schemaname[NAMEDATALEN];
	char		relname[NAMEDATALEN];

	if (edata->message_id == NULL || sweep_shared == NULL ||
		strncmp(edata->message_id, SKIPPING_VACUUM, strlen(SKIPPING_VACUUM)) != 0 ||
		!find_skipped(schemaname, relname))
		return false;
	for (int i = 0; i < shmem_meter_count(); i++)
	{
		if (meter_read(i, &slot) && slot.starter == RUN_BY_SWEEP && slot.command == RUN_VACUUM &&
			slot.dboid == MyDatabaseId && strcmp(slot.relname, relname) == 0 &&
			strcmp(slot.schemaname, schemaname) == 0)
			return true;
	}
	return false;
}

/*
 * "skipping vacuum of ..." because the table is locked or gone.  Our worker
 * remembers that itself, as a decision.
 */
static bool
is_skipping(const ErrorData *edata)
{
	return edata->elevel == WARNING &&
		(edata->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE || edata->sqlerrcode == ERRCODE_UNDEFINED_TABLE);
}

/*
 * As is_log_level_output() of elog.c does, this ranks LOG between ERROR and
 * FATAL.
 */
static bool
level_is_logged(int elevel, int min_messages)
{
	if (elevel == LOG || elevel == LOG_SERVER_ONLY)
		return min_messages == LOG || min_messages <= ERROR;
	if (min_messages == LOG)
		return elevel >= FATAL;
	return elevel >= min_messages;
}

/*
 * VACUUM's context names the index that it was at, which the message itself
 * may not do.
 */
static void
note_error(const ErrorData *edata)
{
	const char *message = edata->message ? edata->message : "";
	char		index[NAMEDATALEN + 12] = "";
	int			room;

	if (edata->context)
		(void) report_index(edata->context, index, sizeof(index));
	if (index[0] != '\0' && strstr(message, index) != NULL)
		index[0] = '\0';
	room = RUN_REASON_LEN - 1 - (index[0] != '\0' ? (int) strlen(index) + 2 : 0);
	snprintf(log_last_error, RUN_REASON_LEN, "%.*s%s%s",
			 pg_mbcliplen(message, (int) strlen(message), room), message, index[0] != '\0' ? ", " : "", index);
	log_last_sqlstate = edata->sqlerrcode;
}

static void
look_at(ErrorData *edata)
{
	if (edata->elevel == WARNING && edata->message_id != NULL &&
		strncmp(edata->message_id, FAILSAFE_MESSAGE, strlen(FAILSAFE_MESSAGE)) == 0)
		pacer_failsafe();
	if (edata->elevel >= ERROR)
		note_error(edata);
	else if (capture.active)
	{
		if (edata->elevel == INFO)
			capture_message(edata);
		if (edata->elevel == INFO || is_skipping(edata) ||
			!level_is_logged(edata->elevel, capture.min_messages))
			edata->output_to_server = false;
	}
	else if (edata->elevel == LOG && compat_am_autovacuum_worker())
	{
		if (edata->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE && is_vacuumed_by_us(edata))
			edata->output_to_server = false;
		else
			read_core_report(edata);
	}
}

static void
hook(ErrorData *edata)
{
	/* of an error elsewhere only its code is kept */
	bool		reads = capture.active || compat_am_autovacuum_worker();
	int			before = reads ? breaker_enter() : 0;

	look_at(edata);
	if (reads)
		breaker_leave(before);
	if (prev_hook)
		prev_hook(edata);
}

void
log_install_hook(void)
{
	prev_hook = emit_log_hook;
	emit_log_hook = hook;
}

void
log_capture_begin(const char *datname, const char *schemaname,
				  const char *relname, int min_messages)
{
	snprintf(capture.name, sizeof(capture.name), "%s.%s.%s", datname, schemaname, relname);
	capture.captured = capture.aggressive = false;
	capture.min_messages = min_messages;
	capture.active = true;
}

void
log_capture_end(void)
{
	capture.active = false;
}

void
log_captured(const char *note)
{
	if (!capture.captured)
		return;
	capture.captured = false;
	ereport(LOG,
			(errmsg_internal("automatic %svacuum of table \"%s\": %s\nsweep: %s",
							 capture.aggressive ? "aggressive " : "",
							 capture.name, capture.body, note)));
}
