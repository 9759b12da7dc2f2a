/*
 * policy/simulate_table.c
 *		One table while the simulation's clock goes.  Pure.
 */
#include "simulate_table.h"

#include <math.h>
#include <string.h>

#include "freeze.h"
#include "min_interval.h"

/*
 * The server's ANALYZE comes after so many changes, by default, and tells
 * pg_class how large the table is.
 */
#define ANALYZE_SHARE	0.1
#define ANALYZE_LEAST	50

/* A table may have had so few of its rows, as a share of those that it has now. */
#define LEAST_SHARE		0.01

/* What counts now: the rules' thresholds, and what they were made from. */
typedef struct Due
{
	Thresholds	thresholds;
	InsertThresholds inserts;	/* early and follow are negative unless the
								 * own rules hold */
	InsertTable table;
} Due;

static double
clamp(double value, double least, double most)
{
	return value < least ? least : (value > most ? most : value);
}

static double
earlier(double a, double b)
{
	return a < b ? a : b;
}

static double
later(double a, double b)
{
	return a > b ? a : b;
}

/* More than 2^53 rows are no number of rows any more. */
static int64_t
rows(double number)
{
	return (int64_t) clamp(number, 0, 9e15);
}

/*
 * A table that had fewer rows had fewer pages.  One that had more did not: its
 * file does not shrink.
 */
static double
pages_with(const SimulateTable *t, double live)
{
	return t->rows > 0 ? t->pages * clamp(live / t->rows, LEAST_SHARE, 1) : t->pages;
}

static double
rows_per_page(const SimulateTable *t, double live)
{
	double		pages = pages_with(t, live);

	return insert_rows_per_page(live, pages, live, pages);
}

static double
all_dead(const SimulateTable *t)
{
	return t->state.dead + t->state.dead_hot;
}

/* What a vacuum would meet, but for what has changed. */
VacuumWork
simulate_table_work(const SimulateTable *t, double live, double cold)
{
	VacuumWork	w = {.pages = pages_with(t, live),.indexes = t->indexes,.write_s = t->write_s};

	w.index_pages = t->pages > 0 ? t->index_pages * w.pages / t->pages : t->index_pages;
	w.rows_per_page = rows_per_page(t, live);
	w.cold = clamp(cold, 0, 1);
	return w;
}

/* ----
 * Rules
 * ----
 */

/*
 * What the statistics know of so many rows.  Sessions report what they have
 * done only now and then, so a half of that time is missing on average.
 */
static double
reported(double number, double each_s, const SimulateRules *r)
{
	return number - each_s * r->report_s / 2;
}

static double
reported_dead(const SimulateTable *t, const SimulateRules *r)
{
	return reported(all_dead(t), t->state.dead_s + t->state.dead_hot_s, r);
}

static double
reported_inserted(const SimulateTable *t, const SimulateRules *r)
{
	return reported(t->state.inserted, t->state.inserted_s, r);
}

/*
 * Thresholds go by what pg_class says, which is what the last vacuum or
 * ANALYZE has found.
 */
static void
know_sizes(SimulateTable *t)
{
	t->state.known_live = t->state.live;
	t->state.known_pages = pages_with(t, t->state.live);
}

/*
 * New pages of all tables together fit the part of the cache that they may
 * take (see insert_fit_pages()).  Here each table has the part that it has of
 * all new pages, whatever its vacuums cost.
 */
static void
fit_cache(const SimulateTable *t, Due *d)
{
	double		part = t->inserts.cache_fraction * t->inserts.buffers;
	double		fit = later(part * t->state.fit_share, INSERT_EARLY_PAGES) * d->table.rows_per_page;

	if (part <= 0 || t->state.fit_share <= 0 || d->inserts.due < 0)
		return;
	d->inserts.due = earlier(d->inserts.due, fit);
	d->inserts.follow = d->inserts.follow < 0 ? fit : earlier(d->inserts.follow, fit);
}

static Due
due_now(const SimulateTable *t, const SimulateRules *r)
{
	const SimulateState *s = &t->state;
	double		live = s->known_live;
	double		pages = s->known_pages;
	int64_t		known_frozen = r->core_knows_frozen ? rows(s->frozen_pages) : 0;
	Due			d = {.inserts = {-1, -1, -1}};

	d.thresholds = r->act ? threshold_compute(&t->settings, live, rows(pages), known_frozen) :
		threshold_core(&t->settings, live, rows(pages), known_frozen);
	if (!r->act || !t->own_inserts || d.thresholds.insert < 0 || live <= 0 || pages <= 0)
		return d;
	d.table.reltuples = live;
	d.table.pages = pages;
	d.table.frozen_pages = s->frozen_pages;
	d.table.rows_per_page = rows_per_page(t, live);
	d.table.core = d.thresholds.insert;
	d.table.costly = s->costly;
	d.table.old_read = s->left.read;
	d.inserts = insert_thresholds(&t->inserts, &d.table);
	fit_cache(t, &d);
	d.thresholds.insert = d.inserts.due;
	return d;
}

static bool
waits_for_checkpoint(const SimulateTable *t, const Due *d, const SimulateRules *r, const SimulateMoment *m)
{
	double		inserted = reported_inserted(t, r);
	double		interval = d->inserts.follow >= 0 && inserted > d->inserts.follow ?
		r->follow_s : t->interval_s;
	double		left = m->checkpoint_at - m->now;

	/* what is compared are times of one clock, in any unit */
	return t->checkpoint_aware && d->table.core > 0 && left < 1e9 && !m->checkpoint &&
		insert_waits_for_checkpoint(&t->inserts, &d->table, &d->inserts, inserted,
									(int64_t) (1000 * left), (int64_t) (1000 * interval));
}

SimulateDue
simulate_table_due(const SimulateTable *t, const SimulateRules *r, const SimulateMoment *m)
{
	const SimulateState *s = &t->state;
	Due			d = due_now(t, r);
	double		inserted = reported_inserted(t, r);
	bool		by_dead;
	bool		by_inserts;
	bool		early;

	if (!t->enabled)
		return SIMULATE_NOT_DUE;
	by_dead = d.thresholds.vacuum >= 0 && threshold_vacuum_due(&d.thresholds, rows(reported_dead(t, r)));
	by_inserts = threshold_insert_due(&d.thresholds, rows(inserted));
	early = d.inserts.early >= 0 && inserted > d.inserts.early &&
		(m->checkpoint || s->inserted_s <= 0);
	if (!by_dead && !by_inserts && !early)
		return SIMULATE_NOT_DUE;
	if (m->now < s->not_before)
	{
		/* decision_expiry.c says the same of real tables */
		bool		follows = d.inserts.follow >= 0 && m->now >= s->follow_at &&
			(inserted > d.inserts.follow || (early && m->checkpoint));

		if (!follows)
			return SIMULATE_NOT_DUE;
	}
	if (by_dead)
		return SIMULATE_DUE_DEAD;
	if (m->checkpoint)
		return SIMULATE_DUE_CHECKPOINT;
	return by_inserts && waits_for_checkpoint(t, &d, r, m) ? SIMULATE_NOT_DUE : SIMULATE_DUE_INSERTED;
}

/* When will there be one row more than the threshold? */
static double
passes(double have, double each_s, double threshold, double now)
{
	double		missing = floor(threshold) + 1 - have;

	if (threshold < 0)
		return HUGE_VAL;
	if (missing <= 0)
		return now;
	return each_s > 0 ? now + missing / each_s : HUGE_VAL;
}

double
simulate_table_next(const SimulateTable *t, const SimulateRules *r, double now)
{
	const SimulateState *s = &t->state;
	Due			d = due_now(t, r);
	double		inserted = reported_inserted(t, r);
	double		at;
	double		follow;

	if (!t->enabled)
		return HUGE_VAL;
	at = earlier(passes(reported_dead(t, r), s->dead_s + s->dead_hot_s, d.thresholds.vacuum, now),
				 passes(inserted, s->inserted_s, d.thresholds.insert, now));
	if (s->inserted_s <= 0 && d.inserts.early >= 0 && inserted > d.inserts.early)
		at = now;
	if (at < s->not_before)
	{
		follow = later(passes(inserted, s->inserted_s, d.inserts.follow, now), s->follow_at);
		at = later(at, earlier(s->not_before, follow));
	}
	return at;
}

double
simulate_table_score(const SimulateTable *t, const SimulateRules *r)
{
	ScoreInput	in = {.thresholds = due_now(t, r).thresholds,.weights = r->weights};

	in.dead_tuples = rows(reported_dead(t, r));
	in.ins_since_vacuum = rows(reported_inserted(t, r));
	return score_compute(&in).score;
}

/* ----
 * The clock
 * ----
 */

/*
 * How many dead rows were there?  If no vacuum came in the first hour, what
 * has come in it is known.  Otherwise the table was somewhere on the way to
 * its threshold.
 */
static double
dead_at_begin(const SimulateTable *t, double threshold)
{
	const SimulateActivity *first = t->activities > 0 ? &t->activity[0] : NULL;
	double		made;

	if (t->dead_begin >= 0)
		return t->dead_begin;
	if (first == NULL)
		return 0;
	made = simulate_cold_dead(first) + first->hot_updated * t->learned[0].hot_kept;
	if (first->runs <= 0 && first->dead >= 0)
		return later(first->dead - made, 0);
	return threshold > 0 ? earlier(threshold / 2, made) : 0;
}

void
simulate_table_begin(SimulateTable *t, const SimulateRules *r, double now)
{
	SimulateState *s = &t->state;

	memset(s, 0, sizeof(*s));
	memset(&t->sum, 0, sizeof(t->sum));
	s->at = s->vacuumed_at = now;
	/* rows at the begin of the first hour, as far as they are known */
	s->live = t->rows;
	if (t->activities > 0)
		s->live = later(t->activity[0].live - t->activity[0].inserted + t->activity[0].deleted, 0);
	if (t->pages > 0)
		s->frozen_pages = t->frozen_pages * pages_with(t, s->live) / t->pages;
	know_sizes(t);
	s->inserted = later(t->inserted_begin, 0);
	s->dead = dead_at_begin(t, due_now(t, r).thresholds.vacuum);
	s->not_before = s->follow_at = -HUGE_VAL;
}

void
simulate_table_hour(SimulateTable *t, int hour, double seconds, bool second_half)
{
	SimulateState *s = &t->state;
	const SimulateActivity *a;

	s->live_s = s->dead_s = s->dead_hot_s = s->inserted_s = s->changed_s = s->added_s = s->young_s = 0;
	while (s->next_activity < t->activities && t->activity[s->next_activity].hour < hour)
		s->next_activity++;
	if (hour < 0 || s->next_activity >= t->activities || seconds <= 0)
		return;
	a = &t->activity[s->next_activity];
	if (a->hour != hour)
		return;
	s->live_s = (a->live - s->live) / seconds;
	s->dead_s = simulate_cold_dead(a) / seconds;
	s->dead_hot_s = a->hot_updated * t->learned[second_half].hot_kept / seconds;
	s->inserted_s = a->inserted / seconds;
	s->changed_s = simulate_changed(t, a) / seconds;
	s->young_s = simulate_young(t, a) / seconds;
	s->added_s = simulate_added(a) / seconds;
}

double
simulate_table_new_pages_s(const SimulateTable *t)
{
	return t->own_inserts ? t->state.inserted_s / rows_per_page(t, t->state.live) : 0;
}

void
simulate_table_advance(SimulateTable *t, double now)
{
	SimulateState *s = &t->state;
	double		seconds = now - s->at;
	double		before = all_dead(t);

	if (seconds <= 0)
		return;
	s->at = now;
	s->live = later(s->live + s->live_s * seconds, 0);
	if (fabs(s->live - s->known_live) > ANALYZE_LEAST + ANALYZE_SHARE * s->known_live)
		know_sizes(t);
	s->dead += s->dead_s * seconds;
	s->dead_hot += s->dead_hot_s * seconds;
	s->inserted += s->inserted_s * seconds;
	s->changed += s->changed_s * seconds;
	s->added += s->added_s * seconds;
	s->young += s->young_s * seconds;
	s->dead_area += (before + all_dead(t)) / 2 * seconds;
	s->dead_most = later(s->dead_most, all_dead(t));
}

VacuumCost
simulate_table_vacuum_begin(SimulateTable *t, const SimulateRules *r, bool second_half)
{
	SimulateState *s = &t->state;
	VacuumWork	w = simulate_table_work(t, s->live, t->learned[second_half].cost.read);

	w.changed = s->begun_changed = s->changed;
	w.added = s->begun_added = s->added;
	w.young = s->begun_young = s->young;
	s->begun_inserted = s->inserted;
	w.dead = s->dead;
	w.seconds = s->at - s->vacuumed_at;
	if (r->write_s > 0)
		w.write_s = r->write_s;
	return vacuum_cost_correct(vacuum_cost_after(&w, &s->left, r->act && t->own_inserts && s->due != SIMULATE_DUE_DEAD,
												 t->learned[second_half].cost.read),
							   &t->learned[second_half].cost);
}

/*
 * The end of a vacuum sets the counters of dead and of inserted rows to
 * nothing.  With its own rules pg_sweep finds the rows that were inserted
 * meanwhile, if they are many (see find_unseen_rows() in worker/weigh.c).
 */
static double
still_inserted(const SimulateTable *t, const SimulateRules *r)
{
	double		unseen = t->state.inserted - t->state.begun_inserted;

	return r->act && t->own_inserts &&
		unseen >= INSERT_AHEAD_PAGES * rows_per_page(t, t->state.live) ? unseen : 0;
}

static double
interval_after(const SimulateTable *t, const VacuumCost *cost)
{
	int64_t		until = 0;

	return !t->short_intervals ? t->interval_s :
		(double) min_interval_short_us(&until, 0, min_interval_estimate_us(cost->scanned),
									   (int64_t) (t->interval_s * 1e6)) / 1e6;
}

void
simulate_table_vacuum_end(SimulateTable *t, const SimulateRules *r, double now,
						  const VacuumCost *cost)
{
	SimulateState *s = &t->state;
	double		new_pages = s->begun_inserted / rows_per_page(t, s->live);

	if (s->due != SIMULATE_DUE_DEAD)
	{
		InsertCost	c = {
			.new_pages = new_pages,
			.hit = cost->scanned,
			.read = cost->read,
			.dirtied = cost->dirtied,
			.page_hit = r->cost_hit,
			.page_miss = r->cost_miss,
			.page_dirty = r->cost_dirty,
		};

		s->costly = insert_was_worth(&c) ? 0 : (int) earlier(s->costly + 1, INSERT_COSTLY_LIMIT);
	}
	s->eager = r->act && !t->catalog && freeze_eagerly(s->eager, rows(s->inserted), rows(s->begun_changed));
	if (s->eager)
		s->frozen_pages = pages_with(t, s->live);
	s->dead = s->dead_hot = 0;
	s->inserted = still_inserted(t, r);
	s->changed -= s->begun_changed;
	s->added -= s->begun_added;
	s->young -= s->begun_young;
	know_sizes(t);
	s->vacuumed_at = now;
	s->not_before = now + (s->due == SIMULATE_DUE_DEAD ? interval_after(t, cost) : t->interval_s);
	s->follow_at = now + r->follow_s;
	s->busy = false;
	s->due = SIMULATE_NOT_DUE;
}
