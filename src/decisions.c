/*
 * decisions.c
 *		What was decided last about each table that looked due, so that the
 *		scout does not ask again before there is a reason to.
 *
 * A hash table in shared memory under LOCK_DECISIONS.  Workers put, the
 * launcher looks up and forgets, views copy.
 */
#include "decisions.h"

#include "utils/hsearch.h"

#include "clock.h"
#include "next_checkpoint.h"

/* Sessions report their inserts once a second, or when they commit. */
#define QUIET_MS	5000

static const char *const names[DECISION_KIND_COUNT] = {
	[DECISION_NONE] = "none",
	[DECISION_VACUUMED] = "vacuumed",
	[DECISION_BELOW_THRESHOLD] = "below threshold",
	[DECISION_DISABLED] = "disabled",
	[DECISION_OBSERVED] = "would vacuum",
	[DECISION_HELD_BACK] = "held back",
	[DECISION_LOCKED] = "locked",
	[DECISION_CANCELLED] = "cancelled",
	[DECISION_FAILED] = "failed",
	[DECISION_LEFT_TO_CORE] = "left to core",
	[DECISION_TEMPORARY] = "temporary",
	[DECISION_OUT_OF_SCOPE] = "out of scope",
	[DECISION_SNOOZED] = "snoozed",
	[DECISION_CHECKPOINT_AHEAD] = "waits for checkpoint",
	[DECISION_ANALYZED] = "analyzed",
	[DECISION_WOULD_ANALYZE] = "would analyze",
	[DECISION_NOT_ANALYZED] = "not analyzed",
	[DECISION_HELD] = "held",
};

const char *
decision_name(int kind)
{
	Assert(kind >= 0 && kind < DECISION_KIND_COUNT);
	return names[kind];
}

void
decision_reason(const Decision *d, char *text)
{
	const int	size = DECISION_REASON_LEN;

	text[0] = '\0';
	switch (d->kind)
	{
		case DECISION_VACUUMED:
			strlcpy(text, "vacuumed a short while ago; waiting for the minimum interval", size);
			break;
		case DECISION_BELOW_THRESHOLD:
			if (d->ins_threshold < 0)
				snprintf(text, size, "dead tuples " INT64_FORMAT " of %.0f, inserts do not count", d->dead, d->dead_threshold);
			else
				snprintf(text, size, "dead tuples " INT64_FORMAT " of %.0f, inserted tuples " INT64_FORMAT " of %.0f",
						 d->dead, d->dead_threshold, d->ins, d->ins_threshold);
			break;
		case DECISION_DISABLED:
			strlcpy(text, "switched off for this table, by autovacuum_enabled or sweep.set()", size);
			break;
		case DECISION_OBSERVED:
		case DECISION_WOULD_ANALYZE:
			snprintf(text, size, "sweep.mode is %s", settings_mode_name(sweep_mode));
			break;
		case DECISION_HELD_BACK:
			snprintf(text, size, "dead rows are still needed; waiting until the horizon has passed transaction %u",
					 XidFromFullTransactionId(d->horizon));
			break;
		case DECISION_LOCKED:
			snprintf(text, size, "lock not available, %d times in a row", d->failures);
			break;
		case DECISION_CANCELLED:
			snprintf(text, size, "cancelled, most often because somebody needed a lock, %d times in a row", d->failures);
			break;
		case DECISION_FAILED:
			snprintf(text, size, "ended in an error, %d times in a row; see the server log", d->failures);
			break;
		case DECISION_LEFT_TO_CORE:
			strlcpy(text, "the table is within 5 % of its freeze age: core's anti-wraparound vacuum is near", size);
			break;
		case DECISION_TEMPORARY:
			strlcpy(text, "only the session of a temporary table can vacuum it", size);
			break;
		case DECISION_OUT_OF_SCOPE:
			strlcpy(text, "the table is not in sweep.scope", size);
			break;
		case DECISION_CHECKPOINT_AHEAD:
			strlcpy(text, "new rows only: vacuumed just before the next checkpoint, which comes within the minimum interval", size);
			break;
		case DECISION_ANALYZED:
			strlcpy(text, "analyzed a short while ago; waiting for the minimum interval", size);
			break;
		case DECISION_NOT_ANALYZED:
			strlcpy(text, "a partition is a foreign table, or there are too many to lock at once: ANALYZE it yourself", size);
			break;
		case DECISION_SNOOZED:
			strlcpy(text, "sweep.snooze() or sweep.cancel() said so", size);
			break;
		case DECISION_HELD:
			strlcpy(text, "sweep.hold() said so, for all tables", size);
			break;
		default:
			break;
	}
}

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

/* A table's place, or a new one for it; NULL: all are taken. */
static Decision *
find_place(DecisionKey key, bool *found)
{
	Decision   *place = hash_search(sweep_decisions, &key, HASH_FIND, found);

	if (!*found && hash_get_num_entries(sweep_decisions) < sweep_max_decisions)
		place = hash_search(sweep_decisions, &key, HASH_ENTER_NULL, found);
	return place;
}

static bool
is_snoozed(const Decision *d)
{
	return d->kind == DECISION_SNOOZED && clock_now() < d->not_before;
}

/*
 * A user has said that the table is to be left alone, and what is decided about
 * it meanwhile does not unsay it: a worker that had begun before, the
 * vacuum that somebody requested, or the cancel that came with the snooze.
 * What was learned of the table is taken over; the kind and the time stay.
 * Every decision passes through decision_put(), so it is enough to see to it
 * there.
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

void
decision_put(const Decision *decision)
{
	Decision   *place;
	bool		found;

	LWLockAcquire(shmem_lock(LOCK_DECISIONS), LW_EXCLUSIVE);
	place = find_place(decision->key, &found);
	if (place == NULL)
		pg_atomic_fetch_add_u64(&sweep_shared->decisions_dropped, 1);
	else
	{
		TimestampTz first_at = decision->last_at;
		int64		times = 1;
		bool		mentioned = decision->mentioned;
		int64		seen_ins = found ? place->seen_ins : 0;
		TimestampTz seen_at = found ? place->seen_at : 0;
		TimestampTz would_vacuum_at = decision->would_vacuum_at;

		/* what would have been done stays known until we do it ourselves */
		if (found && would_vacuum_at == 0 && decision->kind != DECISION_VACUUMED &&
			decision->kind != DECISION_HELD_BACK)
			would_vacuum_at = place->would_vacuum_at;
		mentioned = mentioned || would_vacuum_at != 0;
		if (found && place->kind == decision->kind)
		{
			first_at = place->first_at;
			times = place->times + 1;
			mentioned = mentioned || place->mentioned;
		}
		if (decision->dead_threshold >= 0)
			sweep_shared->lowest_dead_threshold =
				Min(sweep_shared->lowest_dead_threshold, (int64) decision->dead_threshold);
		if (decision->ins_threshold >= 0)
			sweep_shared->lowest_ins_threshold =
				Min(sweep_shared->lowest_ins_threshold, (int64) decision->ins_threshold);
		if (decision->ins_early >= 0)
			sweep_shared->lowest_ins_threshold =
				Min(sweep_shared->lowest_ins_threshold, (int64) decision->ins_early);
		if (found && is_snoozed(place))
			put_into_snoozed(place, decision);
		else
		{
			*place = *decision;
			place->first_at = first_at;
			place->times = times;
			place->mentioned = mentioned;
		}
		place->seen_ins = seen_ins;
		place->seen_at = seen_at;
		place->would_vacuum_at = would_vacuum_at;
	}
	LWLockRelease(shmem_lock(LOCK_DECISIONS));
}

/*
 * Of a table that was not known, the thresholds are left at 0: when the snooze
 * is over, the scout has a worker look, who knows better.  They do not lower
 * the lowest ones, below which the scout looks at no table at all.
 */
bool
decision_snooze(const Decision *decision)
{
	Decision   *place;
	bool		found;

	LWLockAcquire(shmem_lock(LOCK_DECISIONS), LW_EXCLUSIVE);
	place = find_place(decision->key, &found);
	if (place != NULL)
	{
		bool		again = found && is_snoozed(place);
		TimestampTz first_at = again ? place->first_at : decision->last_at;
		int64		times = again ? place->times + 1 : 1;

		if (!found)
			*place = *decision;
		place->kind = DECISION_SNOOZED;
		place->mentioned = true;
		place->first_at = first_at;
		place->last_at = decision->last_at;
		place->times = times;
		place->not_before = decision->not_before;
		place->dead_growth = 0;
		place->ins_growth = 0;
	}
	LWLockRelease(shmem_lock(LOCK_DECISIONS));
	return place != NULL;
}

/* The scout has a worker look again, who decides anew. */
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

	/* two passes: nothing is allocated under the lock */
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
decision_forget(bool (*keep) (const Decision *decision, void *arg), void *arg)
{
	HASH_SEQ_STATUS status;
	Decision   *decision;

	LWLockAcquire(shmem_lock(LOCK_DECISIONS), LW_EXCLUSIVE);
	hash_seq_init(&status, sweep_decisions);
	while ((decision = hash_seq_search(&status)) != NULL)
	{
		if (!keep(decision, arg))
			(void) hash_search(sweep_decisions, &decision->key, HASH_REMOVE, NULL);
	}
	LWLockRelease(shmem_lock(LOCK_DECISIONS));
}

Decision *
decision_copy(int *count)
{
	HASH_SEQ_STATUS status;
	Decision   *decision;
	Decision   *copy;
	int			size;
	int			n = 0;

	/* some may come before they are copied */
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

/*
 * Its own writer: the launcher, under the lock, shared.  A worker that reads
 * one of the two before and one after looks once too often, or a round later.
 */
void
decision_see(const Decision *decision, int64 ins, TimestampTz now)
{
	Decision   *d = unconstify(Decision *, decision);

	if (d->seen_at != 0 && d->seen_ins == ins)
		return;
	d->seen_ins = ins;
	d->seen_at = now;
}

bool
decision_inserts_ended(const Decision *d, int64 ins, TimestampTz now)
{
	return d->seen_at != 0 && d->seen_ins == ins && now >= clock_after(d->seen_at, QUIET_MS);
}

int64
decision_lead_ms(const TableMemory *memory)
{
	return memory->took_ms + NEXT_CHECKPOINT_LEAD_MS;
}

/* A round may come a little before its time. */
bool
decision_checkpoint_is_near(const TableMemory *memory, int64 checkpoint_ms)
{
	return checkpoint_ms <= decision_lead_ms(memory) + 20;
}

/* Enough new rows to be due now, though not at any other time? */
static bool
is_early(const Decision *d, int64 ins, const DecisionMoment *moment)
{
	return d->ins_early >= 0 && (double) ins > d->ins_early &&
		(((d->own_checkpoint_aware ? d->checkpoint_aware : sweep_checkpoint_aware) &&
		  decision_checkpoint_is_near(&d->memory, moment->checkpoint_ms)) ||
		 decision_inserts_ended(d, ins, moment->now));
}

/* Growth is asked for only as long as nobody else has vacuumed meanwhile. */
static bool
has_grown(int64 now, int64 when_decided, int64 growth, double threshold)
{
	return threshold >= 0 && (double) now > threshold &&
		(now > growth || now < when_decided);
}

bool
decision_is_over(const Decision *d, int64 dead, int64 ins, const DecisionMoment *moment,
				 FullTransactionId (*horizon) (bool catalog, void *arg), void *arg)
{
	/* a worker that is there for another reason sees whether it is on again */
	if (d->kind == DECISION_DISABLED)
		return false;
	/* with all in scope, a worker decided so before it had heard of that */
	if (d->kind == DECISION_OUT_OF_SCOPE && sweep_scope != SCOPE_ALL)
		return false;

	/* somebody has said "act" since */
	if (d->kind == DECISION_OBSERVED && sweep_mode == SWEEP_ACT)
		return true;
	if (moment->now < d->not_before)
		return false;
	if (!has_grown(dead, d->dead, d->dead_growth, d->dead_threshold) &&
		!has_grown(ins, d->ins, d->ins_growth, d->ins_threshold) &&
		!(d->ins_growth == 0 && is_early(d, ins, moment)))
		return false;
	return !FullTransactionIdIsValid(d->horizon) ||
		FullTransactionIdFollowsOrEquals(horizon(d->catalog_horizon, arg), d->horizon);
}
