/*
 * worth_tables.c
 *		What garbage costs the index scans of tables, and what vacuums brought.
 *
 * Workers say which tables are followed, in their surveys.  The launcher
 * counts them, from the statistics that core keeps, and hears of vacuums from
 * the ledger.  Views copy all, and count once more for themselves.  LOCK_WORTH
 * is held for a copy only, and nothing else is locked meanwhile.  It is all
 * lost with shared memory, and the next vacuum begins it anew.
 */
#include "state/worth_tables.h"

#include "server/clock.h"
#include "server/compat.h"
#include "server/table_stats.h"
#include "shmem.h"
#include "state/ledger.h"

#define SLICE	32				/* runs that are counted at a time */

/*
 * How long until a session has reported all that its vacuum or its scans have
 * fetched?  It does so when it is idle, after PGSTAT_IDLE_INTERVAL (10 s) at
 * the latest.
 */
#define SESSION_SETTLES_MS	11000

/*
 * A table is counted so often.  It is often enough to see how the scans
 * change, and 1,000 tables of five indexes take 2 ms each time.  A table that
 * was just vacuumed is counted in each round, because its clean window may be
 * short.
 */
#define COUNT_EVERY_MS		5000
#define JUST_VACUUMED_MS	60000

static WorthState *
state(void)
{
	return &sweep_shared->worth;
}

/* The caller holds the lock. */
static WorthTable *
find(Oid dboid, Oid relid)
{
	for (int i = 0; i < state()->count; i++)
	{
		WorthTable *t = &state()->tables[i];

		if (t->key.dboid == dboid && t->key.relid == relid)
			return t;
	}
	return NULL;
}

void
worth_tables_begin(void)
{
	state()->runs_seen = PG_UINT64_MAX;
}

/* ----
 * Which tables are followed
 * ----
 */

static bool
same_indexes(const WorthIndexes *a, const WorthIndexes *b)
{
	return a->count == b->count && memcmp(a->oids, b->oids, sizeof(Oid) * a->count) == 0;
}

/* A free place, or that of the table with the fewest scans.  NULL if it has more. */
static WorthTable *
new_place(int64 scans)
{
	WorthTable *least = &state()->tables[0];

	if (state()->count < WORTH_TABLES_LIMIT)
		return &state()->tables[state()->count++];
	for (int i = 1; i < WORTH_TABLES_LIMIT; i++)
	{
		if (state()->tables[i].scans < least->scans)
			least = &state()->tables[i];
	}
	return least->scans < scans ? least : NULL;
}

void
worth_tables_put(DecisionKey key, const WorthIndexes *indexes, int64 scans)
{
	RunRecord	run;
	bool		known = ledger_last(key.dboid, key.relid, RUN_VACUUM, &run) && run.index_pass != 0;
	bool		is_new;
	WorthTable *t;

	LWLockAcquire(shmem_lock(LOCK_WORTH), LW_EXCLUSIVE);
	t = find(key.dboid, key.relid);
	is_new = t == NULL || !same_indexes(&t->indexes, indexes);
	if (t == NULL)
		t = new_place(scans);
	if (t != NULL && is_new)
	{
		memset(t, 0, sizeof(*t));
		t->key = key;
		t->serial = ++state()->last_serial;
		t->scans = scans;
		if (known)
			worth_add_cost(&t->worth, (double) (run.used.blks_read + run.used.blks_dirtied));
	}
	if (t != NULL)
		t->indexes = *indexes;	/* they may have grown */
	LWLockRelease(shmem_lock(LOCK_WORTH));
}

void
worth_tables_forget(bool (*keep) (DecisionKey key, void *arg), void *arg)
{
	LWLockAcquire(shmem_lock(LOCK_WORTH), LW_EXCLUSIVE);
	for (int i = 0; i < state()->count;)
	{
		WorthTable *t = &state()->tables[i];

		if (keep(t->key, arg))
			i++;
		else
			*t = state()->tables[--state()->count];
	}
	LWLockRelease(shmem_lock(LOCK_WORTH));
}

/* ----
 * What vacuums do
 * ----
 */

/*
 * A vacuum that left the indexes alone has removed hardly anything.  But where
 * one was due by what was lost, it has done what a vacuum can do: with HOT
 * updates only the map had to be set again.
 */
static bool
has_cleaned(const RunRecord *run, const Worth *worth)
{
	return run->outcome == RUN_DONE &&
		(run->command == RUN_VACUUM_FULL ||
		 (run->command == RUN_VACUUM && (run->index_pass != 0 || worth_is_due(worth))));
}

/*
 * Its fetches will be in the statistics, whatever it came to.  A process that
 * reports at its end is waited for, whoever comes meanwhile.
 */
static void
begin_to_settle(WorthTable *t, const RunRecord *run)
{
	bool		at_exit = run->starter == RUN_BY_AUTOVACUUM || run->starter == RUN_BY_AUTOVACUUM_WRAPAROUND;

	t->counted = false;
	t->unrecorded = false;
	if (t->settling_pid != 0 && t->settles_at_exit && !at_exit)
		return;
	t->settling_pid = run->pid;
	t->settles_at_exit = at_exit;
	/* a worker of ours has reported when it gives up its claim on the table */
	t->settled_at = clock_after(clock_now(), run->starter == RUN_BY_SWEEP ? 0 : SESSION_SETTLES_MS);
}

/* The caller holds the lock. */
static void
count_run(const RunRecord *run)
{
	WorthTable *t = find(run->dboid, run->relid);

	if (t == NULL)
		return;
	begin_to_settle(t, run);
	if (!has_cleaned(run, &t->worth))
		return;
	worth_begin_again(&t->worth, run->dead_not_removable > run->tuples_removed);
	t->vacuumed_at = clock_at(run->ended_at);
	t->run_id = run->run_id;
	/* one that reads all pages says little of the next one */
	if (run->command == RUN_VACUUM && (run->mode != RUN_MODE_AGGRESSIVE || t->worth.at_most))
		worth_add_cost(&t->worth, (double) (run->used.blks_read + run->used.blks_dirtied));
}

void
worth_tables_follow_runs(void)
{
	RunRecord	runs[SLICE];
	uint64		seen;
	int			n;

	/* the launcher alone changes it */
	seen = state()->runs_seen;
	do
	{
		n = ledger_read_new(&seen, runs, SLICE);
		if (n == 0 && seen == state()->runs_seen)
			break;
		LWLockAcquire(shmem_lock(LOCK_WORTH), LW_EXCLUSIVE);
		for (int i = 0; i < n; i++)
			count_run(&runs[i]);
		state()->runs_seen = seen;
		LWLockRelease(shmem_lock(LOCK_WORTH));
	} while (n == SLICE);
}

/* Forgets what was measured, but not what a vacuum costs. */
static void
forget_measured(WorthTable *t)
{
	Worth		unknown = {.costs = t->worth.costs,.cost = t->worth.cost,.at_most = t->worth.at_most};

	t->worth = unknown;
	t->counted = false;
	t->unrecorded = false;
	t->settling_pid = 0;
	t->vacuumed_at = 0;
	t->run_id = 0;
}

void
worth_tables_begin_again(void)
{
	LWLockAcquire(shmem_lock(LOCK_WORTH), LW_EXCLUSIVE);
	for (int i = 0; i < state()->count; i++)
		forget_measured(&state()->tables[i]);
	LWLockRelease(shmem_lock(LOCK_WORTH));
}

/* ----
 * Counting
 * ----
 */

bool
worth_tables_next(int *place, TimestampTz now, WorthTable *copy)
{
	TimestampTz counted_before = clock_after(now, -COUNT_EVERY_MS);
	TimestampTz just_vacuumed = clock_after(now, -JUST_VACUUMED_MS);
	bool		found = false;

	LWLockAcquire(shmem_lock(LOCK_WORTH), LW_SHARED);
	for (; *place < state()->count && !found; (*place)++)
	{
		const WorthTable *t = &state()->tables[*place];

		if (!t->counted || t->counted_at < counted_before || (t->worth.open && t->vacuumed_at > just_vacuumed))
		{
			*copy = *t;
			found = true;
		}
	}
	LWLockRelease(shmem_lock(LOCK_WORTH));
	return found;
}

void
worth_tables_write(const WorthTable *table)
{
	WorthTable *t;

	LWLockAcquire(shmem_lock(LOCK_WORTH), LW_EXCLUSIVE);
	t = find(table->key.dboid, table->key.relid);
	if (t != NULL && t->serial == table->serial)
	{
		WorthIndexes indexes = t->indexes;

		*t = *table;
		t->indexes = indexes;
	}
	LWLockRelease(shmem_lock(LOCK_WORTH));
}

WorthTable *
worth_tables_copy(int *count)
{
	WorthTable *copy = palloc(sizeof(WorthTable) * WORTH_TABLES_LIMIT);

	LWLockAcquire(shmem_lock(LOCK_WORTH), LW_SHARED);
	*count = state()->count;
	memcpy(copy, state()->tables, sizeof(WorthTable) * state()->count);
	LWLockRelease(shmem_lock(LOCK_WORTH));
	return copy;
}

int
worth_tables_due(Oid dboid, WorthDue due[WORTH_TABLES_LIMIT])
{
	int			n = 0;

	LWLockAcquire(shmem_lock(LOCK_WORTH), LW_SHARED);
	for (int i = 0; i < state()->count; i++)
	{
		const WorthTable *t = &state()->tables[i];

		if (t->key.dboid != dboid || t->settling_pid != 0 || !worth_is_due(&t->worth))
			continue;
		due[n].relid = t->key.relid;
		due[n].lost_reads = t->worth.lost_read;
		due[n++].cost = t->worth.cost;
	}
	LWLockRelease(shmem_lock(LOCK_WORTH));
	return n;
}

bool
worth_tables_read(const WorthTable *table, WorthCounters *counters, double *dead_share)
{
	PgStat_StatTabEntry stats;
	double		rows;

	memset(counters, 0, sizeof(*counters));
	for (int i = 0; i < table->indexes.count; i++)
	{
		if (!table_stats_read(table->key.dboid, table->indexes.oids[i], &stats))
			continue;
		counters->indexes++;
		counters->scans += stats.numscans;
		counters->index_fetched += stats.blocks_fetched;
		counters->index_read += stats.blocks_fetched - stats.blocks_hit;
	}
	if (!table_stats_read(table->key.dboid, table->key.relid, &stats))
		return false;
	counters->fetched = stats.blocks_fetched;
	counters->read = stats.blocks_fetched - stats.blocks_hit;
	counters->table_scans = stats.numscans;
	counters->vacuums = compat_tab_vacuums(&stats);
	counters->analyzes = compat_tab_analyzes(&stats);
	counters->inserted = stats.tuples_inserted;
	counters->updated = stats.tuples_updated;
	counters->hot_updated = stats.tuples_hot_updated;
	counters->deleted = stats.tuples_deleted;
	rows = (double) (compat_tab_live(&stats) + compat_tab_dead(&stats));
	*dead_share = rows > 0 ? (double) compat_tab_dead(&stats) / rows : 0;
	return true;
}

void
worth_tables_count(WorthTable *t, const WorthCounters *counters, double dead_share, TimestampTz now)
{
	WorthSum	sum;

	worth_assume_cost(&t->worth, t->indexes.pages);
	if (now > clock_after(t->scanned_at, SESSION_SETTLES_MS))
		worth_settle(&t->worth);

	/*
	 * Nobody has recorded that vacuum, or it began and ended since the runs
	 * were read: by the next time it is among them.
	 */
	if (t->counted && counters->vacuums > t->counters.vacuums)
	{
		if (!t->unrecorded)
		{
			t->unrecorded = true;
			return;
		}
		forget_measured(t);
	}
	if (!t->worth.open && t->worth.clean.scans == 0 && dead_share <= WORTH_CLEAN_DEAD)
		worth_begin_clean(&t->worth);
	if (t->counted)
	{
		worth_count_changes(&t->worth, &t->counters, counters);
		if (worth_between(&t->counters, counters, t->indexes.levels, &sum))
		{
			worth_add(&t->worth, &sum, dead_share);
			if (sum.scans > 0)
				t->scanned_at = now;
		}
	}
	t->counted = true;
	t->counters = *counters;
	t->counted_at = now;
	t->scans = counters->scans;
}

void
worth_tables_set_back(int64 us)
{
	LWLockAcquire(shmem_lock(LOCK_WORTH), LW_EXCLUSIVE);
	for (int i = 0; i < state()->count; i++)
	{
		WorthTable *t = &state()->tables[i];

		clock_move(&t->counted_at, us);
		clock_move(&t->scanned_at, us);
		clock_move(&t->vacuumed_at, us);
		clock_move(&t->settled_at, us);
	}
	LWLockRelease(shmem_lock(LOCK_WORTH));
}
