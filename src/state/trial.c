/*
 * trial.c
 *		What pg_sweep would have done in mode observe, and what others did.
 *
 * It is kept since the mode became observe, or since the server's start.  It
 * stays when the mode is changed, until the next trial begins.  Workers add
 * what they would have done, the launcher what the ledger says was done.
 */
#include "state/trial.h"

#include "catalog/catalog.h"

#include "server/clock.h"
#include "settings.h"
#include "shmem.h"
#include "state/ledger.h"

#define SLICE	32				/* runs that are counted at a time */

bool
trial_holds(const TrialDone *done, int64 vacuums, int64 ins)
{
	return done->on && sweep_mode == SWEEP_OBSERVE && done->vacuums == vacuums && ins >= done->ins;
}

void
trial_take_off(const TrialDone *done, int64 vacuums, int64 changed, int64 *dead, int64 *ins)
{
	int64		since = Max(*dead - done->dead, 0);

	if (!trial_holds(done, vacuums, *ins))
		return;

	/*
	 * Pruning lowers the number of dead rows, too, and the counters do not
	 * say whose.  It is taken to remove those first that the vacuum would
	 * have removed.  So this is the most that can have come since: where old
	 * garbage stays and new rows are pruned, it is too much.
	 */
	*dead = Max(since, Min(*dead, changed - done->changed));
	*ins = Max(*ins - done->ins, 0);
}

/* The table's sums, or a new place, or that of the others. */
static TrialTable *
place_of(DecisionKey key, const char *schemaname, const char *relname)
{
	TrialState *trial = &sweep_shared->trial;
	TrialTable *place;

	for (int i = 0; i < trial->count; i++)
	{
		place = &trial->tables[i];
		if (place->key.dboid == key.dboid && place->key.relid == key.relid)
			return place;
	}
	if (trial->count == SWEEP_TRIAL_LIMIT)
		return &trial->tables[SWEEP_TRIAL_LIMIT];
	place = &trial->tables[trial->count++];
	place->key = key;
	strlcpy(place->schemaname, schemaname, NAMEDATALEN);
	strlcpy(place->relname, relname, NAMEDATALEN);
	return place;
}

static void
add_range(TrialRange *to, const TrialRange *more)
{
	to->least += more->least;
	to->most += more->most;
}

void
trial_note(DecisionKey key, const char *schemaname, const char *relname, const TrialVacuum *vacuum)
{
	TimestampTz now = clock_now();
	TrialState *trial = &sweep_shared->trial;
	TrialTable *t;

	LWLockAcquire(shmem_lock(LOCK_TRIAL), LW_EXCLUSIVE);
	if (trial->since == 0 || trial->until != 0)
	{
		/* the mode has just changed */
		LWLockRelease(shmem_lock(LOCK_TRIAL));
		return;
	}
	t = place_of(key, schemaname, relname);
	t->vacuums++;
	t->insert_vacuums += vacuum->for_inserts;
	if (t->first_at == 0)
		t->first_at = now;
	t->last_at = now;
	add_range(&t->read, &vacuum->read);
	add_range(&t->dirtied, &vacuum->dirtied);
	t->frozen += vacuum->frozen;
	t->dead = vacuum->dead;
	t->inserted = vacuum->inserted;
	t->core_threshold = vacuum->core_threshold;
	t->core_insert = vacuum->core_insert;
	if (t->waiting_since == 0 && OidIsValid(t->key.relid))
	{
		t->waiting_since = now;
		t->pages_then = vacuum->pages;
	}
	LWLockRelease(shmem_lock(LOCK_TRIAL));
}

/* Counts a finished run.  The caller holds the lock. */
static void
count_run(const RunRecord *run)
{
	DecisionKey key = {IsSharedRelation(run->relid) ? InvalidOid : run->dboid, run->relid};
	bool		by_core = run->starter == RUN_BY_AUTOVACUUM || run->starter == RUN_BY_AUTOVACUUM_WRAPAROUND;
	TrialTable *t;

	if (run->command != RUN_VACUUM && run->command != RUN_VACUUM_FULL)
		return;
	if (run->starter == RUN_BY_SWEEP || run->started_at < sweep_shared->trial.since)
		return;
	t = place_of(key, run->schemaname, run->relname);
	if (by_core)
	{
		t->autovacuum_read += run->used.blks_read;
		t->autovacuum_dirtied += run->used.blks_dirtied;
	}
	if (run->outcome != RUN_DONE)
		return;
	t->autovacuums += by_core;
	t->manual_vacuums += run->starter == RUN_BY_MANUAL;
	if (t->waiting_since == 0 || run->ended_at < t->waiting_since)
		return;
	t->followed++;
	t->ahead_us += Max(run->started_at - t->waiting_since, 0);
	if (run->pages >= 0)
		t->grown += Max(run->pages - t->pages_then, 0);
	t->waiting_since = 0;
}

/* A trial ends, and another begins. */
static void
begin(TimestampTz now)
{
	TrialState *trial = &sweep_shared->trial;

	memset(trial, 0, sizeof(*trial));
	trial->since = now;
	trial->runs_seen = PG_UINT64_MAX;
}

void
trial_follow(void)
{
	TrialState *trial = &sweep_shared->trial;
	TimestampTz now = clock_now();
	RunRecord	runs[SLICE];
	uint64		seen;
	int			n;

	LWLockAcquire(shmem_lock(LOCK_TRIAL), LW_EXCLUSIVE);
	if (sweep_mode == SWEEP_OBSERVE && (trial->since == 0 || trial->until != 0))
		begin(now);
	else if (sweep_mode != SWEEP_OBSERVE && trial->since != 0 && trial->until == 0)
		trial->until = now;
	seen = trial->runs_seen;
	LWLockRelease(shmem_lock(LOCK_TRIAL));
	if (sweep_mode != SWEEP_OBSERVE)
		return;

	/* the ledger's lock and this one are never held together */
	do
	{
		n = ledger_read_new(&seen, runs, SLICE);
		LWLockAcquire(shmem_lock(LOCK_TRIAL), LW_EXCLUSIVE);
		for (int i = 0; i < n; i++)
			count_run(&runs[i]);
		trial->runs_seen = seen;
		LWLockRelease(shmem_lock(LOCK_TRIAL));
	} while (n == SLICE);
}

TrialTable *
trial_copy(int *count, TimestampTz *since, TimestampTz *until)
{
	const TrialState *trial = &sweep_shared->trial;
	TrialTable *copy = palloc(sizeof(TrialTable) * (SWEEP_TRIAL_LIMIT + 1));
	const TrialTable *others = &trial->tables[SWEEP_TRIAL_LIMIT];

	LWLockAcquire(shmem_lock(LOCK_TRIAL), LW_SHARED);
	*count = trial->count;
	*since = trial->since;
	*until = trial->until;
	memcpy(copy, trial->tables, sizeof(TrialTable) * trial->count);
	if (others->vacuums > 0 || others->autovacuums > 0 || others->manual_vacuums > 0)
		copy[(*count)++] = *others;
	LWLockRelease(shmem_lock(LOCK_TRIAL));
	return copy;
}

void
trial_set_back(int64 us)
{
	TrialState *trial = &sweep_shared->trial;

	LWLockAcquire(shmem_lock(LOCK_TRIAL), LW_EXCLUSIVE);
	clock_move(&trial->since, us);
	clock_move(&trial->until, us);
	for (int i = 0; i <= SWEEP_TRIAL_LIMIT; i++)
	{
		clock_move(&trial->tables[i].first_at, us);
		clock_move(&trial->tables[i].last_at, us);
		clock_move(&trial->tables[i].waiting_since, us);
	}
	LWLockRelease(shmem_lock(LOCK_TRIAL));
}
