/*
 * ledger.c
 *		The finished runs: kept in shared memory, saved in a file.
 *
 * Three collections, so that one hot table cannot push out what the ETA needs:
 * a ring of the recent runs, the last successful run of each table and command
 * (set-associative, the oldest of a bucket makes room), and the longest runs.
 * A run may be in all three; ledger_copy() shows it once.
 *
 * Any process adds, at the end of a transaction, under LOCK_LEDGER.  The
 * launcher alone reads and writes the file (ledger_file.c).
 */
#include "ledger.h"

#include "common/hashfn.h"
#include "lib/qunique.h"
#include "miscadmin.h"
#include "storage/lwlock.h"

#include "hold.h"
#include "ledger_file.h"
#include "shmem.h"

static RunRecord *
bucket_of(Oid dboid, Oid relid, int command)
{
	uint32		hash = hash_combine(hash_combine(murmurhash32(dboid), murmurhash32(relid)),
									(uint32) command);

	return sweep_last_runs + (hash % shmem_last_run_buckets()) * LEDGER_WAYS;
}

static bool
same_work(const RunRecord *run, Oid dboid, Oid relid, int command)
{
	return run->run_id != 0 && run->dboid == dboid &&
		run->relid == relid && run->command == command;
}

/* The place for a run in `last`: its predecessor's, a free one, the oldest. */
static RunRecord *
last_place(const RunRecord *run)
{
	RunRecord  *bucket = bucket_of(run->dboid, run->relid, run->command);
	RunRecord  *best = bucket;

	for (int i = 0; i < LEDGER_WAYS; i++)
	{
		if (same_work(&bucket[i], run->dboid, run->relid, run->command))
			return &bucket[i];
		if (bucket[i].ended_at < best->ended_at)
			best = &bucket[i];
	}
	return best;
}

static void
keep_if_long(const RunRecord *run)
{
	RunRecord  *longest = sweep_shared->longest;
	RunRecord  *shortest = longest;

	for (int i = 1; i < LEDGER_LONGEST; i++)
	{
		if (longest[i].ended_at - longest[i].started_at <
			shortest->ended_at - shortest->started_at)
			shortest = &longest[i];
	}
	if (run->ended_at - run->started_at > shortest->ended_at - shortest->started_at)
		*shortest = *run;
}

/* Puts a run where it belongs; the caller holds LOCK_LEDGER. */
static void
put(const RunRecord *run)
{
	LedgerState *ledger = &sweep_shared->ledger;

	sweep_recent_runs[ledger->added++ % sweep_max_runs] = *run;
	keep_if_long(run);
	if (run->outcome == RUN_DONE)
	{
		RunRecord  *place = last_place(run);

		if (!same_work(place, run->dboid, run->relid, run->command) ||
			place->ended_at <= run->ended_at)
			*place = *run;
	}
	ledger->changes++;
}

void
ledger_add(const RunRecord *run)
{
	RunRecord	numbered = *run;

	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_EXCLUSIVE);
	numbered.run_id = sweep_shared->ledger.next_run_id++;
	put(&numbered);
	LWLockRelease(shmem_lock(LOCK_LEDGER));
}

bool
ledger_last(Oid dboid, Oid relid, RunCommand command, RunRecord *run)
{
	RunRecord  *bucket;
	bool		found = false;

	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_SHARED);
	bucket = bucket_of(dboid, relid, command);
	for (int i = 0; i < LEDGER_WAYS && !found; i++)
	{
		if (same_work(&bucket[i], dboid, relid, command))
		{
			*run = bucket[i];
			found = true;
		}
	}
	LWLockRelease(shmem_lock(LOCK_LEDGER));
	return found;
}

static int
newer_first(const void *a, const void *b)
{
	int64		x = ((const RunRecord *) a)->run_id;
	int64		y = ((const RunRecord *) b)->run_id;

	return x < y ? 1 : (x > y ? -1 : 0);
}

/* Appends the used records of an array. */
static int
append(RunRecord *to, int n, const RunRecord *from, int count)
{
	for (int i = 0; i < count; i++)
	{
		if (from[i].run_id != 0)
			to[n++] = from[i];
	}
	return n;
}

RunRecord *
ledger_copy(int *count)
{
	int			last_count = shmem_last_run_buckets() * LEDGER_WAYS;
	RunRecord  *runs = palloc_extended(sizeof(RunRecord) *
									   ((Size) sweep_max_runs + last_count + LEDGER_LONGEST),
									   MCXT_ALLOC_HUGE);
	int			n = 0;

	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_SHARED);
	n = append(runs, n, sweep_recent_runs, sweep_max_runs);
	n = append(runs, n, sweep_last_runs, last_count);
	n = append(runs, n, sweep_shared->longest, LEDGER_LONGEST);
	LWLockRelease(shmem_lock(LOCK_LEDGER));

	qsort(runs, n, sizeof(RunRecord), newer_first);
	*count = (int) qunique(runs, n, sizeof(RunRecord), newer_first);
	return runs;
}

/* The caller holds LOCK_LEDGER. */
static void
forget_all(void)
{
	memset(sweep_recent_runs, 0, sizeof(RunRecord) * sweep_max_runs);
	memset(sweep_last_runs, 0,
		   sizeof(RunRecord) * shmem_last_run_buckets() * LEDGER_WAYS);
	memset(sweep_shared->longest, 0, sizeof(sweep_shared->longest));
	sweep_shared->ledger.added = 0;
}

void
ledger_reset(void)
{
	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_EXCLUSIVE);
	forget_all();
	sweep_shared->ledger.changes++;
	LWLockRelease(shmem_lock(LOCK_LEDGER));
}

static int64
ledger_changes(void)
{
	int64		changes;

	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_SHARED);
	changes = sweep_shared->ledger.changes;
	LWLockRelease(shmem_lock(LOCK_LEDGER));
	return changes;
}

/*
 * Runs that ended between the server's start and this moment keep their place
 * behind the loaded ones and get new numbers after them.
 */
void
ledger_load(void)
{
	RunRecord  *loaded;
	RunRecord  *present;
	int			nloaded;
	int			npresent;
	LedgerFileRest rest;

	if (sweep_shared->ledger.loaded)
		return;

	loaded = ledger_file_read(&nloaded, &rest);
	for (;;)
	{
		int64		changes = ledger_changes();

		present = ledger_copy(&npresent);
		LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_EXCLUSIVE);
		if (sweep_shared->ledger.changes == changes)
			break;
		/* a run has ended meanwhile: it is to be among them */
		LWLockRelease(shmem_lock(LOCK_LEDGER));
		pfree(present);
	}
	forget_all();
	sweep_shared->ledger.next_run_id = rest.next_run_id;
	hold_restore(rest.held_until);
	for (int i = nloaded - 1; i >= 0; i--)
		put(&loaded[i]);
	for (int i = npresent - 1; i >= 0; i--)
	{
		present[i].run_id = sweep_shared->ledger.next_run_id++;
		put(&present[i]);
	}
	sweep_shared->ledger.loaded = true;
	LWLockRelease(shmem_lock(LOCK_LEDGER));

	pfree(present);
	if (loaded)
		pfree(loaded);
}

bool
ledger_save(void)
{
	static int64 saved_changes = 0;
	int64		changes = ledger_changes();
	LedgerFileRest rest;
	RunRecord  *runs;
	int			count;
	bool		ok;

	if (changes == saved_changes || !sweep_shared->ledger.loaded)
		return true;

	runs = ledger_copy(&count);
	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_SHARED);
	rest.next_run_id = sweep_shared->ledger.next_run_id;	/* beyond every id
															 * copied */
	rest.held_until = (TimestampTz) pg_atomic_read_u64(&sweep_shared->held_until);
	LWLockRelease(shmem_lock(LOCK_LEDGER));
	ok = ledger_file_write(runs, count, &rest);
	pfree(runs);
	if (ok)
		saved_changes = changes;
	return ok;
}
