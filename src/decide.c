/*
 * decide.c
 *		What is to be done about one table now, and why.
 *
 * Runs in a worker, and read-only in any backend for the views.  The order of
 * the questions is the order of the answers that a user sees.
 */
#include "decide.h"

#include "clock.h"
#include "horizon.h"
#include "policy/backoff.h"
#include "scout.h"

#define CANCELLED_BACKOFF_MS	(5 * 60 * 1000)
#define CANCELLED_BACKOFF_MAX_MS	(24 * 60 * 60 * 1000)
#define LOCKED_BACKOFF_MS		(10 * 1000)
#define LOCKED_BACKOFF_MAX_MS	(5 * 60 * 1000)
#define FAILED_BACKOFF_MS		(60 * 1000)
#define FAILED_BACKOFF_MAX_MS	(60 * 60 * 1000)
#define RECHECK_MS				(10 * 60 * 1000)
#define RECHECK_OBSERVED_MS		(60 * 1000)

static Decision
new_decision(const Candidate *c, DecisionKind kind)
{
	Decision	d;

	memset(&d, 0, sizeof(d));
	d.key = c->key;
	d.kind = kind;
	d.mentioned = true;
	d.last_at = clock_now();
	d.catalog_horizon = c->catalog_horizon;
	d.dead_threshold = c->thresholds.vacuum;
	d.ins_threshold = c->thresholds.insert;
	d.dead = c->dead;
	d.ins = c->ins;
	strlcpy(d.schemaname, c->schemaname, NAMEDATALEN);
	strlcpy(d.relname, c->relname, NAMEDATALEN);
	return d;
}

static void
decide_and_wait(const Candidate *c, DecisionKind kind, int64 wait_ms)
{
	Decision	d = new_decision(c, kind);

	d.not_before = clock_after(d.last_at, wait_ms);
	decision_put(&d);
}

/* The scout looks at it again when it has doubled, or was vacuumed by others. */
static void
decide_observed(const Candidate *c)
{
	Decision	d = new_decision(c, DECISION_OBSERVED);

	d.not_before = clock_after(d.last_at, RECHECK_OBSERVED_MS);
	d.dead_growth = 2 * c->dead;
	d.ins_growth = 2 * c->ins;
	decision_put(&d);
}

/* Independent of the table's counters: the scout answers the same. */
static bool
must_still_wait(const Decision *old, const Candidate *c)
{
	if (old->kind == DECISION_OBSERVED && sweep_mode == SWEEP_ACT)
		return false;
	return clock_now() < old->not_before ||
		(FullTransactionIdIsValid(old->horizon) &&
		 !FullTransactionIdFollowsOrEquals(horizon_of_database(c->key.dboid, old->catalog_horizon),
										   old->horizon));
}

/*
 * The failures stay, for the back-off should it become due again.  But the
 * scout must measure it by what it is due by now, or it would ask every time.
 */
static void
remember_thresholds(Decision *old, const Candidate *c)
{
	if (old->dead_threshold == c->thresholds.vacuum &&
		old->ins_threshold == c->thresholds.insert)
		return;
	old->dead_threshold = c->thresholds.vacuum;
	old->ins_threshold = c->thresholds.insert;
	decision_put(old);
}

/*
 * Not due.  Worth remembering when the scout, which knows neither reloptions
 * nor pg_class, would think otherwise now or too late.
 */
static void
decide_not_due(const Candidate *c, const Verdict *verdict)
{
	ThresholdSettings settings = scout_server_settings();
	Thresholds	scout = threshold_compute(&settings, c->live, 0, 0);
	Decision	old = verdict->known;
	bool		known = verdict->remembered;
	bool		vacuumed_since = known && (c->dead < old.dead || c->ins < old.ins);
	bool		looks_due = threshold_vacuum_due(&scout, c->dead) ||
		threshold_insert_due(&scout, c->ins);

	/* what has to be waited for is not over because it is not due just now */
	if (known && must_still_wait(&old, c))
		return;
	if (known && old.failures > 0 && !vacuumed_since)
	{
		remember_thresholds(&old, c);
		return;
	}

	if (looks_due || c->opts != NULL || !c->enabled || known ||
		c->thresholds.vacuum < 0.8 * scout.vacuum ||
		(c->thresholds.insert >= 0 && c->thresholds.insert < 0.8 * scout.insert))
	{
		Decision	d = new_decision(c, DECISION_BELOW_THRESHOLD);

		d.mentioned = looks_due;
		decision_put(&d);
	}
}

static FullTransactionId
horizon_now(bool catalog, void *arg)
{
	return horizon_of_database(((const Candidate *) arg)->key.dboid, catalog);
}

/* Does what was decided earlier still hold? */
static bool
must_wait(const Candidate *c, const Decision *known)
{
	Decision	d = *known;

	if (d.kind == DECISION_DISABLED)
		return false;
	/* it is due by what its thresholds are now */
	d.dead_threshold = c->thresholds.vacuum;
	d.ins_threshold = c->thresholds.insert;
	return !decision_is_over(&d, c->dead, c->ins, clock_now(), horizon_now,
							 unconstify(Candidate *, c));
}

Verdict
decide_about(const Candidate *c)
{
	Verdict		v = {0};

	v.due = candidate_is_due(c);
	v.remembered = decision_get(c->key, &v.known);
	if (!v.due)
		v.kind = DECISION_BELOW_THRESHOLD;
	else if (!c->enabled)
		v.kind = DECISION_DISABLED;
	else if (c->temporary)
		v.kind = DECISION_TEMPORARY;
	else if (v.remembered && must_wait(c, &v.known))
		v.kind = v.known.kind;
	else if (c->wraparound_near)
		v.kind = DECISION_LEFT_TO_CORE;
	else if (sweep_mode != SWEEP_ACT)
		v.kind = DECISION_OBSERVED;
	return v;
}

bool
decide(const Candidate *c, Verdict *verdict)
{
	*verdict = decide_about(c);
	switch (verdict->kind)
	{
		case DECISION_NONE:
			return true;
		case DECISION_BELOW_THRESHOLD:
			if (!verdict->due)
				decide_not_due(c, verdict);
			break;
		case DECISION_DISABLED:
		case DECISION_TEMPORARY:
		case DECISION_LEFT_TO_CORE:
			if (!verdict->remembered || !must_wait(c, &verdict->known))
				decide_and_wait(c, verdict->kind, RECHECK_MS);
			break;
		case DECISION_OBSERVED:
			if (!verdict->remembered || !must_wait(c, &verdict->known))
				decide_observed(c);
			break;
		default:
			break;				/* remembered as it is */
	}
	return false;
}

/*
 * What a vacuum came to.  Rows that it could not remove yet will not be
 * removable before everything that ran when it began is gone.
 */
void
decide_after(const Candidate *c, const Verdict *verdict, const RunRecord *run,
			 FullTransactionId next_xid)
{
	Decision	old;
	Decision	d;
	int64		base_ms;
	int64		max_ms;
	DecisionKind kind;

	if (run->outcome == RUN_DONE)
	{
		d = new_decision(c, run->dead_not_removable > 0 ? DECISION_HELD_BACK : DECISION_VACUUMED);
		d.not_before = clock_after(d.last_at, (int64) 1000 *
								   (c->catalog ? sweep_catalog_min_interval_s : sweep_min_interval_s));
		if (run->dead_not_removable > 0)
			d.horizon = next_xid;
		decision_put(&d);
		return;
	}

	if (run->outcome == RUN_SKIPPED)
	{
		kind = DECISION_LOCKED;
		base_ms = LOCKED_BACKOFF_MS;
		max_ms = LOCKED_BACKOFF_MAX_MS;
	}
	else if (run->outcome == RUN_CANCELLED)
	{
		kind = DECISION_CANCELLED;
		base_ms = CANCELLED_BACKOFF_MS;
		max_ms = CANCELLED_BACKOFF_MAX_MS;
	}
	else
	{
		kind = DECISION_FAILED;
		base_ms = FAILED_BACKOFF_MS;
		max_ms = FAILED_BACKOFF_MAX_MS;
	}

	d = new_decision(c, kind);
	d.failures = 1;
	if (decision_get(c->key, &old) && old.kind == kind)
		d.failures = Min(old.failures + 1, 100);
	d.not_before = clock_after(d.last_at, backoff_ms(base_ms, max_ms, d.failures));
	decision_put(&d);
}
