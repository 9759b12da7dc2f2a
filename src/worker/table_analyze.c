/*
 * table_analyze.c
 *		One ANALYZE of one table by a worker: the command, the record, and what
 *		follows from it.
 *
 * Partitioned tables are analyzed by nobody else.  Others are autovacuum's.  It
 * is kept away from a table while that is vacuumed, and skips it.  So what is
 * due then is analyzed after the vacuum.  And where autovacuum does not come,
 * a survey finds what it has left.  Autovacuum never comes to tables of which
 * nobody has counted the rows, as after pg_upgrade.
 */
#include "postgres.h"

#include "worker/table_analyze.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/autovacuum.h"
#include "storage/bufmgr.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "server/bgworker.h"
#include "server/clock.h"
#include "server/compat.h"
#include "server/peek.h"
#include "settings.h"
#include "state/hold.h"
#include "state/worker_slot.h"
#include "worker/candidates.h"
#include "worker/remember.h"
#include "worker/statement.h"
#include "worker/table_run.h"

/*
 * ANALYZE of a partitioned table waits for locks on its partitions while it
 * holds others.  So it must not wait long.
 */
#define ANALYZE_LOCK_TIMEOUT_MS	100

/*
 * It also holds the horizon of its database for as long as it takes, which may
 * be long where a function is called for each row of its sample.  So it must
 * not be long.
 */
#define ANALYZE_LIMIT_MS	(30 * 1000)

/*
 * Autovacuum has come to a table that is due within so many of its naptimes, or
 * it does not come.
 */
#define LATE_NAPTIMES		2
#define UNCOUNTED_MS		(15 * 1000)
/* After so much longer what was known of that is of another time. */
#define LATE_FORGOTTEN_MS	(30 * 60 * 1000)
/* A survey has so many tables analyzed at most. */
#define LATE_TABLES			100

static void
log_analyze(const Candidate *c, const RunRecord *run, const char *reason)
{
	int			min_ms = compat_log_analyze_min_duration();

	if (run->outcome == RUN_DONE && min_ms >= 0 &&
		run->ended_at - run->started_at >= (int64) min_ms * 1000)
		ereport(LOG,
				(errmsg_internal("automatic analyze of table \"%s.%s.%s\": %s; elapsed: %.2f s",
								 table_run_database(), c->row.schemaname, c->row.relname, reason,
								 (run->ended_at - run->started_at) / 1000000.0)));
}

/* Returns false if the worker was told to stop.  Then nothing follows from it. */
static bool
analyze(const Candidate *c, const char *reason, int64 partition_changes, bool locked, RunRecord *run)
{
	TimestampTz began = GetCurrentTimestamp();
	Verdict		verdict = {0};
	int			sqlstate = 0;

	if (!locked)
	{
		bool		recorded;

		table_run_begin(c, RUN_ANALYZE, reason, &verdict, partition_changes);
		table_run_force_int("lock_timeout", ANALYZE_LOCK_TIMEOUT_MS);
		statement_limit(ANALYZE_LIMIT_MS);
		sqlstate = statement_try(statement_analyze(c->key.relid, c->row.schemaname, c->row.relname),
								 c->row.relname);
		statement_limit(0);
		SetConfigOption("lock_timeout", BGWORKER_LOCK_TIMEOUT, PGC_SUSET, PGC_S_OVERRIDE);
		recorded = table_run_end(run);
		if (worker_slot_is_stopped())
			return false;
		if (recorded)
		{
			log_analyze(c, run, reason);
			return true;
		}
	}
	table_run_record_unbegun(c, RUN_ANALYZE, reason, began, sqlstate, run);
	return true;
}

void
table_analyze_partitioned(const Candidate *c, const char *reason, int64 partition_changes, bool locked)
{
	VacuumMoment moment = {{0}};
	Verdict		verdict = {0};
	RunRecord	run;

	if (!analyze(c, reason, partition_changes, locked, &run))
		return;
	remember_run(c, c, &verdict, &run, &moment);
	pgstat_report_stat(true);
}

static bool
is_due(const Candidate *c)
{
	return sweep_analyze_scope == ANALYZE_ALL && sweep_mode == SWEEP_ACT && c->rules.enabled && !c->row.temporary &&
		candidate_is_in_scope(c) && c->weight.thresholds.analyze >= 0 &&
		((double) c->counters.mod > c->weight.thresholds.analyze || c->counters.unknown) &&
		!(c->decision && c->decision->kind == DECISION_SNOOZED && clock_now() < c->decision->not_before);
}

bool
table_analyze_is_followed(const Candidate *c)
{
	return clock_now() < c->memory.follows_until;
}

static void
analyze_ordinary(Candidate *c)
{
	char		reason[RUN_REASON_LEN];
	RunRecord	run;

	if (c->counters.unknown)
		strlcpy(reason, "no statistics", sizeof(reason));
	else
		snprintf(reason, sizeof(reason), "changed tuples " INT64_FORMAT " > %.0f", c->counters.mod,
				 c->weight.thresholds.analyze);
	if (!analyze(c, reason, -1, false, &run))
		return;
	remember_analyze(c, &run);
	pgstat_report_stat(true);
}

void
table_analyze_after_vacuum(Candidate *c, int64 took_us)
{
	if (is_due(c) && clock_now() >= c->memory.analyze_after && !hold_is_on() &&
		(!AutoVacuumingActive() || took_us >= autovacuum_naptime * USECS_PER_SEC))
		analyze_ordinary(c);
}

static void
count_pages(Relation rel, void *pages)
{
	*(BlockNumber *) pages = RelationGetNumberOfBlocks(rel);
}

/* A table without rows needs no statistics.  Inside a transaction. */
static bool
has_pages(Oid relid)
{
	BlockNumber pages = 0;

	return peek(relid, count_pages, &pages) == PEEK_SEEN && pages > 0;
}

/*
 * How long is a table left to autovacuum that was seen to be due?  Autovacuum
 * goes by changes.  So it never comes where there are none, but the session
 * that has made the table may not have told its counters yet.
 */
static int64
wait_ms(const Candidate *c)
{
	int64		ms = AutoVacuumingActive() ? LATE_NAPTIMES * 1000 * (int64) autovacuum_naptime : 0;

	if (c->counters.unknown)
		return UNCOUNTED_MS;
	return table_analyze_is_followed(c) ? Max(ms, ANALYZE_FOLLOWED_MS) : ms;
}

/* Has autovacuum not come to it for a while, since that was noted? */
static bool
is_late(const Candidate *c)
{
	TimestampTz now = clock_now();
	TimestampTz after = c->memory.analyze_after;

	return is_due(c) && now >= after &&
		(wait_ms(c) == 0 || (after != 0 && now < clock_after(after, LATE_FORGOTTEN_MS)));
}

static void
come_again(LateTables *late, TimestampTz at)
{
	late->again = late->again == 0 ? at : Min(late->again, at);
}

void
table_analyze_look(LateTables *late, Candidate *c)
{
	TimestampTz now = clock_now();

	if (!is_due(c) || (c->counters.unknown && !has_pages(c->key.relid)))
		return;
	if (now < c->memory.analyze_after)
		come_again(late, c->memory.analyze_after);
	else if (is_late(c) && list_length(late->keys) < LATE_TABLES)
	{
		DecisionKey *key = palloc(sizeof(DecisionKey));

		*key = c->key;
		late->keys = lappend(late->keys, key);
	}
	else if (is_late(c) || late->noted == LATE_TABLES)
		come_again(late, now);
	else
	{
		remember_analyze_after(c, wait_ms(c));
		come_again(late, clock_after(now, wait_ms(c)));
		late->noted++;
	}
}

void
table_analyze_late(DecisionKey key)
{
	List	   *named = candidates_named(&key, 1);

	if (named != NIL && is_late(linitial(named)) && !hold_is_on())
		analyze_ordinary(linitial(named));
}
