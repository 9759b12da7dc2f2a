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

#include "access/heapam.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/procarray.h"
#include "storage/procsignal.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "bgworker.h"
#include "breaker.h"
#include "clock.h"
#include "compat.h"
#include "decisions.h"
#include "features.h"
#include "ledger.h"
#include "policy/backoff.h"
#include "scout.h"
#include "worker_slot.h"

#define DATABASES_REFRESH_MS	10000
#define SURVEY_INTERVAL_MS		600000	/* an active database, at least */
#define SAVE_INTERVAL_MS		5000
#define SAVE_WARNING_MS			600000
#define VISIT_BACKOFF_MS		1000	/* after a visit that failed */
#define VISIT_BACKOFF_MAX_MS	60000
#define PLACE_WANTED_MS			100 /* between rounds while a place is wanted */

/* What the launcher remembers of a database beside its DatabaseState. */
typedef struct LauncherDatabase
{
	Oid			dboid;			/* hash key */
	NameData	name;
	bool		connectable;
	bool		seen;			/* in the last reading of pg_database */
	DatabaseScope scope;
	int			failures;		/* visits in a row that failed */
	TimestampTz next_visit;
	TimestampTz last_visit;
	TimestampTz surveyed_at;	/* 0: never */
	int64		surveyed_changes;
} LauncherDatabase;

static HTAB *databases;			/* LauncherDatabase */
static TimestampTz databases_read_at = 0;
static bool place_wanted = false;	/* the last round found none for a worker */
static TimestampTz save_next = 0;
static TimestampTz save_warned_at = 0;

/* ----
 * Databases
 * ----
 */

static bool
database_is_known(const Decision *decision, void *arg)
{
	return decision->key.dboid == InvalidOid ||
		hash_search(databases, &decision->key.dboid, HASH_FIND, NULL) != NULL;
}

static void
forget_dropped_databases(void)
{
	HASH_SEQ_STATUS status;
	LauncherDatabase *db;
	bool		dropped = false;

	hash_seq_init(&status, databases);
	while ((db = hash_seq_search(&status)) != NULL)
	{
		if (!db->seen)
		{
			(void) hash_search(databases, &db->dboid, HASH_REMOVE, NULL);
			dropped = true;
		}
	}
	if (dropped)
		decision_forget(database_is_known, NULL);
}

/* Has the scout seen tables of a database that is not known yet? */
static bool
a_database_is_new(HTAB *seen_databases)
{
	HASH_SEQ_STATUS status;
	const ScoutDatabase *seen;
	bool		new = false;

	hash_seq_init(&status, seen_databases);
	while ((seen = hash_seq_search(&status)) != NULL)
		new = new || (seen->dboid != InvalidOid &&
					  hash_search(databases, &seen->dboid, HASH_FIND, NULL) == NULL);
	return new;
}

static void
read_databases(TimestampTz now)
{
	HASH_SEQ_STATUS status;
	LauncherDatabase *db;
	Relation	rel;
	TableScanDesc scan;
	HeapTuple	tuple;

	if (databases_read_at != 0 && now < clock_after(databases_read_at, DATABASES_REFRESH_MS))
		return;

	hash_seq_init(&status, databases);
	while ((db = hash_seq_search(&status)) != NULL)
		db->seen = false;

	StartTransactionCommand();
	(void) GetTransactionSnapshot();
	rel = table_open(DatabaseRelationId, AccessShareLock);
	scan = table_beginscan_catalog(rel, 0, NULL);
	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_database form = (Form_pg_database) GETSTRUCT(tuple);
		bool		found;

		db = hash_search(databases, &form->oid, HASH_ENTER, &found);
		if (!found)
			memset((char *) db + sizeof(Oid), 0, sizeof(*db) - sizeof(Oid));
		db->name = form->datname;
		/* a DROP DATABASE that was interrupted leaves the limit at -2 */
		db->connectable = form->datallowconn && form->datconnlimit != -2;
		db->scope = settings_database_scope(NameStr(form->datname));
		db->seen = true;
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	CommitTransactionCommand();

	databases_read_at = now;
	forget_dropped_databases();
}

/* What a visit came to: after a failure the next one has to wait. */
static void
hear_of_worker(Oid dboid, TimestampTz visited_at, bool gone, bool visited, TimestampTz now)
{
	LauncherDatabase *db = hash_search(databases, &dboid, HASH_FIND, NULL);

	if (db == NULL)
		return;
	db->last_visit = Max(db->last_visit, visited_at);
	if (!gone)
		return;
	if (visited)
	{
		db->failures = 0;
		db->next_visit = 0;
		return;
	}
	db->surveyed_at = 0;
	db->next_visit = clock_after(now, backoff_ms(VISIT_BACKOFF_MS, VISIT_BACKOFF_MAX_MS,
												 ++db->failures));
}

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
 * database is visited now and then even if nothing looks due.
 */
static bool
survey_is_due(const LauncherDatabase *db, const ScoutDatabase *seen, TimestampTz now)
{
	if (seen->changes == 0)
		return false;
	return db->surveyed_at == 0 ||
		(now >= clock_after(db->surveyed_at, SURVEY_INTERVAL_MS) &&
		 db->surveyed_changes != seen->changes);
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

static int
find_destinations(HTAB *seen_databases, Destination *to, int size, TimestampTz now)
{
	HASH_SEQ_STATUS status;
	const ScoutDatabase *seen;
	int			n = 0;

	hash_seq_init(&status, seen_databases);
	while ((seen = hash_seq_search(&status)) != NULL)
	{
		LauncherDatabase *db = seen->dboid == InvalidOid ? database_for_shared(now) :
			hash_search(databases, &seen->dboid, HASH_FIND, NULL);

		if (db == NULL || !may_visit(db, now) || n >= size)
			continue;
		if (seen->due == 0 &&
			(seen->dboid == InvalidOid || !survey_is_due(db, seen, now)))
			continue;
		to[n].db = db;
		to[n].seen = seen;
		to[n].urgency = seen->due > 0 ? seen->urgency : 0;
		n++;
	}
	qsort(to, n, sizeof(Destination), more_urgent_first);
	return n;
}

static void
send_workers(HTAB *seen_databases, TimestampTz now)
{
	int			size = (int) hash_get_num_entries(seen_databases);
	Destination *to = palloc(sizeof(Destination) * Max(size, 1));
	int			n = find_destinations(seen_databases, to, size, now);
	int			running = worker_slots_count();

	place_wanted = false;
	for (int i = 0; i < n; i++)
	{
		Oid			dboid = to[i].db->dboid;

		if (!worker_slots_send_again(dboid))
		{
			int			there = worker_slots_free_in(dboid);

			/* a survey needs any worker; each due table may have its own */
			if (there > 0 && there >= to[i].seen->due)
				continue;
			/* others may still have a worker of their own waiting for them */
			if (place_wanted || running >= sweep_max_workers ||
				!worker_slots_start(dboid, now))
			{
				place_wanted = true;
				continue;
			}
			running++;
		}

		/* every visit looks at all tables */
		if (to[i].seen->dboid != InvalidOid)
		{
			to[i].db->surveyed_at = now;
			to[i].db->surveyed_changes = to[i].seen->changes;
		}
	}
	if (place_wanted)
		worker_slots_dismiss_one();
	pfree(to);
}

/* ----
 * A round
 * ----
 */

static void
publish_databases(HTAB *seen_databases)
{
	HASH_SEQ_STATUS status;
	LauncherDatabase *db;
	int			n = 0;
	int			dropped = 0;

	LWLockAcquire(shmem_lock(LOCK_DATABASES), LW_EXCLUSIVE);
	hash_seq_init(&status, databases);
	while ((db = hash_seq_search(&status)) != NULL)
	{
		const ScoutDatabase *seen = hash_search(seen_databases, &db->dboid, HASH_FIND, NULL);
		DatabaseState *state;

		if (n >= SWEEP_DATABASES_LIMIT)
		{
			dropped++;
			continue;
		}
		state = &sweep_shared->databases[n++];
		state->dboid = db->dboid;
		state->scope = db->scope;
		state->connectable = db->connectable;
		state->relations = seen ? seen->relations : 0;
		state->due = seen ? seen->due : 0;
		state->dead_tuples = seen ? seen->dead_tuples : 0;
		state->last_visit = db->last_visit;
		state->next_visit = db->next_visit;
	}
	sweep_shared->databases_count = n;
	LWLockRelease(shmem_lock(LOCK_DATABASES));

	SpinLockAcquire(&sweep_shared->mutex);
	sweep_shared->databases_dropped = dropped;
	SpinLockRelease(&sweep_shared->mutex);
}

static void
publish_round(int64 relations, HTAB *seen_databases, TimestampTz began, TimestampTz ended)
{
	HASH_SEQ_STATUS status;
	const ScoutDatabase *seen;
	double		ms = (double) (ended - began) / 1000.0;
	int64		due = 0;

	hash_seq_init(&status, seen_databases);
	while ((seen = hash_seq_search(&status)) != NULL)
		due += seen->due;

	SpinLockAcquire(&sweep_shared->mutex);
	sweep_shared->rounds++;
	sweep_shared->last_round_at = ended;
	sweep_shared->last_round_ms = ms;
	sweep_shared->max_round_ms = Max(sweep_shared->max_round_ms, ms);
	sweep_shared->relations = relations;
	sweep_shared->due = due;
	SpinLockRelease(&sweep_shared->mutex);
}

static void
round_run(void)
{
	MemoryContext context = CurrentMemoryContext;
	TimestampTz began = clock_now();
	HTAB	   *seen;
	int64		relations;

	read_databases(began);
	MemoryContextSwitchTo(context); /* a transaction may have left another one */
	began = clock_now();
	seen = scout_create_databases(CurrentMemoryContext);
	relations = scout_round(seen, began);
	if (a_database_is_new(seen))
	{
		databases_read_at = 0;
		read_databases(began);
		MemoryContextSwitchTo(context);
	}
	publish_round(relations, seen, began, clock_now());
	publish_databases(seen);
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

/* Everything that follows from the settings, at start and at each reload. */
static void
apply_settings(void)
{
	bgworker_publish_settings();
	databases_read_at = 0;		/* sweep.databases may have changed */
}

/* A failed round must not end the process: it is logged and tried again. */
static void
round_try(MemoryContext context)
{
	PG_TRY();
	{
		if (feature_is_ok(FEATURE_SCOUT) && feature_is_ok(FEATURE_WORKER))
			round_run();
		save_runs(false);
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
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
	HASHCTL		info = {0};
	TimestampTz next_round = 0;
	TimestampTz last_round = 0;

	bgworker_prologue();
	breaker_mark_process(&sweep_shared->launcher_mark);
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);

	info.keysize = sizeof(Oid);
	info.entrysize = sizeof(LauncherDatabase);
	info.hcxt = TopMemoryContext;
	databases = hash_create("sweep databases", 64, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
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
			apply_settings();
		}

		now = clock_now();
		pg_atomic_write_u32(&sweep_shared->metering, !shmem_is_off());
		/* their end sets the latch, too */
		if (worker_slots_reap(hear_of_worker, now) && place_wanted)
			next_round = Min(next_round, clock_after(last_round, PLACE_WANTED_MS));
		if (shmem_is_off())
		{
			worker_slots_stop_all();
			save_runs(true);
			/* what still runs is looked after; then only the latch counts */
			next_round = worker_slots_count() > 0 ? clock_after(now, 100) : 0;
		}
		else if (now >= next_round)
		{
			last_round = now;
			next_round = clock_after(now, sweep_naptime_ms);
			round_try(context);
		}
		MemoryContextSwitchTo(context);
		MemoryContextReset(context);
		clock_wait_until(next_round);
	}
}
