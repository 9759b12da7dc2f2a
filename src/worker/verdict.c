/*
 * verdict.c
 *		What is to be done about one table now, and why.
 *
 * It changes nothing.  Workers ask it before they act, and views ask it in
 * order to explain.  The order of the questions is the order of the answers
 * that a user sees.
 */
#include "worker/verdict.h"

#include "storage/bufmgr.h"

#include "policy/freeze.h"
#include "policy/insert.h"
#include "server/clock.h"
#include "server/horizon.h"
#include "server/standbys.h"
#include "settings.h"
#include "shmem.h"
#include "state/decision_expiry.h"
#include "state/hold.h"
#include "state/trial.h"

/* VACUUM leaves dead entries of so few pages, as a share (BYPASS_THRESHOLD_PAGES) */
#define BYPASS_SHARE	0.02

#define NEAR_LIMIT	0.85		/* of the age at which autovacuum freezes */

static FullTransactionId
horizon_now(bool catalog, void *arg)
{
	return horizon_of_database(((const Candidate *) arg)->key.dboid, catalog);
}

/* Would autovacuum have to freeze the table soon? */
static bool
is_near_limit(const Candidate *c)
{
	return c->row.xid_age > NEAR_LIMIT * c->rules.xid_limit || c->row.mxid_age > NEAR_LIMIT * c->rules.mxid_limit;
}

/*
 * Could a vacuum not remove half of the dead rows?  Those that somebody may
 * still see cost index scans as much as the others.
 */
static bool
most_is_needed(const Candidate *c, const Decision *decision, int64 dead)
{
	Decision	d = *decision;

	d.dead_threshold = dead / 2.0;
	return dead > 0 && FullTransactionIdIsValid(d.horizon) &&
		!decision_horizon_allows(&d, dead, false, horizon_now(d.catalog_horizon, unconstify(Candidate *, c)));
}

/* Does what was decided earlier still hold? */
static bool
must_wait(const Candidate *c)
{
	DecisionMoment moment;
	Decision	d;
	int64		dead = c->counters.dead;
	int64		ins = c->counters.ins;

	if (c->decision == NULL)
		return false;
	d = *c->decision;
	if (!c->trial.on)
		trial_take_off(&d.trial, c->counters.vacuums, c->counters.changed, &dead, &ins);
	if (d.kind == DECISION_DISABLED || d.kind == DECISION_OUT_OF_SCOPE)
		return false;
	moment.now = clock_now();
	moment.vacuumed_at = c->counters.vacuumed_at;
	moment.vacuums = c->counters.vacuums;
	moment.fit_pages = pg_atomic_read_u32(&sweep_shared->fit_pages);

	/*
	 * Near the limit the minimum interval is no reason to wait.  A vacuum
	 * that did not make the table younger has put its age off (stayed_old).
	 */
	if (c->weight.age_due && d.kind == DECISION_VACUUMED && is_near_limit(c))
		return false;
	/* what ended at the indexes is not in the way of freezing without them */
	if (c->weight.age_due && table_memory_leaves_indexes(&c->memory) &&
		(d.kind == DECISION_FAILED || d.kind == DECISION_CANCELLED))
		return false;
	if (c->weight.due == DUE_LOST_READS && most_is_needed(c, &d, dead))
		return true;
	/* no threshold counts, so only the time does */
	if (c->weight.due == DUE_UNKNOWN || c->weight.due == DUE_AGE || c->weight.due == DUE_LOST_READS)
		return moment.now < d.not_before &&
			!(d.kind == DECISION_OBSERVED && sweep_mode == SWEEP_ACT);
	/* rows that cannot be removed yet do not keep others from being frozen */
	if (c->weight.age_due && moment.now >= d.not_before)
		return false;
	/* whether a checkpoint is near was settled when the table was weighed */
	moment.checkpoint_ms = c->weight.due == DUE_CHECKPOINT ? 0 : PG_INT64_MAX;
	/* the table is due by what its thresholds are now */
	d.dead_threshold = c->weight.thresholds.vacuum;
	d.ins_threshold = c->weight.thresholds.insert;
	d.ins_early = c->weight.ins_early;
	return !decision_is_over(&d, dead, ins, &moment, horizon_now,
							 unconstify(Candidate *, c));
}

/*
 * Does it give way to users who wait?  The vacuums that come again and again
 * while a table grows do not, even if they have to log pages in full after a
 * checkpoint: users have just logged as much.  If such a vacuum gave way to
 * them, it would fall behind and read.
 */
static PacerYields
yields(const Candidate *c)
{
	if (!candidate_is_due_by_inserts(c))
		return PACER_YIELDS;
	return clock_now() < c->memory.follows_until ? PACER_YIELDS_READING : PACER_YIELDS_COLD;
}

/* As fast as a growing table needs it, where users leave room.  Bytes/s. */
static double
pace(const Candidate *c)
{
	TimestampTz since = c->counters.vacuumed_at;

	if (!candidate_is_due_by_inserts(c))
		return 0;
	/* how fast it has grown is known since its last vacuum */
	if (since == 0)
		return PACE_OF_USERS;
	return insert_pace((double) c->counters.ins / c->weight.rows_per_page, (double) c->memory.old_read,
					   (double) (clock_now() - since) / USECS_PER_SEC, BLCKSZ);
}

/*
 * May the file be cut at its end?  That takes an AccessExclusiveLock, which
 * standbys replay: it ends their queries of the table, or keeps them waiting.
 * If the table is due by new rows only, it would lock out those who extend it.
 * vacuum_truncate is obeyed in any case: VACUUM does that.
 */
static bool
keeps_size(const Candidate *c)
{
	return standbys_can_conflict() || candidate_is_due_by_inserts(c);
}

/*
 * Have so many rows changed since dead entries were removed from its indexes
 * that VACUUM would do that?  The count of dead rows does not tell: a vacuum
 * that leaves them sets it to nothing.
 */
static bool
has_dead_entries(const Candidate *c)
{
	return (double) (c->counters.changed - c->memory.entries_removed_at) > BYPASS_SHARE * Max(c->row.reltuples, 0);
}

/*
 * How is the table vacuumed?  For new rows, indexes that are read whole at
 * every cleanup are left out.  If some index needs a cleanup, that is so only
 * until core would have come by, and so it is with pending lists and with dead
 * entries.
 */
static void
plan(const Candidate *c, Verdict *v)
{
	const TableMemory *m = &c->memory;
	bool		is_to_clean = (double) (c->counters.inserted - candidate_cleaned_at(c)) > c->weight.core_insert;

	v->catch_up = c->weight.age_due;
	v->min_age = c->weight.age_due ? (int) freeze_ahead_min_age(c->rules.xid_limit) : 0;
	v->options.keep_size = keeps_size(c);
	v->options.keep_indexes = c->weight.age_due && table_memory_leaves_indexes(m);
	if (c->row.lane == LANE_CATALOG)
	{
		v->yields = c->weight.due == DUE_AGE ? PACER_YIELDS : PACER_YIELDS_NOT;
		return;
	}
	v->yields = yields(c);
	v->eager = !standbys_can_conflict() &&
		table_switch(c->rules.own, TABLE_EAGER_FREEZE, sweep_eager_freeze) &&
		(freeze_eagerly(m->eager, c->counters.inserted - (m->vacuumed ? m->inserted : 0),
						c->counters.changed - (m->vacuumed ? m->changed : 0)) ||
		 (c->weight.age_due && c->weight.quiet));
	v->catch_up |= v->eager && clock_now() >= m->catch_up_after &&
		freeze_catches_up(m->unfrozen_pages, m->cold_pages, NBuffers);
	v->pace = pace(c);

	/*
	 * VACUUM leaves indexes out while few pages have dead items, and reads
	 * these pages again each time.  Once it has read as many as the indexes
	 * have, the indexes are vacuumed.  So they are where scans of them are
	 * why the table is due.  What the table's owner has set holds.
	 */
	if (c->rules.index_cleanup)
		return;
	v->options.all_indexes = !v->options.keep_indexes &&
		(c->weight.due == DUE_LOST_READS ||
		 (candidate_is_due_by_inserts(c) && m->counted_vacuums >= 0 &&
		  m->read_again > 0 && m->read_again >= m->index_pages));
	v->options.keep_indexes |= !v->options.all_indexes && candidate_is_due_by_inserts(c) && m->whole_cleanup &&
		(!is_to_clean || !(m->needs_cleanup || has_dead_entries(c)));
	v->pending_lists = v->options.keep_indexes && m->pending_lists && is_to_clean;
}

Verdict
verdict_about(const Candidate *c)
{
	Verdict		v = {0};

	v.due = c->weight.due != DUE_NOT;
	if (!candidate_is_in_scope(c))
		v.kind = DECISION_OUT_OF_SCOPE;
	else if (!v.due && c->weight.uncounted)
	{
		v.kind = DECISION_LOCKED;
		v.waiting = c->decision && clock_now() < c->decision->not_before;
	}
	else if (!v.due && c->trial.on)
	{
		/* it is due in fact, but would have been vacuumed */
		v.kind = DECISION_OBSERVED;
	}
	else if (!v.due)
		v.kind = DECISION_BELOW_THRESHOLD;
	else if (!c->rules.enabled)
		v.kind = DECISION_DISABLED;
	else if (c->row.temporary)
		v.kind = DECISION_TEMPORARY;
	else if (candidate_is_copy(c) && !c->weight.age_due)
		v.kind = DECISION_COPY;
	else if (must_wait(c))
	{
		v.kind = c->decision->kind;
		v.waiting = true;
	}
	else if (sweep_mode != SWEEP_ACT && !c->tried)
		v.kind = DECISION_OBSERVED;
	else if (!standbys_let_begin(c->key.dboid))
		v.kind = DECISION_SPACED_OUT;
	else if (c->weight.due == DUE_INSERTED && c->weight.waits_for_checkpoint)
		v.kind = DECISION_CHECKPOINT_AHEAD;
	else if (hold_is_on())
		v.kind = DECISION_HELD;
	else
	{
		plan(c, &v);
		v.trial = c->tried;
	}
	return v;
}

bool
verdict_is_to_vacuum(const Verdict *verdict)
{
	return verdict->kind == DECISION_NONE && !verdict->waiting;
}

/*
 * A user asked for it, so no rule applies, and all of the table is vacuumed.
 */
Verdict
verdict_requested(const Candidate *c, const char *role)
{
	Verdict		v = {0};
	StatementOptions whole = {0};

	v.due = true;
	v.requested_by = role;
	plan(c, &v);
	v.options = whole;
	v.pending_lists = false;
	return v;
}
