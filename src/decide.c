/*
 * decide.c
 *		What is to be done about one table now, and why.
 *
 * Runs in a worker, and read-only in any backend for the views.  The order of
 * the questions is the order of the answers that a user sees.
 */
#include "decide.h"

#include "utils/timestamp.h"

#include "clock.h"
#include "hold.h"
#include "horizon.h"
#include "next_checkpoint.h"
#include "policy/backoff.h"
#include "policy/freeze.h"
#include "policy/insert.h"
#include "scout.h"
#include "weigh.h"

#define CANCELLED_BACKOFF_MS	(5 * 60 * 1000)
#define CANCELLED_BACKOFF_MAX_MS	(24 * 60 * 60 * 1000)
#define FAILED_BACKOFF_MS		(60 * 1000)
#define FAILED_BACKOFF_MAX_MS	(60 * 60 * 1000)
#define TOOK_LIMIT_MS			(10 * 1000)

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
	d.ins_early = c->ins_early;
	d.own_checkpoint_aware = c->own && c->own->is_set[TABLE_CHECKPOINT_AWARE];
	d.checkpoint_aware = c->checkpoint_aware;
	d.memory = c->memory;
	d.dead = c->dead;
	d.ins = c->ins;
	strlcpy(d.schemaname, c->schemaname, NAMEDATALEN);
	strlcpy(d.relname, c->relname, NAMEDATALEN);
	return d;
}

void
decide_and_wait(const Candidate *c, DecisionKind kind, int64 wait_ms)
{
	Decision	d = new_decision(c, kind);

	d.not_before = clock_after(d.last_at, wait_ms);
	decision_put(&d);
}

/* Since when it would have been vacuumed; begins anew when others have done it. */
static TimestampTz
would_vacuum_since(const Candidate *c)
{
	TimestampTz earlier = c->decision ? c->decision->would_vacuum_at : 0;

	return earlier != 0 && c->vacuumed_at <= earlier ? earlier : clock_now();
}

/* The scout looks at it again when it has doubled, or was vacuumed by others. */
static void
decide_observed(const Candidate *c)
{
	Decision	d = new_decision(c, DECISION_OBSERVED);

	d.would_vacuum_at = would_vacuum_since(c);
	d.not_before = clock_after(d.last_at, RECHECK_OBSERVED_MS);
	d.dead_growth = 2 * c->dead;
	d.ins_growth = 2 * c->ins;
	decision_put(&d);
}

static void
decide_before_checkpoint(const Candidate *c)
{
	Decision	d = new_decision(c, DECISION_CHECKPOINT_AHEAD);
	int64		wait_ms = next_checkpoint_ms(d.last_at) - decision_lead_ms(&c->memory);

	/* the checkpoint's time, which no test divides */
	d.not_before = TimestampTzPlusMilliseconds(d.last_at, Max(wait_ms, 0));
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
		old->ins_threshold == c->thresholds.insert && old->ins_early == c->ins_early)
		return;
	old->dead_threshold = c->thresholds.vacuum;
	old->ins_threshold = c->thresholds.insert;
	old->ins_early = c->ins_early;
	old->memory = c->memory;
	decision_put(old);
}

/*
 * Not due.  Worth remembering when the scout, which knows neither reloptions
 * nor pg_class, would think otherwise now or too late.
 */
static void
decide_not_due(const Candidate *c)
{
	ThresholdSettings settings = scout_server_settings(c->lane == LANE_CATALOG);
	Thresholds	scout = threshold_compute(&settings, c->live, 0, 0);
	bool		known = c->decision != NULL;
	bool		vacuumed_since = known &&
		(c->dead < c->decision->dead || c->ins < c->decision->ins);
	bool		looks_due = threshold_vacuum_due(&scout, c->dead) ||
		threshold_insert_due(&scout, c->ins);
	bool		looked_at = c->lane != LANE_CATALOG &&
		scout_is_worth_a_look(&settings, c->live, c->ins);

	/* what has to be waited for is not over because it is not due just now */
	if (known && must_still_wait(c->decision, c))
		return;
	if (known && c->decision->failures > 0 && !vacuumed_since)
	{
		remember_thresholds(c->decision, c);
		return;
	}

	if (looks_due || looked_at || c->opts != NULL || c->own != NULL || !c->enabled || known ||
		c->thresholds.vacuum < 0.8 * scout.vacuum ||
		(c->thresholds.insert >= 0 && c->thresholds.insert < 0.8 * scout.insert) ||
		(c->ins_early >= 0 && c->ins > 0))
	{
		Decision	d = new_decision(c, DECISION_BELOW_THRESHOLD);

		d.mentioned = looks_due || looked_at;
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
must_wait(const Candidate *c)
{
	DecisionMoment moment;
	Decision	d;

	if (c->decision == NULL)
		return false;
	d = *c->decision;
	if (d.kind == DECISION_DISABLED || d.kind == DECISION_OUT_OF_SCOPE)
		return false;
	moment.now = clock_now();
	/* its counters say nothing */
	if (c->due == DUE_UNKNOWN)
		return moment.now < d.not_before &&
			!(d.kind == DECISION_OBSERVED && sweep_mode == SWEEP_ACT);
	/* it was when the table was weighed */
	moment.checkpoint_ms = c->due == DUE_CHECKPOINT ? 0 : PG_INT64_MAX;
	/* it is due by what its thresholds are now */
	d.dead_threshold = c->thresholds.vacuum;
	d.ins_threshold = c->thresholds.insert;
	d.ins_early = c->ins_early;
	return !decision_is_over(&d, c->dead, c->ins, &moment, horizon_now,
							 unconstify(Candidate *, c));
}

static bool
inserts_only(const Candidate *c)
{
	return c->due == DUE_INSERTED || c->due == DUE_CHECKPOINT || c->due == DUE_INSERTS_ENDED;
}

/*
 * Rows inserted when its indexes were cleaned last.  One that was not vacuumed
 * from here yet: at the last vacuum of anybody.
 */
static int64
cleaned_at(const Candidate *c)
{
	return c->memory.vacuumed ? c->memory.cleaned_at : c->inserted - c->ins;
}

/*
 * How it is vacuumed.  New rows only: the file is not cut, which would lock
 * out those who extend it; indexes that are read whole at every cleanup are
 * left out, if one of them needs it only until core would have come by.
 */
static void
plan(const Candidate *c, Verdict *v)
{
	const TableMemory *m = &c->memory;

	if (c->lane == LANE_CATALOG)
		return;
	v->eager = table_switch(c->own, TABLE_EAGER_FREEZE, sweep_eager_freeze) &&
		freeze_eagerly(m->eager, c->inserted - (m->vacuumed ? m->inserted : 0),
					   c->changed - (m->vacuumed ? m->changed : 0));
	v->options.keep_size = inserts_only(c);
	v->options.keep_indexes = inserts_only(c) && m->whole_cleanup &&
		(!m->needs_cleanup || (double) (c->inserted - cleaned_at(c)) <= c->core_insert);
}

Verdict
decide_about(const Candidate *c)
{
	Verdict		v = {0};

	v.due = c->due != DUE_NOT;
	if (!candidate_is_in_scope(c))
		v.kind = DECISION_OUT_OF_SCOPE;
	else if (!v.due && c->uncounted)
	{
		v.kind = DECISION_LOCKED;
		v.waiting = c->decision && clock_now() < c->decision->not_before;
	}
	else if (!v.due)
		v.kind = DECISION_BELOW_THRESHOLD;
	else if (!c->enabled)
		v.kind = DECISION_DISABLED;
	else if (c->temporary)
		v.kind = DECISION_TEMPORARY;
	else if (must_wait(c))
	{
		v.kind = c->decision->kind;
		v.waiting = true;
	}
	else if (c->wraparound_near)
		v.kind = DECISION_LEFT_TO_CORE;
	else if (sweep_mode != SWEEP_ACT)
		v.kind = DECISION_OBSERVED;
	else if (c->due == DUE_INSERTED && c->waits_for_checkpoint)
		v.kind = DECISION_CHECKPOINT_AHEAD;
	else if (hold_is_on())
		v.kind = DECISION_HELD;
	else
		plan(c, &v);
	return v;
}

bool
decide(const Candidate *c, Verdict *verdict)
{
	*verdict = decide_about(c);
	if (verdict->waiting)
		return false;			/* remembered as it is */
	switch (verdict->kind)
	{
		case DECISION_NONE:
			return true;
		case DECISION_BELOW_THRESHOLD:
			decide_not_due(c);
			break;
		case DECISION_OBSERVED:
			decide_observed(c);
			break;
		case DECISION_CHECKPOINT_AHEAD:
			decide_before_checkpoint(c);
			break;
		case DECISION_LOCKED:
			decide_and_wait(c, DECISION_LOCKED, LOCKED_BACKOFF_MS);
			break;
		case DECISION_HELD:
			break;				/* about all tables, and remembered elsewhere */
		default:
			if (verdict->due)
				decide_and_wait(c, verdict->kind, RECHECK_MS);
			break;
	}
	return false;
}

/*
 * A user asked for it: nothing is asked of the table, and all of it is
 * vacuumed.
 */
Verdict
decide_requested(const Candidate *c, const char *role)
{
	Verdict		v = {0};
	StatementOptions whole = {0};

	v.due = true;
	v.requested_by = role;
	plan(c, &v);
	v.options = whole;
	return v;
}

/* New rows that somebody's snapshot may not see yet: the map tells. */
static bool
was_in_vain(const Candidate *before, const Candidate *after)
{
	return inserts_only(before) && before->memory.counted_vacuums >= 0 &&
		after->memory.counted_vacuums == after->vacuums &&
		insert_was_in_vain((double) before->ins / before->rows_per_page,
						   (double) (after->memory.visible_pages - before->memory.visible_pages));
}

/* What the next vacuum of the table has to know of this one. */
static void
remember_vacuum(TableMemory *m, const Candidate *before, const Verdict *verdict,
				const RunRecord *run)
{
	double		new_pages = (double) before->ins / before->rows_per_page;
	bool		worth = insert_was_worth((double) run_cost(&run->used, &run->costs), new_pages,
										 run->costs.page_miss, run->costs.page_dirty);

	m->cleaned_at = verdict->options.keep_indexes ? cleaned_at(before) : before->inserted;
	m->vacuumed = true;
	m->inserted = before->inserted;
	m->changed = before->changed;
	m->eager = verdict->eager;
	if (inserts_only(before))
	{
		/* the clock may have been set back */
		m->took_ms = (int) Min(Max((run->ended_at - run->started_at) / 1000, 0), TOOK_LIMIT_MS);
		m->costly = worth ? 0 : Min(m->costly + 1, INSERT_COSTLY_LIMIT);
	}
}

/*
 * What a vacuum came to.  Rows that it could not remove yet will not be
 * removable before everything that ran when it began is gone.
 */
void
decide_after(const Candidate *c, const Candidate *before, const Verdict *verdict,
			 const RunRecord *run, FullTransactionId next_xid)
{
	Candidate	after = *c;
	Decision	d;
	int64		base_ms;
	int64		max_ms;
	DecisionKind kind;

	if (run->outcome == RUN_DONE)
	{
		bool		held_back = run->dead_not_removable > 0 || was_in_vain(before, c);

		kind = run->command == RUN_ANALYZE ? DECISION_ANALYZED : DECISION_VACUUMED;
		if (run->command == RUN_VACUUM)
		{
			remember_vacuum(&after.memory, before, verdict, run);
			weigh_again(&after);
		}
		d = new_decision(&after, held_back ? DECISION_HELD_BACK : kind);
		d.not_before = clock_after(d.last_at, 1000 * candidate_min_interval_s(c));
		if (held_back)
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
	if (c->decision && c->decision->kind == kind)
		d.failures = Min(c->decision->failures + 1, 100);
	d.not_before = clock_after(d.last_at, backoff_ms(base_ms, max_ms, d.failures));
	decision_put(&d);
}
