/*
 * table_vacuum.c
 *		One vacuum of one table by a worker: the command, the record, and what
 *		follows from it.
 */
#include "worker/table_vacuum.h"

#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/backend_status.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "meter/log.h"
#include "meter/pin_wait.h"
#include "server/bgworker.h"
#include "server/clock.h"
#include "server/compat.h"
#include "server/horizon.h"
#include "shmem.h"
#include "state/worker_slot.h"
#include "worker/candidates.h"
#include "worker/parallel_indexes.h"
#include "worker/pending_lists.h"
#include "worker/remember.h"
#include "worker/statement.h"
#include "worker/table_run.h"

/* Of a table with fewer nobody misses the empty end. */
#define TRUNCATE_PAGES	1024

static void
log_run(const Candidate *c, const RunRecord *run, const char *reason)
{
	int			min_ms = compat_log_vacuum_min_duration(c->rules.opts);

	if (min_ms >= 0 && run->ended_at - run->started_at >= (int64) min_ms * 1000)
		log_captured(reason);
}

static void
describe_reason(const Candidate *c, const Verdict *verdict, char *reason)
{
	char		what[64];

	if (verdict->requested_by)
	{
		snprintf(reason, RUN_REASON_LEN, "requested by %s", verdict->requested_by);
		return;
	}
	candidate_why_due(c, what, sizeof(what));
	snprintf(reason, RUN_REASON_LEN, "%s, score %.2f%s", what, c->weight.score.score,
			 candidate_is_due_by_inserts(c) && c->memory.late_since != 0 ? ", late" : "");
}

static VacuumMoment
moment_before(const Candidate *c)
{
	VacuumMoment moment;

	moment.horizon = horizon_of_database(c->key.dboid, c->row.catalog_horizon);
	moment.next_xid = ReadNextFullTransactionId();
	moment.beside_ms = 0;
	return moment;
}

/* Dead rows against the threshold.  A table that is never due has none. */
static double
dead_ratio(const Candidate *c)
{
	double		threshold = c->weight.thresholds.vacuum;

	return threshold < 0 ? 0 : (double) c->counters.dead / Max(threshold, 1);
}

static bool oldest_moved = false;	/* see table_vacuum_moved_oldest() */

/*
 * Were the table's oldest ids those of the whole database, and has its vacuum
 * moved them on?
 */
static bool
has_moved_oldest(const Candidate *before, const Candidate *after)
{
	HeapTuple	tuple;
	bool		moved = false;

	if (before->row.frozenxid == after->row.frozenxid && before->row.minmxid == after->row.minmxid)
		return false;
	StartTransactionCommand();
	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_database form = (Form_pg_database) GETSTRUCT(tuple);

		moved = (before->row.frozenxid != after->row.frozenxid &&
				 TransactionIdPrecedesOrEquals(before->row.frozenxid, form->datfrozenxid)) ||
			(before->row.minmxid != after->row.minmxid &&
			 MultiXactIdPrecedesOrEquals(before->row.minmxid, form->datminmxid));
		ReleaseSysCache(tuple);
	}
	CommitTransactionCommand();
	return moved;
}

bool
table_vacuum_moved_oldest(void)
{
	bool		moved = oldest_moved;

	oldest_moved = false;
	return moved;
}

/* Where this process's last VACUUM ended.  With track_activities off nothing tells. */
static bool
was_at_indexes(void)
{
	int64		phase = MyBEEntry->st_progress_param[PROGRESS_VACUUM_PHASE];

	return phase == PROGRESS_VACUUM_PHASE_VACUUM_INDEX || phase == PROGRESS_VACUUM_PHASE_INDEX_CLEANUP;
}

RunOutcome
table_vacuum(Candidate *c, const Verdict *verdict)
{
	char		reason[RUN_REASON_LEN];
	VacuumMoment moment = moment_before(c);
	TimestampTz began = GetCurrentTimestamp();
	double		cpu_ms = clock_cpu_ms();
	RunRecord	run;
	bool		recorded;
	int			sqlstate;
	Candidate	before = *c;
	Verdict		done = *verdict;
	MemoryContext context = CurrentMemoryContext;

	/*
	 * Where others have locks VACUUM tries for 5 s to get the one by which it
	 * truncates the file, and holds its own meanwhile.  So that is not done
	 * at each vacuum of a busy table, and never for a few pages.
	 */
	if (verdict->requested_by == NULL && statement_must_wait(c->key.relid, AccessExclusiveLock))
	{
		done.waits_to_truncate = !done.options.keep_size && c->row.pages >= TRUNCATE_PAGES &&
			clock_now() >= c->memory.truncate_after;
		done.options.keep_size |= !done.waits_to_truncate;
	}
	done.options.parallel = parallel_indexes_workers(c, &done.options);
	describe_reason(c, verdict, reason);
	worker_slot_vacuums(dead_ratio(c), table_memory_is_patient(&c->memory));
	table_run_begin(c, RUN_VACUUM, reason, verdict, -1);
	pin_wait_begin(verdict->catch_up);
	sqlstate = statement_try(statement_vacuum(c->key.relid, c->row.schemaname, c->row.relname,
											  &done.options), c->row.relname);
	/* as it was before the vacuum had its locks: see log.c */
	SetConfigOption("lock_timeout", BGWORKER_LOCK_TIMEOUT, PGC_SUSET, PGC_S_OVERRIDE);
	done.gave_up = pin_wait_end() && sqlstate == ERRCODE_QUERY_CANCELED;
	done.gave_way = statement_gave_way();
	if (sqlstate != 0 && done.options.parallel > 0)
		parallel_indexes_failed(sqlstate);
	recorded = table_run_end(&run);
	done.in_indexes = recorded && sqlstate != 0 && was_at_indexes();
	/* a run takes at least as long as the processor time that it uses */
	if (recorded)
		moment.beside_ms = Max(clock_cpu_ms() - cpu_ms - (double) (run.ended_at - run.started_at) / 1000, 0);

	if (worker_slot_is_stopped())
		return RUN_CANCELLED;	/* we stopped it ourselves, so no back-off */
	if (recorded)
		log_run(c, &run, reason);
	c->vacuumed_now = recorded;
	if (!candidate_is_there(c))
		return RUN_DONE;		/* the table was dropped meanwhile */
	oldest_moved = has_moved_oldest(&before, c) || oldest_moved;
	MemoryContextSwitchTo(context);
	done.pending_lists = done.pending_lists && recorded && run.outcome == RUN_DONE && pending_lists_empty(c);
	if (!recorded)
		table_run_record_unbegun(c, RUN_VACUUM, reason, began, sqlstate, &run);
	remember_run(c, &before, &done, &run, &moment);
	pgstat_report_stat(true);
	return (RunOutcome) run.outcome;
}
