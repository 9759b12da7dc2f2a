/*
 * ledger.c
 *		The finished runs: kept in shared memory, saved in a file.
 *
 * There are three collections, so that one hot table cannot push out what the
 * ETA needs.  One is a ring of the recent runs.  One has the last successful
 * run of each table and command.  It is set-associative, so the oldest of a
 * bucket makes room.  One has the longest runs.  A run may be in all three,
 * and ledger_copy() shows it once.  What has no room is still in the sums of
 * the history (history.c).
 *
 * Any process adds, at the end of a transaction, under LOCK_LEDGER.  Nobody
 * holds that for longer than a slice of the runs takes to copy.  The launcher
 * alone reads and writes the file (ledger_file.c).  It appends what is new.
 * It writes the file anew when most of what is in it has been forgotten.
 */
#include "state/ledger.h"

#include "common/hashfn.h"
#include "lib/qunique.h"
#include "miscadmin.h"
#include "storage/lwlock.h"

#include "server/clock.h"
#include "shmem.h"
#include "state/history.h"
#include "state/hold.h"
#include "state/ledger_file.h"

/* What the file has of the ledger. */
typedef struct Saved
{
	int64		run_id;			/* all runs below, or -1: not known */
	int64		resets;
	TimestampTz held_until;
} Saved;

static Saved saved = {.run_id = -1};	/* launcher */

/* Runs with a lower number are in the sums that the file has.  Launcher. */
static int64 counted_run_id;

#define SLICE			LEDGER_FILE_BLOCK	/* runs copied under the lock */
#define FILE_SLACK		(256 * 1024)	/* bytes, beyond twice what is kept */

static RunRecord *
bucket_of(Oid dboid, Oid relid, int command)
{
	uint32		hash = hash_combine(hash_combine(murmurhash32(dboid), murmurhash32(relid)),
									(uint32) command);

	return sweep_last_runs + (hash % shmem_last_run_buckets()) * LEDGER_WAYS;
}

/* The caller holds LOCK_LEDGER. */
static bool
is_kept(const RunRecord *run)
{
	return run->run_id != 0 && run->run_id >= sweep_shared->ledger.forgotten;
}

static bool
same_work(const RunRecord *run, Oid dboid, Oid relid, int command)
{
	return is_kept(run) && run->dboid == dboid &&
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
		if (is_kept(best) && (!is_kept(&bucket[i]) || bucket[i].ended_at < best->ended_at))
			best = &bucket[i];
	}
	return best;
}

static int64
duration(const RunRecord *run)
{
	return is_kept(run) ? run->ended_at - run->started_at : -1;
}

/*
 * The lowest number in the ring, where all later ones are as well.  The
 * caller holds the lock.
 */
static int64
oldest_in_ring(void)
{
	const LedgerState *ledger = &sweep_shared->ledger;
	const RunRecord *run;

	/* it is filled from the first place on */
	run = ledger->added < sweep_max_runs ? &sweep_recent_runs[0] :
		&sweep_recent_runs[ledger->added % sweep_max_runs];
	return Max(run->run_id == 0 ? PG_INT64_MAX : run->run_id, ledger->forgotten);
}

static bool
in_ring(const RunRecord *run)
{
	return run->run_id >= oldest_in_ring();
}

static bool
in_last(const RunRecord *run)
{
	const RunRecord *bucket = bucket_of(run->dboid, run->relid, run->command);

	for (int i = 0; i < LEDGER_WAYS; i++)
	{
		if (bucket[i].run_id == run->run_id)
			return true;
	}
	return false;
}

static bool
in_longest(const RunRecord *run)
{
	for (int i = 0; i < LEDGER_LONGEST; i++)
	{
		if (sweep_shared->longest[i].run_id == run->run_id)
			return true;
	}
	return false;
}

static void
keep_if_long(const RunRecord *run)
{
	RunRecord  *longest = sweep_shared->longest;
	RunRecord  *shortest = longest;

	for (int i = 1; i < LEDGER_LONGEST; i++)
	{
		if (duration(&longest[i]) < duration(shortest))
			shortest = &longest[i];
	}
	if (run->ended_at - run->started_at <= duration(shortest))
		return;
	if (is_kept(shortest) && !in_ring(shortest) && !in_last(shortest))
		sweep_shared->ledger.kept--;
	*shortest = *run;
}

static void
keep_if_last(const RunRecord *run)
{
	RunRecord  *place = last_place(run);

	if (same_work(place, run->dboid, run->relid, run->command) && place->ended_at > run->ended_at)
		return;
	if (is_kept(place) && !in_ring(place) && !in_longest(place))
		sweep_shared->ledger.kept--;
	*place = *run;
}

/*
 * Puts a run where it belongs.  Whoever loses its place to it and is nowhere
 * else is kept no longer.  The caller holds LOCK_LEDGER.
 */
static void
put(const RunRecord *run)
{
	LedgerState *ledger = &sweep_shared->ledger;
	RunRecord  *place = &sweep_recent_runs[ledger->added++ % sweep_max_runs];

	if (is_kept(place))
	{
		ledger->complete_since = Max(ledger->complete_since, place->ended_at);
		if (!in_last(place) && !in_longest(place))
			ledger->kept--;
	}
	*place = *run;
	ledger->kept++;
	keep_if_long(run);
	if (run->outcome == RUN_DONE)
		keep_if_last(run);
}

void
ledger_add(const RunRecord *run)
{
	RunRecord	numbered = *run;

	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_EXCLUSIVE);
	numbered.run_id = sweep_shared->ledger.next_run_id++;
	put(&numbered);
	history_add(&numbered);
	LWLockRelease(shmem_lock(LOCK_LEDGER));
}

int
ledger_read_new(uint64 *seen, RunRecord *to, int limit)
{
	const LedgerState *ledger = &sweep_shared->ledger;
	int			n = 0;

	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_SHARED);
	if (*seen > ledger->added)
		*seen = ledger->added;
	if (ledger->added - *seen > (uint64) sweep_max_runs)
		*seen = ledger->added - sweep_max_runs;
	for (; *seen < ledger->added && n < limit; (*seen)++)
	{
		const RunRecord *run = &sweep_recent_runs[*seen % sweep_max_runs];

		if (is_kept(run))
			to[n++] = *run;
	}
	LWLockRelease(shmem_lock(LOCK_LEDGER));
	return n;
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

bool
ledger_last_tried(Oid dboid, Oid relid, RunCommand command, RunRecord *run)
{
	const LedgerState *ledger = &sweep_shared->ledger;
	bool		found = false;

	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_SHARED);
	for (uint64 i = 1; i <= Min(ledger->added, (uint64) sweep_max_runs) && !found; i++)
	{
		const RunRecord *recent = &sweep_recent_runs[(ledger->added - i) % sweep_max_runs];

		if (same_work(recent, dboid, relid, command))
		{
			*run = *recent;
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

/* ----
 * Copying, a slice at a time
 * ----
 */

/* The three collections one after the other. */
static const RunRecord *
place_at(int64 i)
{
	int			last_count = shmem_last_run_buckets() * LEDGER_WAYS;

	if (i < sweep_max_runs)
		return &sweep_recent_runs[i];
	i -= sweep_max_runs;
	return i < last_count ? &sweep_last_runs[i] : &sweep_shared->longest[i - last_count];
}

static int64
places(void)
{
	return (int64) sweep_max_runs + shmem_last_run_buckets() * LEDGER_WAYS + LEDGER_LONGEST;
}

/* Is it in none of the collections before?  Then it is shown, and saved, from here. */
static bool
is_first_at(int64 place, const RunRecord *run, int64 oldest)
{
	if (!is_kept(run) || place < sweep_max_runs)
		return is_kept(run);
	if (run->run_id >= oldest)
		return false;
	return place < places() - LEDGER_LONGEST || !in_last(run);
}

/* The runs of the next places from *next on, but none from that number on. */
static int
copy_slice(RunRecord *to, int64 *next, int64 from_id)
{
	int			n = 0;
	int64		oldest;

	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_SHARED);
	oldest = oldest_in_ring();
	for (int i = 0; i < SLICE && *next < places(); i++, (*next)++)
	{
		const RunRecord *run = place_at(*next);

		/* what is in the ring now was in it when that was copied */
		if (is_first_at(*next, run, oldest) && run->run_id < from_id)
			to[n++] = *run;
	}
	LWLockRelease(shmem_lock(LOCK_LEDGER));
	return n;
}

RunRecord *
ledger_copy(int *count)
{
	RunRecord  *runs = palloc_extended(sizeof(RunRecord) * (Size) places(), MCXT_ALLOC_HUGE);
	int64		next = 0;
	int64		n = 0;

	/* what is added meanwhile is in the next copy */
	while (next < places())
		n += copy_slice(runs + n, &next, PG_INT64_MAX);
	qsort(runs, n, sizeof(RunRecord), newer_first);
	*count = (int) qunique(runs, n, sizeof(RunRecord), newer_first);
	return runs;
}

int64
ledger_count(TimestampTz *complete_since)
{
	int64		n;

	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_SHARED);
	n = sweep_shared->ledger.kept;
	*complete_since = sweep_shared->ledger.complete_since;
	LWLockRelease(shmem_lock(LOCK_LEDGER));
	return n;
}

void
ledger_reset(void)
{
	LedgerState *ledger = &sweep_shared->ledger;

	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_EXCLUSIVE);
	ledger->forgotten = ledger->next_run_id;
	ledger->kept = 0;
	ledger->complete_since = clock_now();
	ledger->resets++;
	history_reset();
	LWLockRelease(shmem_lock(LOCK_LEDGER));
}

/* ----
 * The file
 * ----
 */

/*
 * Empties all collections, for what the file has.  The caller holds
 * LOCK_LEDGER.
 */
static void
clear(void)
{
	memset(sweep_recent_runs, 0, sizeof(RunRecord) * sweep_max_runs);
	memset(sweep_last_runs, 0,
		   sizeof(RunRecord) * shmem_last_run_buckets() * LEDGER_WAYS);
	memset(sweep_shared->longest, 0, sizeof(sweep_shared->longest));
	sweep_shared->ledger.added = 0;
	sweep_shared->ledger.forgotten = 0;
	sweep_shared->ledger.kept = 0;
}

/*
 * Takes what the file has.  Its end may be lost.  The caller holds
 * LOCK_LEDGER.
 */
static void
take(const LedgerFileContents *file)
{
	LedgerState *ledger = &sweep_shared->ledger;
	bool		whole = ledger_file_can_append();

	ledger->next_run_id = file->rest.next_run_id;
	hold_restore(file->rest.held_until);
	for (int i = file->run_count - 1; i >= 0; i--)
		put(&file->runs[i]);
	/* those that did not fit now were not complete then */
	ledger->complete_since = Max(ledger->complete_since, file->rest.complete_since);
	if (!whole)
		ledger->complete_since = Max(ledger->complete_since, clock_now());

	history_load(file->sums, file->sum_count, whole ? file->rest.time_step_since : clock_now());
	for (int i = file->run_count - 1; i >= 0; i--)
	{
		if (file->runs[i].run_id >= file->rest.counted_run_id)
			history_count_late(&file->runs[i]);
	}
	counted_run_id = file->rest.counted_run_id;
}

/*
 * Runs that ended between the server's start and this moment keep their place
 * behind the loaded ones and get new numbers after them.
 */
void
ledger_load(void)
{
	LedgerState *ledger = &sweep_shared->ledger;
	LedgerFileContents file;
	RunRecord  *present;
	int			npresent;

	if (ledger->loaded)
		return;

	ledger_file_read(&file);
	for (;;)
	{
		uint64		added = ledger->added;

		present = ledger_copy(&npresent);
		LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_EXCLUSIVE);
		if (ledger->added == added)
			break;
		/* a run has ended meanwhile: it is to be among them */
		LWLockRelease(shmem_lock(LOCK_LEDGER));
		pfree(present);
	}
	clear();
	if (file.runs)
		take(&file);
	else
		ledger->next_run_id = file.rest.next_run_id;
	for (int i = npresent - 1; i >= 0; i--)
	{
		present[i].run_id = ledger->next_run_id++;
		put(&present[i]);
	}
	ledger->loaded = true;
	/* one that was cut off is written anew */
	saved.run_id = file.runs && !ledger_file_can_append() ? -1 : file.rest.next_run_id;
	saved.resets = ledger->resets;
	saved.held_until = file.rest.held_until;
	LWLockRelease(shmem_lock(LOCK_LEDGER));

	pfree(present);
	if (file.runs)
	{
		pfree(file.runs);
		pfree(file.sums);
	}
}

void
ledger_begin_again(void)
{
	LedgerState *ledger = &sweep_shared->ledger;

	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_EXCLUSIVE);
	ledger->complete_since = clock_now();
	LWLockRelease(shmem_lock(LOCK_LEDGER));
	history_incomplete_before(clock_now());
}

static void
look(Saved *now, LedgerFileRest *rest)
{
	const LedgerState *ledger = &sweep_shared->ledger;

	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_SHARED);
	now->run_id = rest->next_run_id = ledger->next_run_id;
	now->resets = ledger->resets;
	now->held_until = rest->held_until = (TimestampTz) pg_atomic_read_u64(&sweep_shared->held_until);
	rest->complete_since = ledger->complete_since;
	rest->time_step_since = sweep_shared->history.since;
	rest->counted_run_id = counted_run_id;
	LWLockRelease(shmem_lock(LOCK_LEDGER));
}

/* All sums, of which each knows what is in it. */
static bool
write_sums(const LedgerFileRest *rest)
{
	static HistoryRecord sums[LEDGER_FILE_SUMS];
	int64		next = 0;

	while (next >= 0)
	{
		int			n = history_copy(sums, LEDGER_FILE_SUMS, &next);

		if (n > 0 && !ledger_file_write_sums(sums, n, rest))
			return false;
	}
	return true;
}

/* All that is kept. */
static bool
write_all(const LedgerFileRest *rest, RunRecord *runs)
{
	int64		next = 0;
	int			n;

	if (!write_sums(rest))
		return false;
	while (next < places())
	{
		n = copy_slice(runs, &next, rest->next_run_id);
		if (n > 0 && !ledger_file_write(runs, n, rest))
			return false;
	}
	return ledger_file_write(runs, 0, rest);
}

/*
 * Writes the ring's runs from that number on.  What has been pushed out of
 * the ring since is lost.
 */
static bool
write_new(int64 from_id, const LedgerFileRest *rest, RunRecord *runs)
{
	const LedgerState *ledger = &sweep_shared->ledger;
	uint64		next;
	bool		more = true;

	/* numbers and places go on together */
	LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_SHARED);
	next = ledger->added - Min(ledger->added, (uint64) (ledger->next_run_id - from_id));
	LWLockRelease(shmem_lock(LOCK_LEDGER));
	while (more)
	{
		int			n = 0;

		LWLockAcquire(shmem_lock(LOCK_LEDGER), LW_SHARED);
		if (ledger->added > sweep_max_runs)
			next = Max(next, ledger->added - sweep_max_runs);
		for (; n < SLICE && next < ledger->added; next++)
		{
			const RunRecord *run = &sweep_recent_runs[next % sweep_max_runs];

			if (run->run_id >= from_id && run->run_id < rest->next_run_id)
				runs[n++] = *run;
			else if (run->run_id >= rest->next_run_id)
				break;
		}
		more = n == SLICE;
		LWLockRelease(shmem_lock(LOCK_LEDGER));
		if ((n > 0 || !more) && !ledger_file_write(runs, n, rest))
			return false;
	}
	return true;
}

bool
ledger_save(void)
{
	static RunRecord slice[SLICE];
	Saved		now;
	LedgerFileRest rest;
	bool		anew;
	bool		ok;

	if (!sweep_shared->ledger.loaded)
		return true;
	look(&now, &rest);
	if (memcmp(&now, &saved, sizeof(now)) == 0)
		return true;

	anew = saved.run_id < 0 || now.resets != saved.resets || !ledger_file_can_append() ||
		now.run_id - saved.run_id > sweep_max_runs ||
		ledger_file_size() > 2 * ledger_file_size_of(places(), history_places()) + FILE_SLACK;
	if (!anew && !ledger_file_begin(false))
		anew = true;
	if (anew && !ledger_file_begin(true))
		return false;
	if (anew)
		rest.counted_run_id = now.run_id;
	ok = ledger_file_end(anew ? write_all(&rest, slice) : write_new(saved.run_id, &rest, slice));
	if (ok)
	{
		saved = now;
		counted_run_id = rest.counted_run_id;
	}
	return ok;
}
