/*
 * queue.c
 *		The tables of all databases that are over a threshold and wait.
 *
 * The scout notes them in the launcher's memory while it holds locks of the
 * statistics.  After the round the launcher publishes them under LOCK_QUEUE.
 * The most urgent SWEEP_QUEUE_LIMIT are kept.  The others are only counted.
 */
#include "state/queue.h"

#include "lib/binaryheap.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "rules.h"
#include "server/clock.h"
#include "shmem.h"

/* ----
 * The launcher: collecting
 * ----
 */

static QueueEntry collected[SWEEP_QUEUE_LIMIT];
static int	collected_count;
static int64 collected_dropped;
static bool collected_partly;	/* some that are due were dropped */
static binaryheap *least_urgent;	/* of collected, built when that is full */

/*
 * A table that workers are sent for goes before one that only waits, and a
 * catalog before others.
 */
static int
rank_of(const QueueEntry *entry)
{
	return entry->due + (entry->due && rules_is_catalog(entry->key.relid));
}

static int
less_urgent_first(Datum a, Datum b, void *arg)
{
	const QueueEntry *x = (const QueueEntry *) DatumGetPointer(a);
	const QueueEntry *y = (const QueueEntry *) DatumGetPointer(b);

	if (rank_of(x) != rank_of(y))
		return rank_of(x) < rank_of(y) ? 1 : -1;
	return x->score < y->score ? 1 : (x->score > y->score ? -1 : 0);
}

void
queue_begin(void)
{
	collected_count = 0;
	collected_dropped = 0;
	collected_partly = false;
}

static void
collect(const QueueEntry *entry)
{
	if (collected_count < SWEEP_QUEUE_LIMIT)
	{
		collected[collected_count++] = *entry;
		return;
	}

	if (collected_dropped++ == 0)
	{
		if (least_urgent == NULL)
		{
			MemoryContext caller = MemoryContextSwitchTo(TopMemoryContext);

			least_urgent = binaryheap_allocate(SWEEP_QUEUE_LIMIT, less_urgent_first, NULL);
			MemoryContextSwitchTo(caller);
		}
		binaryheap_reset(least_urgent);
		for (int i = 0; i < collected_count; i++)
			binaryheap_add_unordered(least_urgent, PointerGetDatum(&collected[i]));
		binaryheap_build(least_urgent);
	}
	else
		Assert(least_urgent != NULL);

	{
		QueueEntry *least = (QueueEntry *) DatumGetPointer(binaryheap_first(least_urgent));

		if (less_urgent_first(PointerGetDatum(least), PointerGetDatum(entry), NULL) <= 0)
		{
			collected_partly |= entry->due;
			return;
		}
		collected_partly |= least->due;
		*least = *entry;
		binaryheap_replace_first(least_urgent, PointerGetDatum(least));
	}
}

void
queue_note(DecisionKey key, const Thresholds *t, int64 dead, int64 ins, bool due)
{
	double		by_dead = (double) dead / Max(t->vacuum, 1);
	double		by_ins = t->insert >= 0 ? (double) ins / Max(t->insert, 1) : 0;
	QueueEntry	entry = {0};

	entry.key = key;
	entry.due = due;
	entry.by_inserts = by_ins > by_dead;
	entry.score = Max(by_dead, by_ins);
	entry.tuples = entry.by_inserts ? ins : dead;
	entry.threshold = entry.by_inserts ? t->insert : t->vacuum;
	collect(&entry);
}

void
queue_note_sparse(DecisionKey key, int64 dead, double threshold, double score)
{
	QueueEntry	entry = {0};

	entry.key = key;
	entry.sparse = true;
	entry.score = score;
	entry.tuples = dead;
	entry.threshold = threshold;
	collect(&entry);
}

bool
queue_note_waiting(const Decision *d, int64 dead, int64 ins)
{
	Thresholds	t = {.vacuum = d->dead_threshold,.insert = d->ins_threshold,.analyze = -1};

	switch (d->kind)
	{
		case DECISION_VACUUMED:
		case DECISION_OBSERVED:
		case DECISION_HELD_BACK:
		case DECISION_LOCKED:
		case DECISION_CANCELLED:
		case DECISION_FAILED:
		case DECISION_SNOOZED:
		case DECISION_CHECKPOINT_AHEAD:
			if (!threshold_vacuum_due(&t, dead) && !threshold_insert_due(&t, ins))
				return false;
			queue_note(d->key, &t, dead, ins, false);
			return true;
		default:
			return false;		/* it does not wait for anything */
	}
}

/* ----
 * The launcher: publishing
 * ----
 */

HTAB *
queue_index(const QueueEntry *entries, int count)
{
	HASHCTL		info = {0};
	HTAB	   *index;

	info.keysize = sizeof(DecisionKey);
	info.entrysize = sizeof(QueueEntry);
	info.hcxt = CurrentMemoryContext;
	index = hash_create("sweep queue", Max(count, 1), &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	for (int i = 0; i < count; i++)
	{
		QueueEntry *entry = hash_search(index, &entries[i].key, HASH_ENTER, NULL);

		*entry = entries[i];
	}
	return index;
}

void
queue_publish(bool (*is_ours) (Oid dboid), TimestampTz now)
{
	/* no lock, because nobody else writes the queue */
	HTAB	   *before = queue_index(sweep_shared->queue, sweep_shared->queue_count);
	int			n = 0;

	for (int i = 0; i < collected_count; i++)
	{
		const QueueEntry *earlier;

		if (collected[i].key.dboid != InvalidOid && !is_ours(collected[i].key.dboid))
			continue;
		earlier = hash_search(before, &collected[i].key, HASH_FIND, NULL);
		collected[i].since = earlier ? earlier->since : now;
		collected[n++] = collected[i];
	}
	hash_destroy(before);

	LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_EXCLUSIVE);
	memcpy(sweep_shared->queue, collected, sizeof(QueueEntry) * n);
	sweep_shared->queue_count = n;
	sweep_shared->queue_is_partial = collected_partly;
	LWLockRelease(shmem_lock(LOCK_QUEUE));
	collected_count = n;
}

/* While pg_sweep is off nothing waits for it. */
void
queue_clear(void)
{
	if (sweep_shared->queue_count == 0)
		return;
	LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_EXCLUSIVE);
	sweep_shared->queue_count = 0;
	LWLockRelease(shmem_lock(LOCK_QUEUE));
}

void
queue_set_back(int64 us)
{
	LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_EXCLUSIVE);
	for (int i = 0; i < sweep_shared->queue_count; i++)
		clock_move(&sweep_shared->queue[i].since, us);
	LWLockRelease(shmem_lock(LOCK_QUEUE));
}

/* ----
 * Who has waited for too long
 * ----
 */

static bool
is_overdue(const QueueEntry *entry, TimestampTz now)
{
	return !entry->sparse && now > clock_after(entry->since, (int64) QUEUE_MAX_WAIT_S * 1000);
}

int64
queue_count_overdue(void)
{
	TimestampTz now = clock_now();
	int64		n = 0;

	LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_SHARED);
	for (int i = 0; i < sweep_shared->queue_count; i++)
		n += is_overdue(&sweep_shared->queue[i], now);
	LWLockRelease(shmem_lock(LOCK_QUEUE));
	return n;
}

QueueEntry *
queue_overdue(int *count)
{
	QueueEntry *entries = palloc(sizeof(QueueEntry) * SWEEP_QUEUE_LIMIT);
	TimestampTz now = clock_now();
	int			n = 0;

	LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_SHARED);
	for (int i = 0; i < sweep_shared->queue_count; i++)
	{
		if (is_overdue(&sweep_shared->queue[i], now))
			entries[n++] = sweep_shared->queue[i];
	}
	LWLockRelease(shmem_lock(LOCK_QUEUE));
	*count = n;
	return entries;
}

/* ----
 * A worker: what it is to look at
 * ----
 */

DecisionKey *
queue_due(bool catalogs_only, int *count)
{
	DecisionKey *keys = palloc(sizeof(DecisionKey) * SWEEP_QUEUE_LIMIT);
	int			n = 0;

	LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_SHARED);
	if (sweep_shared->queue_is_partial)
		n = -1;
	for (int i = 0; n >= 0 && i < sweep_shared->queue_count; i++)
	{
		const QueueEntry *entry = &sweep_shared->queue[i];

		if (entry->due && (entry->key.dboid == MyDatabaseId || entry->key.dboid == InvalidOid) &&
			(!catalogs_only || rules_is_catalog(entry->key.relid)))
			keys[n++] = entry->key;
	}
	LWLockRelease(shmem_lock(LOCK_QUEUE));
	*count = n;
	return keys;
}

DecisionKey *
queue_sparse(int *count)
{
	DecisionKey *keys = palloc(sizeof(DecisionKey) * SWEEP_QUEUE_LIMIT);
	int			n = 0;

	LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_SHARED);
	for (int i = 0; i < sweep_shared->queue_count; i++)
	{
		if (sweep_shared->queue[i].sparse && sweep_shared->queue[i].key.dboid == MyDatabaseId)
			keys[n++] = sweep_shared->queue[i].key;
	}
	LWLockRelease(shmem_lock(LOCK_QUEUE));
	*count = n;
	return keys;
}

bool
queue_has_due(int64 ms)
{
	TimestampTz now = clock_now();
	bool		found = false;

	LWLockAcquire(shmem_lock(LOCK_QUEUE), LW_SHARED);
	for (int i = 0; !found && i < sweep_shared->queue_count; i++)
		found = sweep_shared->queue[i].due && now > clock_after(sweep_shared->queue[i].since, ms);
	LWLockRelease(shmem_lock(LOCK_QUEUE));
	return found;
}
