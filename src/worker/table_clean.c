/*
 * table_clean.c
 *		One clean-up of one table by a worker: dead rows are removed one by one.
 *
 * The work is done by the library pg_sweep_cleaner, which changes pages.  It
 * is loaded here, into a worker, when it is needed for the first time.  To
 * the meter, the pacer and the governor the clean-up is a run like a vacuum.
 */
#include "worker/table_clean.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "meter/meter.h"
#include "server/clock.h"
#include "server/compat.h"
#include "shmem.h"
#include "state/worker_slot.h"
#include "worker/clean_job.h"
#include "worker/statement.h"
#include "worker/table_run.h"

/* For older transactions, at the end.  The next look in memory comes soon. */
#define WAIT_MS			10000
#define WAIT_CACHED_MS	1000
#define WAIT_STEP_MS	100

static CleanFunction
load(void)
{
	static CleanFunction function = NULL;

	if (function == NULL)
		function = (CleanFunction) load_external_function(CLEAN_LIBRARY, CLEAN_FUNCTION, true, NULL);
	return function;
}

static void
wait_a_moment(void)
{
	clock_wait_until(clock_after(clock_now(), WAIT_STEP_MS));
}

static void
run_job(void *arg)
{
	CleanFunction clean = load();

	compat_begin_costs();
	clean(arg);
	compat_end_costs();
}

static void
log_job(const Candidate *c, const CleanJob *job, const RunRecord *run, const char *reason)
{
	int			min_ms = compat_log_vacuum_min_duration(c->rules.opts);
	const CleanCounts *n = &job->counts;

	if (min_ms < 0 || run->ended_at - run->started_at < (int64) min_ms * 1000)
		return;
	ereport(LOG,
			(errmsg_internal("automatic clean-up of table \"%s.%s.%s\": %s\n"
							 "pages: " INT64_FORMAT " scanned, " INT64_FORMAT " pinned by others\n"
							 "tuples: " INT64_FORMAT " removed, " INT64_FORMAT " left to VACUUM, "
							 INT64_FORMAT " left because that would take I/O\n"
							 "index entries: " INT64_FORMAT " removed from " INT64_FORMAT " pages, "
							 INT64_FORMAT " not found, " INT64_FORMAT " pages pinned by others, "
							 INT64_FORMAT " left to be emptied by VACUUM\n"
							 "dead item identifiers: " INT64_FORMAT " recycled, " INT64_FORMAT
							 " pages changed meanwhile\n"
							 "elapsed: %.2f s",
							 table_run_database(), c->row.schemaname, c->row.relname, reason,
							 n->pages, n->pages_pinned, n->rows + n->rows_hot, n->rows_left, n->rows_costly,
							 n->entries, n->leaves, n->entries_not_found, n->leaves_pinned,
							 n->leaves_emptied, n->recycled, n->pages_changed,
							 (run->ended_at - run->started_at) / 1000000.0)));
}

CleanOutcome
table_clean(const Candidate *c, const CleanPages *pages, const char *reason, bool (*must_stop) (void))
{
	CleanOutcome result = {0};
	TimestampTz began = GetCurrentTimestamp();
	Verdict		verdict = {.yields = PACER_YIELDS};
	CleanJob	job = {0};
	RunRecord	run = {0};
	int			sqlstate;

	/* an error leaves what it has there */
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "clean-up", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller;

	job.size = sizeof(CleanJob);
	job.relid = c->key.relid;
	if (pages != NULL)
	{
		Assert(pages->count > 0);
		job.cached = pages->pages;
		job.ncached = pages->count;
	}
	job.work_mem_kb = maintenance_work_mem;
	job.wait_ms = pages != NULL ? WAIT_CACHED_MS : WAIT_MS;
	job.must_stop = must_stop;
	job.wait = wait_a_moment;

	table_run_begin(c, RUN_CLEAN, reason, &verdict, -1);
	meter_clean_begin();
	caller = MemoryContextSwitchTo(context);
	sqlstate = statement_try_call(run_job, &job, job.relid, "clean-up", c->row.relname);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	if (sqlstate != 0)
		compat_end_costs();
	if (job.why_not != NULL)
		meter_clean_forget();
	else
		meter_clean_end(job.relid, sqlstate, job.counts.pages, job.counts.rows + job.counts.rows_hot);

	if (table_run_end(&run))
		log_job(c, &job, &run, reason);
	else if (sqlstate != 0)
		run.outcome = RUN_FAILED;
	else if (job.why_not != NULL)
		table_run_record_unbegun(c, RUN_CLEAN, reason, began, job.locked ? 0 : ERRCODE_FEATURE_NOT_SUPPORTED, &run);
	if (job.why_not != NULL && !job.locked)
		ereport(LOG,
				(errmsg("pg_sweep: table \"%s.%s.%s\" cannot be cleaned: %s",
						table_run_database(), c->row.schemaname, c->row.relname, job.why_not),
				 errhint("Vacuum it instead.")));
	pgstat_report_stat(true);
	result.outcome = job.locked ? RUN_SKIPPED : (RunOutcome) run.outcome;
	result.why_not = job.locked ? NULL : job.why_not;
	result.counts = job.counts;
	return result;
}
