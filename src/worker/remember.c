/*
 * remember.c
 *		Keeps what was said about a table, and what a vacuum of it came to.
 *
 * Runs in a worker.  A decision is put where the scout has to know it.
 * Otherwise the scout would ask again at once, or too late.
 */
#include "worker/remember.h"

#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/timestamp.h"

#include "policy/backoff.h"
#include "policy/insert.h"
#include "policy/min_interval.h"
#include "rules.h"
#include "server/clock.h"
#include "server/horizon.h"
#include "server/next_checkpoint.h"
#include "settings.h"
#include "shmem.h"
#include "state/decision_expiry.h"
#include "worker/insert_rules.h"

/* A table that is vacuumed for new rows so soon again is followed. */
#define FOLLOWS_WITHIN_MS	(10 * 1000)
#define CANCELLED_BACKOFF_MS	(5 * 60 * 1000)
#define CANCELLED_BACKOFF_MAX_MS	(24 * 60 * 60 * 1000)
#define ANALYZE_DISTANCE		100 /* times what it took: it holds the
									 * horizon */
/*
 * Before 16 each VACUUM ends with a scan of pg_class, which takes longer than
 * all else where there are many relations.  It may take a five hundredth of a
 * processor for each table.  What a VACUUM needs in any case is not counted.
 */
#define BESIDE_DISTANCE			500
#define BESIDE_FREE_MS			5
#define ANALYZE_FAILED_BACKOFF_MS	(10 * 60 * 1000)
#define UNCOUNTED_BACKOFF_MS	(60 * 1000)
#define FAILED_BACKOFF_MS		(60 * 1000)
#define FAILED_BACKOFF_MAX_MS	(60 * 60 * 1000)
#define INDEX_BACKOFF_MAX_MS	(24 * 60 * 60 * 1000)	/* each reads the whole
														 * table */
#define TOOK_LIMIT_MS			(10 * 1000)
#define CATCH_UP_BACKOFF_MS		(10 * 60 * 1000)
#define TRUNCATE_AGAIN_MS		(60 * 60 * 1000)
#define RELOAD_US				50	/* of a session, about */
#define STAYED_OLD_DISTANCE		100 /* times what it took */

static Decision
new_decision(const Candidate *c, DecisionKind kind)
{
	Decision	d;

	memset(&d, 0, sizeof(d));
	d.key = c->key;
	d.kind = kind;
	d.mentioned = true;
	d.last_at = clock_now();
	d.catalog_horizon = c->row.catalog_horizon;
	d.dead_threshold = c->weight.thresholds.vacuum;
	d.ins_threshold = c->weight.thresholds.insert;
	d.ins_early = c->weight.ins_early;
	d.ins_follow = c->weight.ins_follow;
	d.rows_per_page = c->weight.rows_per_page;
	d.own_checkpoint_aware = c->rules.own && c->rules.own->is_set[TABLE_CHECKPOINT_AWARE];
	d.checkpoint_aware = c->weight.checkpoint_aware;
	d.memory = c->memory;
	d.trial = c->trial;
	d.carried = c->carried;
	d.dead = c->counters.dead + c->trial.dead;
	d.ins = c->counters.ins + c->trial.ins;
	strlcpy(d.schemaname, c->row.schemaname, NAMEDATALEN);
	strlcpy(d.relname, c->row.relname, NAMEDATALEN);
	return d;
}

void
remember_wait(const Candidate *c, DecisionKind kind, int64 wait_ms)
{
	Decision	d = new_decision(c, kind);

	d.not_before = clock_after(d.last_at, wait_ms);
	decision_put(&d);
}

/*
 * Since when would the table have been vacuumed?  The time begins anew when
 * others have vacuumed it.
 */
static TimestampTz
would_vacuum_since(const Candidate *c)
{
	TimestampTz earlier = c->decision ? c->decision->would_vacuum_at : 0;

	return earlier != 0 && c->counters.vacuumed_at <= earlier ? earlier : clock_now();
}

static void
remember_checkpoint(const Candidate *c)
{
	Decision	d = new_decision(c, DECISION_CHECKPOINT_AHEAD);
	int64		wait_ms = next_checkpoint_ms(d.last_at) - decision_lead_ms(&c->memory);

	/* this is the checkpoint's own time, which no test's clock rate divides */
	d.not_before = TimestampTzPlusMilliseconds(d.last_at, Max(wait_ms, 0));
	decision_put(&d);
}

/*
 * Must the table wait, whatever its counters say?  The scout decides the same
 * way.
 */
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
 * The failures stay, because the back-off counts on from them should the
 * table become due again.  But the scout must go by the present thresholds,
 * or it would ask every time.
 */
static void
remember_thresholds(Decision *old, const Candidate *c)
{
	if (old->dead_threshold == c->weight.thresholds.vacuum &&
		old->ins_threshold == c->weight.thresholds.insert && old->ins_early == c->weight.ins_early &&
		old->memory.counted_vacuums == c->memory.counted_vacuums)
		return;
	old->dead_threshold = c->weight.thresholds.vacuum;
	old->ins_threshold = c->weight.thresholds.insert;
	old->ins_early = c->weight.ins_early;
	old->memory = c->memory;
	old->carried = c->carried;
	decision_put(old);
}

/*
 * Would the scout, who goes by those other settings, come too late, now or
 * when the table has grown?
 */
static bool
is_earlier_than(const Candidate *c, const ThresholdSettings *settings, const Thresholds *scout)
{
	const Thresholds *t = &c->weight.thresholds;

	return t->vacuum < 0.8 * scout->vacuum || c->rules.settings.vacuum_scale < settings->vacuum_scale ||
		(t->insert >= 0 && (scout->insert < 0 || t->insert < 0.8 * scout->insert));
}

/*
 * The table is not due.  The scout knows neither reloptions nor pg_class.  So
 * that is worth remembering when the scout would think otherwise now, or
 * would come too late.
 */
static void
remember_not_due(const Candidate *c)
{
	ThresholdSettings settings = rules_thresholds(c->row.lane == LANE_CATALOG);
	Thresholds	scout = threshold_compute(&settings, c->counters.live, 0, 0);
	bool		known = c->decision != NULL;

	/*
	 * fewer dead rows say nothing: pruning and ANALYZE lower their number,
	 * too
	 */
	bool		vacuumed_since = known &&
		(c->counters.vacuumed_at > c->decision->last_at || c->counters.ins < c->decision->ins);
	bool		looks_due = threshold_vacuum_due(&scout, c->counters.dead) ||
		threshold_insert_due(&scout, c->counters.ins);
	bool		looked_at = c->row.lane != LANE_CATALOG &&
		rules_worth_a_look(&settings, c->counters.live, c->counters.ins);

	/* a wait is not over just because the table is not due at the moment */
	if (known && must_still_wait(c->decision, c))
	{
		remember_thresholds(c->decision, c);
		return;
	}
	if (known && c->decision->failures > 0 && !vacuumed_since)
	{
		remember_thresholds(c->decision, c);
		return;
	}

	if (looks_due || looked_at || known ||
		(c->rules.enabled && is_earlier_than(c, &settings, &scout)) ||
		(c->rules.enabled && c->weight.ins_early >= 0 && c->counters.ins > 0))
	{
		Decision	d = new_decision(c, DECISION_BELOW_THRESHOLD);

		d.looks_due = looks_due || looked_at;
		d.mentioned = d.looks_due;
		decision_put(&d);
	}
}

void
remember_verdict(const Candidate *c, const Verdict *verdict)
{
	if (verdict->waiting)
		return;					/* it is remembered already */
	switch (verdict->kind)
	{
		case DECISION_NONE:
			break;				/* what its vacuum comes to is remembered */
		case DECISION_OBSERVED:
			/* the scout goes by the thresholds of then, and would ask again */
			if (c->trial.on)
				remember_thresholds(c->decision, c);
			break;
		case DECISION_BELOW_THRESHOLD:
			remember_not_due(c);
			break;
		case DECISION_CHECKPOINT_AHEAD:
			remember_checkpoint(c);
			break;
		case DECISION_LOCKED:
			remember_wait(c, DECISION_LOCKED, LOCKED_BACKOFF_MS);
			break;
		case DECISION_HELD:
		case DECISION_SPACED_OUT:
			break;				/* these are about all tables, and are
								 * remembered elsewhere */
		default:
			if (verdict->due)
				remember_wait(c, verdict->kind, RECHECK_MS);
			break;
	}
}

/*
 * Was the vacuum in vain, because somebody's snapshot may not see the new
 * rows yet?  The visibility map tells.
 */
static bool
was_in_vain(const Candidate *before, const Candidate *after)
{
	return candidate_is_due_by_inserts(before) && before->memory.counted_vacuums >= 0 &&
		after->memory.counted_vacuums == after->counters.vacuums &&
		insert_was_in_vain((double) before->counters.ins / before->weight.rows_per_page,
						   (double) (after->memory.visible_pages - before->memory.visible_pages),
						   (double) (after->memory.pages - after->memory.visible_pages));
}

/*
 * Was it in time, and what did it read that is not new?  Dead items whose
 * indexes are left out make it read their pages each time.
 */
static void
remember_reads(TableMemory *m, const Verdict *verdict, const RunRecord *run)
{
	double		read = (double) run->used.blks_read;
	double		late = insert_late_pages(read, (double) run->used.blks_dirtied,
										 read + (double) run->used.blks_hit);
	bool		indexes = verdict->options.all_indexes || run->index_pass > 0;

	/* with the indexes' own pages in it, what was known before is better */
	if (!indexes)
		m->old_read = Max(run->used.blks_read - run->used.blks_dirtied, 0);
	m->read_again = indexes ? 0 : m->read_again + m->old_read;
	m->late_pages += (int64) late;
	if (late == 0)
		m->late_since = 0;
	else if (m->late_since == 0)
		m->late_since = run->started_at;
}

/* Notes what the next vacuum of the table has to know of this one. */
static void
remember_vacuum(TableMemory *m, const Candidate *before, const Verdict *verdict,
				const RunRecord *run)
{
	double		new_pages = (double) before->counters.ins / before->weight.rows_per_page;
	InsertCost	cost = {
		.new_pages = new_pages,
		.hit = (double) run->used.blks_hit,
		.read = (double) run->used.blks_read,
		.dirtied = (double) run->used.blks_dirtied,
		.page_hit = run->costs.page_hit,
		.page_miss = run->costs.page_miss,
		.page_dirty = run->costs.page_dirty,
	};

	if (!verdict->options.keep_indexes)
		m->entries_removed_at = before->counters.changed;
	if (!verdict->options.keep_indexes || verdict->pending_lists)
		m->cleaned_at = before->counters.inserted;
	else
		m->cleaned_at = candidate_cleaned_at(before);
	if (verdict->waits_to_truncate)
		m->truncate_after = clock_after(clock_now(), TRUNCATE_AGAIN_MS);
	m->vacuumed = true;
	m->vacuumed_xid = U64FromFullTransactionId(ReadNextFullTransactionId());
	m->inserted = before->counters.inserted;
	m->changed = before->counters.changed;
	m->eager = verdict->eager;
	m->frozen = verdict->eager && (verdict->catch_up || m->frozen);
	if (candidate_is_due_by_inserts(before))
	{
		remember_reads(m, verdict, run);
		/* the clock may have been set back */
		m->took_ms = (int) Min(Max((run->ended_at - run->started_at) / 1000, 0), TOOK_LIMIT_MS);
		m->follows_until = clock_after(clock_now(), m->took_ms + FOLLOWS_WITHIN_MS);
		m->costly = insert_was_worth(&cost) ? 0 : Min(m->costly + 1, INSERT_COSTLY_LIMIT);
	}
}

/*
 * What a vacuum would have made of the visibility map.  All rows that had died
 * are taken for removable.  Whether they are is seen from the horizon when the
 * next vacuum would be due.
 */
static void
note_map(Candidate *after, const Verdict *verdict, int64 pages)
{
	TableMemory *m = &after->memory;

	m->pages = m->visible_pages = pages;
	if (verdict->eager)
		m->frozen_pages = pages;
	m->frozen_pages = Min(Max(m->frozen_pages, after->trial.frozen_pages), pages);
	m->unfrozen_pages = pages - m->frozen_pages;
	m->cold_pages = 0;
	m->counted_vacuums = after->counters.vacuums;
	m->counted_changes = after->counters.inserted + after->counters.changed;
}

/*
 * How long is the table left alone after a vacuum that took so long?  Not as
 * long as sweep.min_interval if that was short.  Each session of the database
 * that uses the table loads its description again, which counts as well.  New
 * rows have rules of their own.
 */
static int64
interval_after(const Candidate *c, const Candidate *before, int64 took_us)
{
	pg_atomic_uint64 *shared = &sweep_shared->short_vacuums_until;
	int64		ms = 1000 * candidate_min_interval_s(c);
	uint64		taken = pg_atomic_read_u64(shared);
	int64		until;
	int64		wait_us;

	if (sweep_min_interval_s >= 0 || c->row.lane == LANE_CATALOG ||
		(before->weight.due != DUE_DEAD && before->weight.due != DUE_AGE) ||
		(c->rules.own && c->rules.own->is_set[TABLE_MIN_INTERVAL]))
		return ms;
	took_us += RELOAD_US * CountDBBackends(MyDatabaseId);
	do
	{
		until = (int64) taken;
		wait_us = min_interval_short_us(&until, clock_now(), took_us, 1000 * ms);
	} while (!pg_atomic_compare_exchange_u64(shared, &taken, (uint64) until));
	return wait_us / 1000;
}

void
remember_noted(const Candidate *c, const Verdict *verdict, const RunRecord *estimate,
			   const VacuumMoment *moment)
{
	Candidate	after = *c;
	Decision	d;

	remember_vacuum(&after.memory, c, verdict, estimate);
	/* no page is known to have been read */
	after.memory.late_since = c->memory.late_since;
	after.memory.late_pages = c->memory.late_pages;
	note_map(&after, verdict, estimate->pages);
	after.trial.on = true;
	after.trial.aged = c->trial.aged || verdict->catch_up;
	after.trial.vacuums = c->counters.vacuums;
	after.trial.changed = c->counters.changed;
	after.trial.dead = c->trial.dead + c->counters.dead;
	after.trial.ins = c->trial.ins + c->counters.ins;
	after.trial.rows = c->counters.live;
	after.trial.pages = estimate->pages;
	after.trial.frozen_pages = after.memory.frozen_pages;
	after.row.pages = Max(c->row.pages, after.trial.pages);
	after.row.reltuples = Max(c->row.reltuples, (double) after.trial.rows);
	after.counters.dead = after.counters.ins = 0;
	/* a table that was never vacuumed had no pages to divide its rows by */
	after.weight.rows_per_page = insert_rows_per_page(insert_rules_rows(&after), after.row.pages,
													  after.counters.live, after.memory.pages);
	after.weight.thresholds = threshold_compute(&c->rules.settings, after.row.reltuples, after.row.pages,
												after.row.frozen_pages);
	after.weight.core_insert = after.weight.thresholds.insert;
	insert_rules_take_again(&after);

	d = new_decision(&after, DECISION_OBSERVED);
	d.would_vacuum_at = would_vacuum_since(c);
	d.not_before = clock_after(d.last_at, interval_after(c, c, min_interval_estimate_us((double) (estimate->used.blks_hit + estimate->used.blks_read))));
	d.horizon = moment->next_xid;
	d.horizon_then = moment->horizon;
	d.follow_at = clock_after(d.last_at, INSERT_FOLLOW_MS);
	decision_put(&d);
}

/*
 * Has the vacuum told the statistics nothing?  Then the table stays due, and
 * its next vacuum would come to nothing either: its access method does
 * nothing, or track_counts is off in that database.
 */
static bool
was_not_counted(const Candidate *before, const Candidate *after, const RunRecord *run)
{
	return run->command == RUN_VACUUM && after->counters.vacuums == before->counters.vacuums;
}

/* Was the table to be frozen, and is as old as before? */
static bool
stayed_old(const Candidate *before, const Candidate *after, const RunRecord *run)
{
	return run->command == RUN_VACUUM && before->weight.age_due &&
		before->row.frozenxid == after->row.frozenxid && before->row.minmxid == after->row.minmxid;
}

/*
 * Decides what follows from a vacuum.  Some of the rows that it could not
 * remove yet become removable whenever the horizon moves.  All of them are
 * removable once everything that ran when it began is gone.
 */
void
remember_run(const Candidate *c, const Candidate *before, const Verdict *verdict,
			 const RunRecord *run, const VacuumMoment *moment)
{
	Candidate	after = *c;
	Decision	d;
	int64		base_ms;
	int64		max_ms;
	DecisionKind kind;

	if (run->outcome == RUN_DONE)
	{
		bool		held_back = run->dead_not_removable > 0 || was_in_vain(before, c);
		TimestampTz rest;

		kind = run->command == RUN_ANALYZE ? DECISION_ANALYZED : DECISION_VACUUMED;
		if (run->command == RUN_VACUUM)
		{
			remember_vacuum(&after.memory, before, verdict, run);
			after.memory.lost = 0;
			if (!verdict->options.keep_indexes)
				after.memory.lost_in_indexes = 0;
			pg_atomic_fetch_add_u64(&sweep_shared->late_pages,
									Max(after.memory.late_pages - c->memory.late_pages, 0));
			insert_rules_take_again(&after);
		}
		d = new_decision(&after, held_back ? DECISION_HELD_BACK : kind);
		d.not_before = clock_after(d.last_at, run->command == RUN_ANALYZE ? 1000 * candidate_min_interval_s(c) :
								   interval_after(c, before, run->ended_at - run->started_at + (int64) (1000 * moment->beside_ms)));
		rest = clock_after(d.last_at, (int64) (BESIDE_DISTANCE * Max(moment->beside_ms - BESIDE_FREE_MS, 0)));
		d.not_before = Max(d.not_before, rest);
		if (run->command == RUN_ANALYZE)
			d.not_before = Max(d.not_before, clock_after(d.last_at, ANALYZE_DISTANCE * ((run->ended_at - run->started_at) / 1000)));
		if (held_back)
		{
			d.horizon = moment->next_xid;
			d.horizon_then = moment->horizon;
			d.not_removable = Max(run->dead_not_removable, 0);
		}

		/*
		 * A row that could not be removed is no reason to leave new ones,
		 * once the horizon has passed them.
		 */
		d.follow_at = Max(clock_after(d.last_at, INSERT_FOLLOW_MS), rest);
		if (stayed_old(before, c, run))
			d.memory.catch_up_after = Max(clock_after(d.last_at, CATCH_UP_BACKOFF_MS),
										  clock_after(d.last_at, STAYED_OLD_DISTANCE * ((run->ended_at - run->started_at) / 1000)));
		if (was_not_counted(before, c, run))
		{
			d.ins_follow = -1;
			d.failures = 1;
			if (c->decision && c->decision->kind == d.kind)
				d.failures = Min(c->decision->failures + 1, 100);
			d.not_before = clock_after(d.last_at, backoff_ms(Max(1000 * candidate_min_interval_s(c), UNCOUNTED_BACKOFF_MS),
															 FAILED_BACKOFF_MAX_MS, d.failures));
		}
		decision_put(&d);
		return;
	}

	/* an error there comes again, and time may run out there again */
	after.memory.lost_in_indexes = !verdict->in_indexes ? 0 :
		Min(after.memory.lost_in_indexes + (run->outcome == RUN_FAILED ? LOST_VACUUMS : 1), LOST_VACUUMS);
	if (run->outcome == RUN_CANCELLED && verdict->gave_way)
		after.memory.lost = Min(after.memory.lost + 1, LOST_VACUUMS);
	if (run->outcome == RUN_SKIPPED)
	{
		kind = DECISION_LOCKED;
		base_ms = LOCKED_BACKOFF_MS;
		/* new pages do not wait, and to ask again costs next to nothing */
		max_ms = c->weight.ins_follow >= 0 && (double) c->counters.ins > c->weight.ins_follow ?
			LOCKED_BACKOFF_MS : LOCKED_BACKOFF_MAX_MS;
	}
	else if (run->outcome == RUN_CANCELLED && verdict->gave_up)
	{
		/*
		 * it may come again at once, but without freezing what met the pinned
		 * page
		 */
		kind = DECISION_LOCKED;
		base_ms = max_ms = LOCKED_BACKOFF_MS;
		after.memory.catch_up_after = clock_after(clock_now(), CATCH_UP_BACKOFF_MS);
	}
	else if (run->outcome == RUN_CANCELLED)
	{
		kind = DECISION_CANCELLED;
		base_ms = verdict->gave_way ?
			backoff_gave_way_ms((run->ended_at - run->started_at) / 1000) : CANCELLED_BACKOFF_MS;
		max_ms = CANCELLED_BACKOFF_MAX_MS;
	}
	else
	{
		kind = DECISION_FAILED;
		base_ms = FAILED_BACKOFF_MS;
		max_ms = verdict->in_indexes ? INDEX_BACKOFF_MAX_MS : FAILED_BACKOFF_MAX_MS;
	}
	/* freezing goes on at once, without the indexes */
	if (before->weight.age_due && table_memory_leaves_indexes(&after.memory))
		base_ms = max_ms = LOCKED_BACKOFF_MS;

	d = new_decision(&after, kind);
	d.failures = 1;
	if (c->decision && c->decision->kind == kind)
		d.failures = Min(c->decision->failures + 1, 100);
	d.not_before = clock_after(d.last_at, backoff_ms(base_ms, max_ms, d.failures));
	decision_put(&d);
}

void
remember_analyze_after(Candidate *c, int64 wait_ms)
{
	Decision	d;

	if (!decision_get(c->key, &d))
	{
		d = new_decision(c, DECISION_BELOW_THRESHOLD);
		d.mentioned = false;
	}
	d.memory.analyze_after = c->memory.analyze_after = clock_after(clock_now(), wait_ms);
	decision_put(&d);
}

void
remember_analyze(Candidate *c, const RunRecord *run)
{
	int64		wait_ms = Max(1000 * candidate_min_interval_s(c), ANALYZE_DISTANCE * ((run->ended_at - run->started_at) / 1000));

	if (run->outcome == RUN_FAILED || run->outcome == RUN_CANCELLED)
		wait_ms = Max(wait_ms, ANALYZE_FAILED_BACKOFF_MS);
	remember_analyze_after(c, wait_ms);
}
