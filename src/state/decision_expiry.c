/*
 * decision_expiry.c
 *		When a decision is over, and its table is looked at again.
 *
 * The scout asks it in each round, of the decisions themselves, while it holds
 * LOCK_DECISIONS shared.  Workers ask it before they vacuum, of a copy.
 */
#include "state/decision_expiry.h"

#include "policy/held_back.h"
#include "server/clock.h"
#include "server/next_checkpoint.h"
#include "settings.h"

/*
 * A table takes no more inserts when their number has stood still for this
 * long.  Sessions report their inserts once a second, or when they commit.
 */
#define QUIET_MS	5000

/*
 * The launcher alone writes these fields, while it holds the lock shared.  A
 * worker may read one of the two before and the other after the change.  Then
 * it looks once too often, or one round later.
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

/* The launcher alone writes this field as well, under the shared lock. */
void
decision_see_dead(const Decision *decision, int64 dead)
{
	Decision   *d = unconstify(Decision *, decision);

	if (FullTransactionIdIsValid(d->horizon) && !FullTransactionIdIsValid(d->enough_at) &&
		(double) (dead - d->not_removable) > held_back_enough(d->dead_threshold, (double) dead))
		d->enough_at = ReadNextFullTransactionId();
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

/* The 20 ms are there because a round may come a little before its time. */
bool
decision_checkpoint_is_near(const TableMemory *memory, int64 checkpoint_ms)
{
	return checkpoint_ms <= decision_lead_ms(memory) + 20;
}

/* A threshold of inserted rows, or less where new pages do not fit the cache. */
static double
fitting(const Decision *d, double threshold, const DecisionMoment *moment)
{
	return threshold >= 0 && moment->fit_pages > 0 && d->ins_follow >= 0 ?
		Min(threshold, moment->fit_pages * d->rows_per_page) : threshold;
}

static bool
is_over_threshold(int64 now, double threshold)
{
	return threshold >= 0 && (double) now > threshold;
}

/* Is it as if the table had just been vacuumed? */
static bool
was_vacuumed(const Decision *d)
{
	return d->kind == DECISION_VACUUMED || d->kind == DECISION_OBSERVED;
}

/*
 * Do its new pages have a vacuum soon after the last one?  Those that wait for a
 * checkpoint do not wait once new pages do not fit the cache.
 */
static bool
is_followed(const Decision *d)
{
	return (was_vacuumed(d) || d->kind == DECISION_HELD_BACK || d->kind == DECISION_CHECKPOINT_AHEAD) &&
		d->ins_follow >= 0;
}

static bool
is_before_checkpoint(const Decision *d, int64 checkpoint_ms)
{
	return (d->own_checkpoint_aware ? d->checkpoint_aware : sweep_checkpoint_aware) &&
		decision_checkpoint_is_near(&d->memory, checkpoint_ms);
}

/*
 * Has the table enough new rows to be vacuumed now, though not at any other
 * time?
 */
static bool
is_early(const Decision *d, int64 ins, const DecisionMoment *moment)
{
	return d->ins_early >= 0 && (double) ins > d->ins_early &&
		(is_before_checkpoint(d, moment->checkpoint_ms) ||
		 decision_inserts_ended(d, ins, moment->now));
}

/*
 * Must the table be vacuumed although sweep.min_interval is not over?  That
 * is so where new pages would leave the cache, or would be logged in full
 * after a checkpoint.
 */
static bool
must_follow(const Decision *d, int64 ins, const DecisionMoment *moment)
{
	if (!is_followed(d) || moment->now < d->follow_at)
		return false;
	return (double) ins > fitting(d, d->ins_follow, moment) ||
		(d->ins_early >= 0 && (double) ins > d->ins_early &&
		 is_before_checkpoint(d, moment->checkpoint_ms));
}

/*
 * Has somebody else vacuumed the table since ours was cancelled, or failed?  Then
 * what was in its way is no more.
 */
static bool
others_have_vacuumed(const Decision *d, const DecisionMoment *moment)
{
	return (d->kind == DECISION_CANCELLED || d->kind == DECISION_FAILED || d->kind == DECISION_LOCKED) &&
		moment->vacuumed_at > d->last_at;
}

TimestampTz
decision_time(const Decision *d, int64 ins)
{
	return is_followed(d) && (double) ins > d->ins_follow ?
		Min(d->follow_at, d->not_before) : d->not_before;
}

bool
decision_horizon_allows(const Decision *d, int64 dead, bool by_ins, FullTransactionId horizon)
{
	HeldBack	held;

	/* new rows are of later transactions */
	if (by_ins && FullTransactionIdFollowsOrEquals(horizon, d->horizon))
		return true;
	if (dead == 0)
		return false;
	held.from = U64FromFullTransactionId(d->horizon_then);
	held.start = U64FromFullTransactionId(d->horizon);
	held.horizon = U64FromFullTransactionId(horizon);
	held.next = U64FromFullTransactionId(ReadNextFullTransactionId());
	held.enough_at = U64FromFullTransactionId(d->enough_at);
	held.not_removable = (double) Min(d->not_removable, dead);
	held.since = (double) dead - held.not_removable;
	return held_back_is_worth(&held, d->dead_threshold);
}

bool
decision_is_over(const Decision *d, int64 dead, int64 ins, const DecisionMoment *moment,
				 FullTransactionId (*horizon) (bool catalog, void *arg), void *arg)
{
	bool		by_dead;
	bool		by_ins;

	/*
	 * nobody is sent for it: a worker that is there for another reason sees
	 * if vacuum is enabled again
	 */
	if (d->kind == DECISION_DISABLED)
		return false;

	/*
	 * when all are in scope, the worker that decided so had not heard of that
	 * yet
	 */
	if (d->kind == DECISION_OUT_OF_SCOPE && sweep_scope != SCOPE_ALL)
		return false;

	/* since then the mode has become "act" */
	if (d->kind == DECISION_OBSERVED && sweep_mode == SWEEP_ACT)
		return true;

	/*
	 * autovacuum has vacuumed it, and has reset the counter of the rows that
	 * came meanwhile: only a worker can find out how many these are
	 */
	if (is_followed(d) && ins > 0 && d->memory.counted_vacuums >= 0 &&
		moment->vacuums > d->memory.counted_vacuums)
		return true;
	if (moment->now < d->not_before && !must_follow(d, ins, moment) && !others_have_vacuumed(d, moment))
		return false;
	by_dead = is_over_threshold(dead, d->dead_threshold);
	by_ins = is_over_threshold(ins, fitting(d, d->ins_threshold, moment)) || is_early(d, ins, moment);
	if (!by_dead && !by_ins)
		return false;
	return !FullTransactionIdIsValid(d->horizon) ||
		decision_horizon_allows(d, by_dead ? dead : 0, by_ins, horizon(d->catalog_horizon, arg));
}
