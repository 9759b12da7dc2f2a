/*
 * policy/worth.c
 *		What does garbage cost, and what did a vacuum bring?  Pure.
 */
#include "worth.h"

#include <math.h>
#include <string.h>

static double
not_negative(double value)
{
	return value > 0 ? value : 0;
}

static double
lesser(double a, double b)
{
	return a < b ? a : b;
}

double
worth_levels(double pages)
{
	return pages <= 1 ? 1 : 1 + ceil(log(pages) / log(WORTH_FANOUT));
}

/* ----
 * Counting
 * ----
 */

static bool
went_back(const WorthCounters *then, const WorthCounters *now)
{
	return now->indexes != then->indexes || now->scans < then->scans ||
		now->index_fetched < then->index_fetched || now->index_read < then->index_read ||
		now->fetched < then->fetched || now->read < then->read ||
		now->table_scans < then->table_scans || now->analyzes < then->analyzes ||
		now->inserted < then->inserted || now->updated < then->updated ||
		now->hot_updated < then->hot_updated || now->deleted < then->deleted;
}

/*
 * Takes off what writing took.  Which of the blocks were read is not known, so
 * it is the same share.
 */
static void
take_off(double written, double *fetched, double *read)
{
	double		left = not_negative(*fetched - written);

	*read = *fetched > 0 ? *read * left / *fetched : 0;
	*fetched = left;
}

/*
 * A new row takes a way down each index, and a page of the table.  An update
 * is that and the old row's page, or in the case of HOT that page alone.
 */
bool
worth_between(const WorthCounters *then, const WorthCounters *now, double levels, WorthSum *sum)
{
	double		inserted = (double) (now->inserted - then->inserted);
	double		updated = (double) (now->updated - then->updated);
	double		hot = (double) (now->hot_updated - then->hot_updated);
	double		deleted = (double) (now->deleted - then->deleted);
	double		cold = not_negative(updated - hot);
	double		into_indexes = (inserted + cold) * levels;
	double		into_table = inserted + updated + cold + deleted;

	memset(sum, 0, sizeof(*sum));
	if (went_back(then, now))
		return false;
	sum->scans = (double) (now->scans - then->scans);
	sum->index_fetched = (double) (now->index_fetched - then->index_fetched);
	sum->index_read = (double) (now->index_read - then->index_read);
	take_off(into_indexes, &sum->index_fetched, &sum->index_read);
	sum->written = into_indexes + into_table;
	if (now->table_scans != then->table_scans || now->analyzes != then->analyzes)
		return true;
	sum->table_scans = sum->scans;
	sum->fetched = (double) (now->fetched - then->fetched);
	sum->read = (double) (now->read - then->read);
	take_off(into_table, &sum->fetched, &sum->read);
	return true;
}

void
worth_count_changes(Worth *w, const WorthCounters *then, const WorthCounters *now)
{
	double		changed;

	if (went_back(then, now))
		return;
	changed = (double) (now->updated - then->updated + now->deleted - then->deleted);
	w->changed += changed;
	w->cold += not_negative(changed - (double) (now->hot_updated - then->hot_updated));
}

static void
add_sum(WorthSum *to, const WorthSum *more)
{
	to->scans += more->scans;
	to->index_fetched += more->index_fetched;
	to->index_read += more->index_read;
	to->written += more->written;
	to->table_scans += more->table_scans;
	to->fetched += more->fetched;
	to->read += more->read;
}

/* ----
 * Blocks per scan
 * ----
 */

/* Was it without sequential scans for long enough to tell of the table? */
static bool
has_table(const WorthSum *sum)
{
	return sum->table_scans >= WORTH_SCANS;
}

static WorthRate
rate_of(const WorthSum *sum, bool with_table)
{
	WorthRate	rate = {0};

	rate.known = sum->scans >= WORTH_SCANS;
	if (!rate.known)
		return rate;
	rate.fetched = sum->index_fetched / sum->scans;
	rate.read = sum->index_read / sum->scans;
	rate.with_table = with_table && has_table(sum);
	if (rate.with_table)
	{
		rate.fetched += sum->fetched / sum->table_scans;
		rate.read += sum->read / sum->table_scans;
	}
	return rate;
}

static WorthSum
recent(const Worth *w)
{
	WorthSum	sum = w->last;

	add_sum(&sum, &w->current);
	return sum;
}

/* Both over the same parts of the table, if both are known. */
static void
compare(const WorthSum *a, const WorthSum *b, WorthRate *rate_a, WorthRate *rate_b)
{
	bool		both = a->scans >= WORTH_SCANS && b->scans >= WORTH_SCANS;
	bool		with_table = !both || (has_table(a) && has_table(b));

	*rate_a = rate_of(a, with_table);
	*rate_b = rate_of(b, with_table);
}

void
worth_rates(const Worth *w, WorthRate *clean, WorthRate *now)
{
	WorthSum	sum = recent(w);

	compare(&w->clean, &sum, clean, now);
}

void
worth_brought(const Worth *w, WorthRate *before, WorthRate *after)
{
	compare(&w->before, &w->after, before, after);
}

WorthRate
worth_difference(const WorthRate *more, const WorthRate *less)
{
	WorthRate	rate = {0};

	rate.known = more->known && less->known && more->with_table == less->with_table;
	if (!rate.known)
		return rate;
	rate.with_table = more->with_table;
	rate.fetched = not_negative(more->fetched - less->fetched);
	rate.read = lesser(not_negative(more->read - less->read), rate.fetched);
	return rate;
}

/* ----
 * From vacuum to vacuum
 * ----
 */

/* Blocks that were fetched for scans. */
static double
taken(const WorthSum *sum)
{
	return sum->index_fetched + sum->fetched;
}

/* Is it of another mixture of reading and writing than that window? */
static bool
is_other_mixture(const WorthSum *window, const WorthSum *sum)
{
	double		usual = window->written / window->scans * sum->scans;
	double		clean = taken(window) / window->scans * sum->scans;

	return fabs(sum->written - usual) > WORTH_UNCERTAIN * clean;
}

/* What these scans have taken beyond what those of a window did.  It may be less. */
static void
beyond(const WorthSum *window, const WorthSum *sum, double *fetched, double *read)
{
	*fetched = sum->index_fetched - sum->scans * window->index_fetched / window->scans;
	*read = sum->index_read - sum->scans * window->index_read / window->scans;
	if (has_table(window))
	{
		*fetched += sum->fetched - sum->table_scans * window->fetched / window->table_scans;
		*read += sum->read - sum->table_scans * window->read / window->table_scans;
	}
}

static void
count_loss(Worth *w, const WorthSum *sum)
{
	double		fetched;
	double		read;

	beyond(&w->clean, sum, &fetched, &read);
	w->lost_fetched = not_negative(w->lost_fetched + fetched);
	w->lost_read = lesser(not_negative(w->lost_read + read), w->lost_fetched);
}

/* What the last vacuum has saved these scans. */
static void
count_saving(Worth *w, const WorthSum *sum)
{
	double		fetched;
	double		read;

	if (w->before.scans < WORTH_SCANS || is_other_mixture(&w->before, sum))
		return;
	beyond(&w->before, sum, &fetched, &read);
	w->saved_read -= read;
	w->saved_scans += sum->scans;
}

static bool
is_beyond_noise(const Worth *w)
{
	WorthRate	clean;
	WorthRate	now;

	worth_rates(w, &clean, &now);
	return clean.known && now.known && now.fetched > (1 + WORTH_NOISE) * clean.fetched;
}

static void
add_recent(Worth *w, const WorthSum *sum)
{
	add_sum(&w->current, sum);
	if (w->current.scans < WORTH_SCANS)
		return;
	w->last = w->current;
	memset(&w->current, 0, sizeof(w->current));
}

/*
 * Has the last vacuum removed what could be removed, and scans take as many
 * blocks as before it?  Then it is not garbage that they take them for: the
 * table has grown, or they are other queries.
 */
static bool
was_in_vain(const Worth *w)
{
	WorthRate	before;
	WorthRate	after;

	worth_brought(w, &before, &after);
	return !w->held_back && before.known && after.known &&
		(1 + WORTH_NOISE) * after.fetched > before.fetched;
}

/*
 * The window after a vacuum is full.  If garbage was faster than the scans,
 * the window before may tell better what clean is, but only of the same
 * mixture of reading and writing.
 */
static void
close_window(Worth *w, double dead_share)
{
	WorthRate	earlier;
	WorthRate	opened;

	w->open = false;
	if (w->vacuumed)
		w->after = w->opened;
	compare(&w->clean, &w->opened, &earlier, &opened);
	if (dead_share <= WORTH_CLEAN_DEAD || !earlier.known || opened.fetched <= earlier.fetched ||
		was_in_vain(w) || is_other_mixture(&w->clean, &w->opened))
		w->clean = w->opened;
}

static void
take_in(Worth *w, const WorthSum *sum, double dead_share)
{
	w->scans += sum->scans;
	if (sum->scans > 0)
	{
		w->taken += taken(sum);
		count_saving(w, sum);
	}
	if (w->open)
	{
		add_sum(&w->opened, sum);
		if (w->opened.scans >= WORTH_CLEAN_SCANS ||
			(w->opened.scans >= WORTH_SCANS && dead_share > WORTH_CLEAN_DEAD))
			close_window(w, dead_share);
		return;
	}
	if (w->clean.scans < WORTH_SCANS)
	{
		add_recent(w, sum);
		return;
	}
	if (sum->scans <= 0 || is_other_mixture(&w->clean, sum))
		return;
	add_recent(w, sum);
	if (is_beyond_noise(w))
		count_loss(w, sum);
}

void
worth_settle(Worth *w)
{
	WorthSum	sum = w->pending;

	memset(&w->pending, 0, sizeof(w->pending));
	take_in(w, &sum, w->pending_dead);
}

/*
 * A session reports the scans of an index before the blocks of the table, as
 * separate entries of the statistics.  If those were counted in between, the
 * blocks are in the next sum, which is then without scans.
 */
void
worth_add(Worth *w, const WorthSum *sum, double dead_share)
{
	if (sum->scans > 0 || sum->written > 0)
		worth_settle(w);
	add_sum(&w->pending, sum);
	w->pending_dead = dead_share;
}

void
worth_begin_clean(Worth *w)
{
	worth_settle(w);
	w->open = true;
	memset(&w->opened, 0, sizeof(w->opened));
	memset(&w->last, 0, sizeof(w->last));
	memset(&w->current, 0, sizeof(w->current));
}

/*
 * As much was lost again as a vacuum costs.  Has the last one saved as much
 * before?
 */
static void
judge_last(Worth *w)
{
	double		demand = fmax(w->demand, 1);

	if (w->costs > 0 && !w->at_most && w->saved_scans > w->scans / 2)
	{
		if (w->saved_read >= w->cost)
			w->demand = fmax(demand / 2, 1);
		else if (w->lost_read >= w->cost)
			w->demand = lesser(2 * demand, WORTH_DEMAND_MOST);
	}
	w->saved_read = w->saved_scans = 0;
}

void
worth_begin_again(Worth *w, bool held_back)
{
	worth_settle(w);
	judge_last(w);
	w->before = recent(w);
	memset(&w->after, 0, sizeof(w->after));
	w->cycle_known = w->vacuumed;
	w->cycle_taken = w->taken;
	w->vacuumed = true;
	w->held_back = held_back;
	w->scans = w->taken = w->lost_fetched = w->lost_read = w->changed = w->cold = 0;
	worth_begin_clean(w);
}

/* ----
 * Is it worth it?
 * ----
 */

void
worth_add_cost(Worth *w, double blocks)
{
	if (w->at_most)
		w->costs = 0;
	w->at_most = false;
	/* the last one counts half */
	w->cost = w->costs == 0 ? blocks : (w->cost + blocks) / 2;
	w->costs++;
}

void
worth_assume_cost(Worth *w, double pages)
{
	if (w->costs > 0 && !w->at_most)
		return;
	w->costs = 1;
	w->cost = 2 * pages;
	w->at_most = true;
}

double
worth_replans(int sessions, int relations)
{
	return WORTH_REPLAN_BLKS * sessions * relations;
}

bool
worth_is_lost(const Worth *w)
{
	return w->costs > 0 && w->lost_read > 0 && w->lost_read >= fmax(w->demand, 1) * w->cost;
}

bool
worth_is_due(const Worth *w)
{
	return worth_is_lost(w) && is_beyond_noise(w) && (w->changed > 0 || w->held_back);
}

/*
 * Garbage grows with time, and what it costs grows with the garbage.  So the
 * losses grow with the square of time.
 */
double
worth_breaks_even(const Worth *w, double elapsed_s)
{
	if (w->costs == 0 || w->lost_read <= 0 || elapsed_s <= 0)
		return -1;
	return elapsed_s * sqrt(w->cost / w->lost_read);
}

WorthAdvice
worth_advice(const Worth *w, const WorthThreshold *t)
{
	bool		due = t->dead > t->threshold;
	bool		matters = t->scale * t->rows > t->threshold / 2;

	if (!matters || w->costs == 0)
		return WORTH_NO_ADVICE;
	if (!due && t->scale > WORTH_SMALL_SCALE && worth_is_due(w) &&
		w->cold >= WORTH_COLD * w->changed && w->changed > 0)
		return WORTH_VACUUM_EARLIER;
	/* nothing that few scans could save makes up for a vacuum */
	if (t->own && t->scale < WORTH_CORE_SCALE && !w->at_most && w->cycle_known &&
		w->cycle_taken < w->cost && w->taken < w->cost)
		return WORTH_VACUUM_LATER;
	return WORTH_NO_ADVICE;
}
