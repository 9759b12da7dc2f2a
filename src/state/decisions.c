/*
 * decisions.c
 *		What was decided last about each table that looked due, so that the
 *		scout does not ask again before there is a reason to.
 *
 * The decisions are a hash table in shared memory under LOCK_DECISIONS.
 * Workers put them, the launcher looks them up and forgets them, views copy
 * them.
 */
#include "state/decisions.h"

#include "utils/hsearch.h"

#include "policy/evict.h"
#include "server/clock.h"
#include "shmem.h"

/* When all places are taken, one in so many is freed at once. */
#define EVICT_PART	16

/* Snoozes may take one place in so many. */
#define SNOOZES_PART	2

static int64 lost = 0;			/* by this process */

void
decisions_lock(void)
{
	LWLockAcquire(shmem_lock(LOCK_DECISIONS), LW_SHARED);
}

void
decisions_unlock(void)
{
	LWLockRelease(shmem_lock(LOCK_DECISIONS));
}

const Decision *
decision_find(DecisionKey key)
{
	return hash_search(sweep_decisions, &key, HASH_FIND, NULL);
}

bool
decision_get(DecisionKey key, Decision *decision)
{
	const Decision *found;

	decisions_lock();
	found = decision_find(key);
	if (found)
		*decision = *found;
	decisions_unlock();
	return found != NULL;
}

static bool
is_snoozed(const Decision *d)
{
	return d->kind == DECISION_SNOOZED && clock_now() < d->not_before;
}

/* The caller holds the lock, exclusively. */
static void
forget(const Decision *d)
{
	if (d->memory.late_since != 0)
		pg_atomic_fetch_sub_u32(&sweep_shared->late_tables, 1);
	(void) hash_search(sweep_decisions, &d->key, HASH_REMOVE, NULL);
}

/* ----
 * Room for another one
 * ----
 */

/* What would be lost with this decision? */
static EvictClass
evict_class(const Decision *d, TimestampTz now)
{
	if (is_snoozed(d))
		return EVICT_NEVER;
	if (d->carried.on)
		return EVICT_WAIT;		/* or its garbage would be forgotten */
	if (d->kind == DECISION_OBSERVED)
		return now < d->not_before ? EVICT_WAIT : EVICT_KNOWN;
	switch (d->kind)
	{
		case DECISION_BELOW_THRESHOLD:
			if (d->failures == 0)
				return d->looks_due ? EVICT_LOOK : (d->memory.vacuumed ? EVICT_KNOWN : EVICT_IDLE);
			break;
		case DECISION_DISABLED:
		case DECISION_TEMPORARY:
		case DECISION_COPY:
		case DECISION_OUT_OF_SCOPE:
		case DECISION_WOULD_ANALYZE:
		case DECISION_NOT_ANALYZED:
		case DECISION_ANALYZE_LATER:
			return EVICT_LOOK;
		default:
			break;
	}
	if (now < d->not_before || d->failures > 0 || FullTransactionIdIsValid(d->horizon))
		return EVICT_WAIT;
	return EVICT_KNOWN;
}

static int
rank_of(const Decision *d, TimestampTz now)
{
	EvictClass	class = evict_class(d, now);

	return evict_rank(class, (class < EVICT_LOOK ? now - d->last_at : d->not_before - now) / USECS_PER_SEC);
}

/* Forgets so many of the decisions that it does least harm to forget. */
static void
make_room(EvictClass newcomer, int wanted, TimestampTz now)
{
	int			counts[EVICT_RANKS] = {0};
	HASH_SEQ_STATUS status;
	Decision   *d;
	int			below;

	hash_seq_init(&status, sweep_decisions);
	while ((d = hash_seq_search(&status)) != NULL)
		counts[rank_of(d, now)]++;
	below = evict_below(counts, newcomer, wanted);
	if (below == 0)
		return;

	hash_seq_init(&status, sweep_decisions);
	while ((d = hash_seq_search(&status)) != NULL)
	{
		EvictClass	class = evict_class(d, now);

		if (rank_of(d, now) >= below || wanted-- <= 0)
			continue;
		if (class >= EVICT_LOOK)
			pg_atomic_fetch_add_u64(&sweep_shared->decisions_dropped, 1);
		forget(d);
	}
}

/*
 * Returns the place of the decision's table, or a new one for it.  NULL if
 * all are taken.
 */
static Decision *
find_place(const Decision *decision, bool *found)
{
	TimestampTz now = clock_now();
	EvictClass	class = evict_class(decision, now);
	Decision   *place = hash_search(sweep_decisions, &decision->key, HASH_FIND, found);

	if (*found)
		return place;
	/* many at once, because looking for them takes a pass over all */
	if (hash_get_num_entries(sweep_decisions) >= sweep_max_decisions)
		make_room(class, Max(sweep_max_decisions / EVICT_PART, 1), now);
	if (hash_get_num_entries(sweep_decisions) < sweep_max_decisions)
		place = hash_search(sweep_decisions, &decision->key, HASH_ENTER_NULL, found);
	if (place == NULL)
	{
		pg_atomic_fetch_add_u64(&sweep_shared->decisions_dropped, 1);
		lost += class >= EVICT_LOOK;
	}
	return place;
}

/* This is one word, and may be a moment old. */
bool
decisions_are_many(void)
{
	return hash_get_num_entries(sweep_decisions) > (int64) sweep_max_decisions * 3 / 4;
}

int64
decisions_lost(void)
{
	return lost;
}

/*
 * A user has said that the table is to be left alone, and nothing that is
 * decided meanwhile takes that back.  Such a decision may come from a worker
 * that had begun before, from a vacuum that somebody requested, or from the
 * cancel that came with the snooze.  What was learned of the table is taken
 * over, while the kind and the times stay.  Every decision passes through
 * decision_put(), so this is the only place that has to see to it.
 */
static void
put_into_snoozed(Decision *place, const Decision *decision)
{
	Decision	snoozed = *place;

	*place = *decision;
	place->kind = snoozed.kind;
	place->mentioned = true;
	place->first_at = snoozed.first_at;
	place->last_at = snoozed.last_at;
	place->times = snoozed.times;
	place->not_before = snoozed.not_before;
}

/*
 * With so many rows of their own some tables are due.  What was carried over
 * makes them due earlier.  Those that it makes due at once are found by a
 * survey, and need not be looked up by the scout for ever.
 */
static void
lower(int64 *lowest, double threshold, int64 carried)
{
	if (threshold < 0)
		return;
	if (carried > 0 && (double) carried < threshold)
		threshold -= (double) carried;
	*lowest = Min(*lowest, (int64) threshold);
}

/* A table that was snoozed before anything was known of it has none. */
static void
lower_to(const Decision *d)
{
	if (d->kind == DECISION_SNOOZED && d->dead_threshold == 0 && d->ins_threshold == 0)
		return;
	lower(&sweep_shared->lowest_dead_threshold, d->dead_threshold, d->carried.dead);
	lower(&sweep_shared->lowest_ins_threshold, d->ins_threshold, d->carried.ins);
	lower(&sweep_shared->lowest_ins_threshold, d->ins_early, d->carried.ins);
}

void
decision_put(const Decision *decision)
{
	TimestampTz now = clock_now();
	Decision   *place;
	bool		found;

	LWLockAcquire(shmem_lock(LOCK_DECISIONS), LW_EXCLUSIVE);
	place = find_place(decision, &found);
	if (place != NULL)
	{
		TimestampTz first_at = decision->last_at;
		int64		times = 1;
		bool		mentioned = decision->mentioned || (found && place->mentioned);
		int64		seen_ins = found ? place->seen_ins : 0;
		TimestampTz seen_at = found ? place->seen_at : 0;
		TimestampTz would_vacuum_at = decision->would_vacuum_at;
		bool		was_late = found && place->memory.late_since != 0;

		/*
		 * what would have been done stays known until we vacuum the table
		 * ourselves
		 */
		if (found && would_vacuum_at == 0 && decision->kind != DECISION_VACUUMED &&
			decision->kind != DECISION_HELD_BACK)
			would_vacuum_at = place->would_vacuum_at;
		mentioned = mentioned || would_vacuum_at != 0;
		if (found && place->kind == decision->kind)
		{
			first_at = place->first_at;
			times = place->times + 1;
		}
		lower_to(decision);
		if (found && is_snoozed(place))
			put_into_snoozed(place, decision);
		else
		{
			*place = *decision;
			place->first_at = first_at;
			place->times = times;
			place->mentioned = mentioned;
		}
		/* the clock was set back while this was being decided */
		if (place->last_at > now && place->kind != DECISION_SNOOZED)
		{
			place->not_before = Max(place->not_before - (place->last_at - now), 0);
			place->last_at = now;
		}
		place->seen_ins = seen_ins;
		place->seen_at = seen_at;
		place->would_vacuum_at = would_vacuum_at;
		/* an unsigned count, to which -1 may be added */
		pg_atomic_fetch_add_u32(&sweep_shared->late_tables, (place->memory.late_since != 0) - was_late);
	}
	LWLockRelease(shmem_lock(LOCK_DECISIONS));
}

/* How many tables would be snoozed with these as well, and how many are new? */
static int
count_snoozed(const Decision *decisions, int n, int *newcomers)
{
	HASH_SEQ_STATUS status;
	const Decision *d;
	int			snoozed = n;

	hash_seq_init(&status, sweep_decisions);
	while ((d = hash_seq_search(&status)) != NULL)
		snoozed += is_snoozed(d);
	*newcomers = 0;
	for (int i = 0; i < n; i++)
	{
		d = decision_find(decisions[i].key);
		*newcomers += d == NULL;
		snoozed -= d != NULL && is_snoozed(d);
	}
	return snoozed;
}

/*
 * If nothing was known of the table, its thresholds are left at 0.  Then the
 * scout sends a worker when the snooze is over, and the worker finds out the
 * real ones.  These zeros must not lower the lowest thresholds, below which
 * the scout looks at no table at all.
 */
static void
put_snooze(const Decision *decision)
{
	bool		found;
	Decision   *place = hash_search(sweep_decisions, &decision->key, HASH_ENTER_NULL, &found);
	bool		again = found && is_snoozed(place);

	if (place == NULL)
		return;					/* there is memory for sweep_max_decisions */
	if (!found)
		*place = *decision;
	place->kind = DECISION_SNOOZED;
	place->mentioned = true;
	place->first_at = again ? place->first_at : decision->last_at;
	place->last_at = decision->last_at;
	place->times = again ? place->times + 1 : 1;
	place->not_before = decision->not_before;
}

/*
 * Snoozes are never forgotten for others.  So they may take a part of the
 * room only: what is decided about other tables needs the rest.
 */
bool
decision_snooze(const Decision *decisions, int n)
{
	TimestampTz now = clock_now();
	int			newcomers;
	bool		room;

	LWLockAcquire(shmem_lock(LOCK_DECISIONS), LW_EXCLUSIVE);
	room = count_snoozed(decisions, n, &newcomers) <= decisions_snooze_limit();
	if (room)
	{
		int64		over = hash_get_num_entries(sweep_decisions) + newcomers - sweep_max_decisions;

		if (over > 0)
			make_room(EVICT_NEVER, (int) over, now);
		for (int i = 0; i < n; i++)
			put_snooze(&decisions[i]);
	}
	LWLockRelease(shmem_lock(LOCK_DECISIONS));
	return room;
}

int
decisions_snooze_limit(void)
{
	return sweep_max_decisions / SNOOZES_PART;
}

/* The scout then has a worker look again, who decides anew. */
void
decision_unsnooze(DecisionKey key)
{
	Decision   *place;

	LWLockAcquire(shmem_lock(LOCK_DECISIONS), LW_EXCLUSIVE);
	place = hash_search(sweep_decisions, &key, HASH_FIND, NULL);
	if (place != NULL && place->kind == DECISION_SNOOZED)
	{
		place->kind = DECISION_BELOW_THRESHOLD;
		place->mentioned = false;
		place->not_before = 0;
	}
	LWLockRelease(shmem_lock(LOCK_DECISIONS));
}

Oid *
decision_snoozed_tables(Oid dboid, int *count)
{
	HASH_SEQ_STATUS status;
	Decision   *decision;
	Oid		   *relids;
	int			size = 0;

	/* in two passes, because nothing is allocated under the lock */
	decisions_lock();
	hash_seq_init(&status, sweep_decisions);
	while ((decision = hash_seq_search(&status)) != NULL)
		size += decision->key.dboid == dboid && is_snoozed(decision);
	decisions_unlock();

	*count = 0;
	if (size == 0)
		return NULL;
	relids = palloc(sizeof(Oid) * size);
	decisions_lock();
	hash_seq_init(&status, sweep_decisions);
	while ((decision = hash_seq_search(&status)) != NULL)
	{
		if (*count < size && decision->key.dboid == dboid && is_snoozed(decision))
			relids[(*count)++] = decision->key.relid;
	}
	decisions_unlock();
	return relids;
}

void
decisions_set_back(int64 us)
{
	HASH_SEQ_STATUS status;
	Decision   *d;

	LWLockAcquire(shmem_lock(LOCK_DECISIONS), LW_EXCLUSIVE);
	hash_seq_init(&status, sweep_decisions);
	while ((d = hash_seq_search(&status)) != NULL)
	{
		clock_move(&d->first_at, us);
		clock_move(&d->last_at, us);
		clock_move(&d->not_before, us);
		clock_move(&d->would_vacuum_at, us);
		clock_move(&d->seen_at, us);
		clock_move(&d->follow_at, us);
		clock_move(&d->memory.catch_up_after, us);
		clock_move(&d->memory.follows_until, us);
		clock_move(&d->memory.analyze_after, us);
		clock_move(&d->memory.truncate_after, us);
	}
	LWLockRelease(shmem_lock(LOCK_DECISIONS));
}

/* The lowest thresholds rise here, when the table that had them is gone. */
void
decision_forget(bool (*keep) (const Decision *decision, void *arg), void *arg)
{
	HASH_SEQ_STATUS status;
	Decision   *decision;

	LWLockAcquire(shmem_lock(LOCK_DECISIONS), LW_EXCLUSIVE);
	sweep_shared->lowest_dead_threshold = sweep_shared->lowest_ins_threshold = PG_INT64_MAX;
	hash_seq_init(&status, sweep_decisions);
	while ((decision = hash_seq_search(&status)) != NULL)
	{
		if (keep(decision, arg))
			lower_to(decision);
		else
			forget(decision);
	}
	LWLockRelease(shmem_lock(LOCK_DECISIONS));
}

void
decision_visit(void (*visit) (const Decision *decision, void *arg), void *arg)
{
	HASH_SEQ_STATUS status;
	Decision   *decision;

	hash_seq_init(&status, sweep_decisions);
	while ((decision = hash_seq_search(&status)) != NULL)
		visit(decision, arg);
}

Decision *
decision_copy(int *count)
{
	HASH_SEQ_STATUS status;
	Decision   *decision;
	Decision   *copy;
	int			size;
	int			n = 0;

	/* leaves room for some that come before they are copied */
	decisions_lock();
	size = Min((int) hash_get_num_entries(sweep_decisions) + 1024, sweep_max_decisions);
	decisions_unlock();
	copy = palloc_extended(sizeof(Decision) * (Size) size, MCXT_ALLOC_HUGE);

	decisions_lock();
	hash_seq_init(&status, sweep_decisions);
	while ((decision = hash_seq_search(&status)) != NULL)
	{
		if (n < size)
			copy[n++] = *decision;
	}
	decisions_unlock();
	*count = n;
	return copy;
}
