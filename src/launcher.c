/*
 * launcher.c
 *		The process that keeps pg_sweep going: which database is due, start and
 *		reap workers, save the ledger.
 *
 * One static background worker, connected to no database: it sees the shared
 * catalogs and shared memory.  Every sweep.naptime it lets the scout read the
 * statistics, writes what came out into the DatabaseStates and starts workers
 * where something is due.  It never waits for anything but its latch.
 *
 * Locks: LOCK_DATABASES and LOCK_WORKERS, one at a time and briefly; what the
 * scout takes.
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/procarray.h"
#include "storage/procsignal.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "bgworker.h"
#include "breaker.h"
#include "clock.h"
#include "compat.h"
#include "databases.h"
#include "decisions.h"
#include "features.h"
#include "hold.h"
#include "ledger.h"
#include "next_checkpoint.h"
#include "policy/backoff.h"
#include "policy/garbage.h"
#include "queue.h"
#include "requests.h"
#include "scout.h"
#include "surveys.h"
#include "worker_slot.h"
#include "xid_rate.h"

#define SURVEY_INTERVAL_MS		600000	/* an active database, at least */
#define FIRST_SURVEY_MS			60000	/* one without statistics, within */
#define SAVE_INTERVAL_MS		5000
#define SAVE_WARNING_MS			600000
#define ROUNDS_SHARE			0.01	/* of a processor */
#define ROUND_BACKOFF_MS		1000	/* after a round that failed */
#define ROUND_BACKOFF_MAX_MS	60000
#define CATALOGS_BUSY_MS		10000	/* after a catalog was due */
#define CATALOGS_NAP_MS			200 /* between rounds then */
#define WAKE_MS					10	/* after a table has waited long enough */
#define HURRY_MS				100 /* between rounds while a place is wanted,
									 * or something was asked for */

static bool place_wanted[2];	/* the last round found none; for catalogs */
static TimestampTz wake_at = 0; /* see ScoutReport */
static bool checkpoint_wanted = false;
static TimestampTz catalogs_due_at = 0; /* the last time that one was */
static int	failed_rounds = 0;	/* in a row */
static double least_naptime_ms = 0; /* so that rounds take ROUNDS_SHARE */
static TimestampTz save_next = 0;
static TimestampTz save_warned_at = 0;

/* ----
 * Where to go next
 * ----
 */

typedef struct Destination
{
	LauncherDatabase *db;
	const ScoutDatabase *seen;
	double		urgency;
} Destination;

static int
more_urgent_first(const void *a, const void *b)
{
	double		x = ((const Destination *) a)->urgency;
	double		y = ((const Destination *) b)->urgency;

	return x < y ? 1 : (x > y ? -1 : 0);
}

static bool
may_visit(const LauncherDatabase *db, TimestampTz now)
{
	return db->scope == DATABASE_OURS && db->connectable && now >= db->next_visit;
}

/*
 * A worker also knows reloptions, which the scout cannot see: an active
 * database is visited now and then even if nothing looks due.  One without any
 * statistics may have lost them: those are visited one after the other, before
 * the turns of most of their tables have come.
 */
static bool
survey_is_due(const LauncherDatabase *db, const ScoutDatabase *seen, TimestampTz now)
{
	int64		changes = seen ? seen->changes : 0;

	/* by this clock: one that was set back would ask for it in every round */
	if (db->surveyed_at != 0 && seen && seen->reset_at > db->surveyed_at && seen->reset_at <= now)
		return true;
	if (db->revisit_at != 0 && now >= db->revisit_at)
		return true;
	if (db->surveyed_at == 0)
		return changes > 0 ||
			now >= clock_after(sweep_shared->launcher_started_at,
							   garbage_turn_ms(db->dboid, 0, 0, FIRST_SURVEY_MS));
	return now >= clock_after(db->surveyed_at, SURVEY_INTERVAL_MS) &&
		db->surveyed_changes != changes;
}

/* Shared catalogs are vacuumed from any database: the first that is ours. */
static LauncherDatabase *
database_for_shared(TimestampTz now)
{
	HASH_SEQ_STATUS status;
	LauncherDatabase *db;
	LauncherDatabase *best = NULL;

	hash_seq_init(&status, databases);
	while ((db = hash_seq_search(&status)) != NULL)
	{
		if (may_visit(db, now) && (best == NULL || db->dboid < best->dboid))
			best = db;
	}
	return best;
}

static void
add_destination(Destination *to, int *n, LauncherDatabase *db, const ScoutDatabase *seen)
{
	to[*n].db = db;
	to[*n].seen = seen;
	/* what somebody asked for comes before everything else */
	to[*n].urgency = seen && seen->requested > 0 ? HUGE_VAL :
		(seen && seen->due > 0 ? seen->urgency : 0);
	(*n)++;
}

/* size: one for each database, and one for the shared catalogs. */
static int
find_destinations(HTAB *seen_databases, Destination *to, TimestampTz now)
{
	HASH_SEQ_STATUS status;
	LauncherDatabase *db;
	const ScoutDatabase *seen;
	Oid			shared = InvalidOid;
	int			n = 0;

	seen = hash_search(seen_databases, &shared, HASH_FIND, NULL);
	db = seen && seen->due > 0 ? database_for_shared(now) : NULL;
	if (db)
		add_destination(to, &n, db, seen);

	hash_seq_init(&status, databases);
	while ((db = hash_seq_search(&status)) != NULL)
	{
		seen = hash_search(seen_databases, &db->dboid, HASH_FIND, NULL);
		if (may_visit(db, now) &&
			((seen && seen->due + seen->requested > 0) ||
			 survey_is_due(db, seen, now)))
			add_destination(to, &n, db, seen);
	}
	qsort(to, n, sizeof(Destination), more_urgent_first);
	return n;
}

/*
 * Wakes or starts a worker there; due: so many tables that it may take.  One
 * place is for catalogs only; they may have the others as well.
 */
static bool
send_worker(Oid dboid, int64 due, bool for_catalogs, TimestampTz now)
{
	int			there;

	if (worker_slots_send_again(dboid, for_catalogs))
		return true;

	/* a survey needs any worker; each due table may have its own */
	there = worker_slots_free_in(dboid, for_catalogs);
	if (there > 0 && there >= due)
		return false;

	/* others may still have a worker of their own waiting for them */
	if (for_catalogs && sweep_max_workers > 0 && !place_wanted[true] &&
		worker_slots_count(true) < 1 && worker_slots_start(dboid, true, now))
		return true;
	if (!place_wanted[false] && worker_slots_count(false) < sweep_max_workers &&
		worker_slots_start(dboid, false, now))
		return true;
	place_wanted[for_catalogs] = true;
	return false;
}

static int64
catalogs_to_do(const ScoutDatabase *seen)
{
	return seen->due_catalogs + seen->requested_catalogs;
}

static void
send_workers(HTAB *seen_databases, TimestampTz now)
{
	Destination *to = palloc(sizeof(Destination) * (hash_get_num_entries(databases) + 1));
	int			n = find_destinations(seen_databases, to, now);

	place_wanted[false] = place_wanted[true] = false;
	if (hold_is_on())
		n = 0;
	for (int i = 0; i < n; i++)
	{
		if (to[i].seen && catalogs_to_do(to[i].seen) > 0)
			(void) send_worker(to[i].db->dboid, catalogs_to_do(to[i].seen), true, now);
	}
	for (int i = 0; i < n; i++)
	{
		const ScoutDatabase *seen = to[i].seen;
		int64		due = seen ? seen->due + seen->requested - catalogs_to_do(seen) : 0;

		if ((due == 0 && seen && catalogs_to_do(seen) > 0) ||
			!send_worker(to[i].db->dboid, due, false, now))
			continue;

		/* every visit looks at all tables */
		if (seen == NULL || seen->dboid != InvalidOid)
		{
			to[i].db->surveyed_at = now;
			to[i].db->surveyed_changes = seen ? seen->changes : 0;
			to[i].db->revisit_at = 0;
		}
	}
	if (place_wanted[true])
		worker_slots_dismiss_one(true);
	if (place_wanted[false])
		worker_slots_dismiss_one(false);
	pfree(to);
}

/* ----
 * What users ask for
 * ----
 */

/* Why a request cannot be served in its database, or NULL. */
static const char *
why_not_served(const Request *request)
{
	const LauncherDatabase *db = databases_find(request->dboid);

	if (sweep_mode != SWEEP_ACT || shmem_is_off())
		return "pg_sweep does not vacuum any more, see sweep.status";
	if (db != NULL && db->scope != DATABASE_OURS)
		return "its database was excluded";
	if (db != NULL && !db->connectable)
		return "its database does not accept connections any more";
	/* one that is not known yet may be new */
	if (db == NULL && databases_were_read_since(request->requested_at))
		return "its database was dropped";
	return NULL;
}

/* Has somebody asked for something since the last time? */
static bool
is_asked(void)
{
	return requests_are_new() || surveys_are_asked();
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
		worker_slots_claims(&claims);
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

/* ----
 * A round
 * ----
 */

/* So early that something is wanted, but no more rounds than are allowed. */
static TimestampTz
wanted_round(TimestampTz wanted, TimestampTz began)
{
	return Max(wanted, clock_after(began, (int64) least_naptime_ms));
}

/*
 * After the naptime, but also just before a checkpoint, and when a table has
 * waited long enough.
 */
static TimestampTz
next_round_after(TimestampTz began)
{
	TimestampTz now = clock_now();
	TimestampTz next = clock_after(began, Max((int64) sweep_shared->naptime_ms, sweep_naptime_ms));
	int64		wait_ms = next_checkpoint_ms(now) - NEXT_CHECKPOINT_LEAD_MS;
	TimestampTz exact_at = next_checkpoint_round_at(now, checkpoint_wanted && sweep_checkpoint_aware);

	if (sweep_checkpoint_aware && wait_ms > 0 && wait_ms < sweep_naptime_ms)
		next = Min(next, TimestampTzPlusMilliseconds(now, wait_ms));
	if (exact_at > now)
		next = Min(next, exact_at);
	if (wake_at != 0)
		next = Min(next, wanted_round(clock_after(wake_at, WAKE_MS), began));
	/* where one catalog was due the next garbage is not far */
	if (catalogs_due_at != 0 && now < clock_after(catalogs_due_at, CATALOGS_BUSY_MS))
		next = Min(next, wanted_round(clock_after(began, CATALOGS_NAP_MS), began));
	return next;
}

/*
 * sweep.naptime, or so long that rounds take at most a hundredth of a processor:
 * with a million relations.
 */
static double
naptime_ms(double cpu_ms)
{
	static double mean_ms = 0;

	mean_ms += (mean_ms == 0 ? 1.0 : 0.2) * (cpu_ms - mean_ms);
	least_naptime_ms = mean_ms / ROUNDS_SHARE;
	return Max((double) sweep_naptime_ms, least_naptime_ms);
}

static void
publish_round(const ScoutReport *report, HTAB *seen_databases, TimestampTz began,
			  TimestampTz ended)
{
	HASH_SEQ_STATUS status;
	const ScoutDatabase *seen;
	double		ms = (double) (ended - began) / 1000.0;
	double		nap_ms = naptime_ms(report->cpu_ms);
	int64		due = 0;

	hash_seq_init(&status, seen_databases);
	while ((seen = hash_seq_search(&status)) != NULL)
		due += seen->due;

	SpinLockAcquire(&sweep_shared->mutex);
	sweep_shared->rounds++;
	sweep_shared->last_round_at = ended;
	sweep_shared->last_round_ms = ms;
	sweep_shared->max_round_ms = Max(sweep_shared->max_round_ms, ms);
	sweep_shared->last_lock_ms = report->max_lock_ms;
	sweep_shared->max_lock_ms = Max(sweep_shared->max_lock_ms, report->max_lock_ms);
	sweep_shared->naptime_ms = nap_ms;
	sweep_shared->relations = report->relations;
	sweep_shared->due = due;
	SpinLockRelease(&sweep_shared->mutex);
}

static void
round_run(void)
{
	MemoryContext context = CurrentMemoryContext;
	TimestampTz began = clock_now();
	HTAB	   *seen;
	ScoutReport report;

	databases_read(began);
	MemoryContextSwitchTo(context); /* a transaction may have left another one */
	began = clock_now();
	seen = scout_create_databases(CurrentMemoryContext);
	next_checkpoint_watch(began, checkpoint_wanted && sweep_checkpoint_aware && sweep_mode == SWEEP_ACT);
	report = scout_round(seen, began);
	add_requests(seen, began);
	if (databases_are_new(seen))
	{
		databases_forget_when_read();
		databases_read(began);
		MemoryContextSwitchTo(context);
	}
	wake_at = report.wake_at;
	checkpoint_wanted = report.checkpoint_wanted;
	if (report.catalogs_due)
		catalogs_due_at = began;
	publish_round(&report, seen, began, clock_now());
	databases_publish(seen);
	queue_publish(databases_is_ours, began);
	xid_rate_sample(began);
	send_workers(seen, began);
	hash_destroy(seen);
}

static void
save_runs(bool now_or_never)
{
	TimestampTz now = clock_now();
	bool		ok;
	int			save_errno;

	if (!now_or_never && now < save_next)
		return;
	save_next = clock_after(now, SAVE_INTERVAL_MS);

	ok = ledger_save();
	save_errno = ok ? 0 : errno;

	SpinLockAcquire(&sweep_shared->mutex);
	sweep_shared->runs_save_errno = save_errno;
	if (ok)
		sweep_shared->runs_saved_at = now;
	SpinLockRelease(&sweep_shared->mutex);

	if (ok)
		save_warned_at = 0;
	else if (save_warned_at == 0 || now > clock_after(save_warned_at, SAVE_WARNING_MS))
	{
		errno = save_errno;
		ereport(WARNING,
				(errcode_for_file_access(),
				 errmsg("pg_sweep: could not save the finished runs: %m"),
				 errdetail("It is tried again every %d s; until then they would be lost in a crash.",
						   SAVE_INTERVAL_MS / 1000)));
		save_warned_at = now;
	}
}

/* ----
 * The process
 * ----
 */

static void
launcher_end(int code, Datum arg)
{
	SpinLockAcquire(&sweep_shared->mutex);
	sweep_shared->launcher_pid = 0;
	sweep_shared->launcher_latch = NULL;
	SpinLockRelease(&sweep_shared->mutex);
	save_runs(true);
}

static void
launcher_begin(void)
{
	SpinLockAcquire(&sweep_shared->mutex);
	sweep_shared->launcher_pid = MyProcPid;
	sweep_shared->launcher_latch = MyLatch;
	sweep_shared->launcher_started_at = clock_now();
	SpinLockRelease(&sweep_shared->mutex);
	before_shmem_exit(launcher_end, (Datum) 0);

	SetConfigOption("stats_fetch_consistency", "none", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("search_path", "", PGC_SUSET, PGC_S_OVERRIDE);

	StartTransactionCommand();
	features_check();
	CommitTransactionCommand();
}

static bool
is_in_scope(const Decision *decision, void *arg)
{
	return decision->kind != DECISION_OUT_OF_SCOPE;
}

/* Everything that follows from the settings, at start and at each reload. */
static void
apply_settings(void)
{
	bgworker_publish_settings();
	databases_forget_when_read();	/* sweep.databases may have changed */
	decision_forget(is_in_scope, NULL); /* so may sweep.scope */
}

/*
 * A failed round must not end the process: it is logged and tried again, less
 * and less often.
 */
static void
round_try(MemoryContext context)
{
	PG_TRY();
	{
		/* or, asked again and again, it would hurry from failure to failure */
		databases_take_surveys();
		if (feature_is_ok(FEATURE_SCOUT) && feature_is_ok(FEATURE_WORKER))
			round_run();
		save_runs(false);
		failed_rounds = 0;
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		failed_rounds = Min(failed_rounds + 1, 100);
		MemoryContextSwitchTo(context);
		EmitErrorReport();
		AbortOutOfAnyTransaction();
		LWLockReleaseAll();
		FlushErrorState();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
}

void
sweep_launcher_main(Datum arg)
{
	MemoryContext context;
	TimestampTz next_round = 0;
	TimestampTz last_round = 0;

	bgworker_prologue();
	breaker_mark_process(&sweep_shared->launcher_mark);
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);

	databases_begin();
	context = AllocSetContextCreate(TopMemoryContext, "sweep launcher", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(context);

	launcher_begin();
	ledger_load();
	apply_settings();
	pgstat_report_activity(STATE_IDLE, NULL);

	for (;;)
	{
		TimestampTz now;

		bgworker_end_if_told(1);	/* not 0: then it would not be started
									 * again */
		QueryCancelPending = false; /* there is nothing to cancel */
		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
			next_checkpoint_woken(clock_now());
			apply_settings();
		}

		now = clock_now();
		pg_atomic_write_u32(&sweep_shared->metering, !shmem_is_off());
		/* their end sets the latch, too */
		if ((worker_slots_reap(databases_hear_of_worker, now) && (place_wanted[false] || place_wanted[true])) ||
			is_asked())
			next_round = Min(next_round,
							 wanted_round(clock_after(last_round, HURRY_MS), last_round));
		if (shmem_is_off())
		{
			worker_slots_stop_all();
			requests_drop(why_not_served);
			queue_clear();
			save_runs(true);
			/* what still runs is looked after; then only the latch counts */
			next_round = worker_slots_count(false) + worker_slots_count(true) > 0 ?
				clock_after(now, 100) : 0;
		}
		else if (now >= next_round)
		{
			last_round = now;
			wake_at = 0;
			round_try(context);
			next_round = failed_rounds == 0 ? next_round_after(now) :
				clock_after(now, Max(sweep_naptime_ms,
									 backoff_ms(ROUND_BACKOFF_MS, ROUND_BACKOFF_MAX_MS, failed_rounds)));
		}
		MemoryContextSwitchTo(context);
		MemoryContextReset(context);
		clock_wait_until(next_round);
	}
}
