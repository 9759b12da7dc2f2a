/*
 * round.c
 *		A round of the launcher: what is due, who is sent, and when the next
 *		one comes.
 *
 * Runs in the launcher.  The scout walks the statistics, and what users have
 * asked for is added.  Then it is published, and workers are sent.  Locks:
 * those of the scout, and LOCK_REQUESTS, LOCK_DATABASES, LOCK_QUEUE and
 * LOCK_WORKERS, one at a time and briefly.
 */
#include "launcher/round.h"

#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "launcher/databases.h"
#include "launcher/dispatch.h"
#include "launcher/hours.h"
#include "launcher/scout.h"
#include "launcher/table_activity.h"
#include "launcher/worth_watch.h"
#include "server/clock.h"
#include "server/next_checkpoint.h"
#include "server/standbys.h"
#include "shmem.h"
#include "state/queue.h"
#include "state/requests.h"
#include "state/trial.h"
#include "state/worker_claims.h"
#include "state/xid_rate.h"

#define ROUNDS_SHARE			0.008	/* of a processor, with what visits
										 * look at */
#define CATALOGS_BUSY_MS		10000	/* after a catalog was due */
#define CATALOGS_NAP_MS			200 /* between rounds then */
#define WAKE_MS					10	/* after a table has waited long enough */

static TimestampTz wake_at = 0; /* see ScoutReport */
static bool checkpoint_wanted = false;
static TimestampTz catalogs_due_at = 0; /* when a catalog was due the last
										 * time */
static double least_naptime_ms = 0; /* so that rounds take no more than
									 * ROUNDS_SHARE */

/* ----
 * What users ask for
 * ----
 */

/* Returns why a request cannot be served in its database, or NULL. */
static const char *
why_not_served(const Request *request)
{
	const LauncherDatabase *db = databases_find(request->dboid);

	if (sweep_mode != SWEEP_ACT || shmem_is_off() || !pgstat_track_counts)
		return "pg_sweep does not vacuum any more, see sweep.status";
	if (db != NULL && db->scope != DATABASE_OURS)
		return "its database was excluded";
	if (db != NULL && !db->connectable)
		return "its database does not accept connections any more";
	/* a database that is not known yet may be new */
	if (db == NULL && databases_were_read_since(request->requested_at))
		return "its database was dropped";
	return NULL;
}

/* Adds to what the scout has seen what it cannot see. */
static void
add_requests(HTAB *seen_databases, TimestampTz now)
{
	Request    *requests;
	WorkerClaims claims;
	int			count;

	requests_drop(why_not_served);
	requests = requests_copy(&count);
	if (count > 0)
		worker_claims_get(&claims);
	for (int i = 0; i < count; i++)
	{
		ScoutDatabase *seen;
		bool		found;

		seen = hash_search(seen_databases, &requests[i].dboid, HASH_ENTER, &found);
		if (!found)
			memset((char *) seen + sizeof(Oid), 0, sizeof(*seen) - sizeof(Oid));
		seen->requested += requests_is_ready(&requests[i], &claims, requests[i].dboid, false, now);
		seen->requested_catalogs += requests_is_ready(&requests[i], &claims, requests[i].dboid,
													  true, now);
	}
	pfree(requests);
}

void
round_drop_requests(void)
{
	requests_drop(why_not_served);
}

/* ----
 * When the next one comes
 * ----
 */

TimestampTz
round_earliest(TimestampTz wanted, TimestampTz began)
{
	return Max(wanted, clock_after(began, (int64) least_naptime_ms));
}

TimestampTz
round_next(TimestampTz began)
{
	TimestampTz now = clock_now();
	TimestampTz next = clock_after(began, Max((int64) sweep_shared->launcher.naptime_ms, sweep_naptime_ms));
	int64		wait_ms = next_checkpoint_ms(now) - NEXT_CHECKPOINT_LEAD_MS;
	TimestampTz exact_at = next_checkpoint_round_at(now, checkpoint_wanted && sweep_checkpoint_aware);

	if (sweep_checkpoint_aware && wait_ms > 0 && wait_ms < sweep_naptime_ms)
		next = Min(next, TimestampTzPlusMilliseconds(now, wait_ms));
	if (exact_at > now)
		next = Min(next, exact_at);
	if (wake_at != 0)
		next = Min(next, round_earliest(clock_after(wake_at, WAKE_MS), began));
	/* where one catalog was due the next garbage is not far */
	if (catalogs_due_at != 0 && now < clock_after(catalogs_due_at, CATALOGS_BUSY_MS))
		next = Min(next, round_earliest(clock_after(began, CATALOGS_NAP_MS), began));
	return next;
}

/* What workers have used since the last round, without vacuums and surveys. */
static double
visits_cpu_ms(void)
{
	static uint64 before = 0;
	uint64		now = pg_atomic_read_u64(&sweep_shared->visits_cpu_us) -
		pg_atomic_read_u64(&sweep_shared->surveys_cpu_us);
	double		ms = before == 0 ? 0 : (double) (int64) (now - before) / 1000;

	before = now;
	return Max(ms, 0);
}

/*
 * The naptime is sweep.naptime, or long enough that rounds and the visits
 * that follow from them take at most a hundredth of a processor.  With a
 * million relations it is the latter.
 */
static double
naptime_ms(double cpu_ms)
{
	static double mean_ms = 0;

	mean_ms += (mean_ms == 0 ? 1.0 : 0.2) * (cpu_ms - mean_ms);
	least_naptime_ms = mean_ms / ROUNDS_SHARE;
	return Max((double) sweep_naptime_ms, least_naptime_ms);
}

/* ----
 * The round
 * ----
 */

static void
publish_round(const ScoutReport *report, HTAB *seen_databases, TimestampTz began,
			  TimestampTz ended)
{
	HASH_SEQ_STATUS status;
	const ScoutDatabase *seen;
	double		ms = (double) (ended - began) / 1000.0;
	double		nap_ms = naptime_ms(report->cpu_ms + visits_cpu_ms());
	int64		due = 0;

	hash_seq_init(&status, seen_databases);
	while ((seen = hash_seq_search(&status)) != NULL)
	{
		if (seen->dboid == InvalidOid || databases_is_ours(seen->dboid))
			due += seen->waiting;
	}

	SpinLockAcquire(&sweep_shared->mutex);
	sweep_shared->launcher.rounds++;
	sweep_shared->launcher.last_round_at = ended;
	sweep_shared->launcher.last_round_ms = ms;
	sweep_shared->launcher.max_round_ms = Max(sweep_shared->launcher.max_round_ms, ms);
	sweep_shared->launcher.last_lock_ms = report->max_lock_ms;
	sweep_shared->launcher.max_lock_ms = Max(sweep_shared->launcher.max_lock_ms, report->max_lock_ms);
	sweep_shared->launcher.naptime_ms = nap_ms;
	sweep_shared->launcher.relations = report->relations;
	sweep_shared->launcher.due = due;
	SpinLockRelease(&sweep_shared->mutex);
}

void
round_run(void)
{
	MemoryContext context = CurrentMemoryContext;
	TimestampTz began = clock_now();
	HTAB	   *seen;
	ScoutReport report;

	databases_read(began);
	MemoryContextSwitchTo(context); /* a transaction may have left another
									 * context */
	began = clock_now();
	seen = scout_create_databases(CurrentMemoryContext);
	next_checkpoint_watch(began, checkpoint_wanted && sweep_checkpoint_aware && sweep_mode == SWEEP_ACT);
	if (standbys_watch(began))
		databases_survey_all(began);
	hours_begin_walk(began);
	report = scout_round(seen, began);
	activity_end_walk();
	add_requests(seen, began);
	if (databases_are_new(seen))
	{
		databases_forget_when_read();
		databases_read(began);
		MemoryContextSwitchTo(context);
	}
	wake_at = report.wake_at;
	checkpoint_wanted = report.checkpoint_wanted;
	if (report.catalogs_due && !standbys_can_conflict())
		catalogs_due_at = began;
	publish_round(&report, seen, began, clock_now());
	databases_publish(seen);
	queue_publish(databases_is_ours, began);
	xid_rate_sample(began);
	trial_follow();
	worth_watch(began);
	dispatch_workers(seen, began);
	hash_destroy(seen);
	hours_close(began);
}

void
round_forget_wake(void)
{
	wake_at = 0;
}

void
round_set_back(int64 us)
{
	clock_move(&wake_at, us);
	clock_move(&catalogs_due_at, us);
}
