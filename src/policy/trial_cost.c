/*
 * policy/trial_cost.c
 *		What would a vacuum read and dirty, if it were made now?  Pure.
 */
#include "trial_cost.h"

#include <math.h>

static double
clamp(double value, double least, double most)
{
	return value < least ? least : (value > most ? most : value);
}

double
trial_pages_hit(double rows, double pages)
{
	return pages <= 0 ? 0 : pages * (1 - exp(-rows / pages));
}

/* Runs have a geometric distribution. */
double
trial_share_between(double share)
{
	double		visible = 1 - share;

	return visible - pow(visible, TRIAL_SKIP_PAGES) * (1 + (TRIAL_SKIP_PAGES - 1) * share);
}

/* Pages that inserted rows have filled, one after another. */
static double
pages_filled(const TrialHeap *h, double inserted)
{
	return clamp(inserted / (h->rows_per_page < 1 ? 1 : h->rows_per_page), 0, h->not_visible);
}

/*
 * How many dead rows lie together, on average?  Their pages are as many as if
 * so many times fewer rows had fallen at random.  1 if that cannot be told,
 * because there are dead rows everywhere.
 */
static double
rows_together(const TrialHeap *h)
{
	double		hit = h->not_visible - pages_filled(h, h->inserted);
	double		random;

	if (hit >= h->pages || h->dead <= 0)
		return 1;
	random = -h->pages * log(1 - clamp(hit, 1, h->pages) / h->pages);
	return clamp(h->dead / random, 1, h->dead);
}

/* The new pages at the table's end, of which the sample tells exactly. */
static double
add_tail(TrialCost *cost, const TrialHeap *h)
{
	double		pages = h->tail * h->tail_not_visible;
	double		read = pages * (1 - h->tail_resident);
	double		dirtied = pages * (1 - h->tail_dirty);

	cost->cleaned += pages;
	cost->scanned += pages;
	cost->least_read += read;
	cost->most_read += read;
	cost->least_dirtied += dirtied;
	cost->most_dirtied += dirtied;
	return pages;
}

/* Pages anywhere, and those between them. */
static void
add_strewn(TrialCost *cost, const TrialHeap *h, double cleaned)
{
	double		found = h->not_visible + h->between;
	double		strewn = h->pages > 0 ? h->pages * trial_share_between(h->not_visible / h->pages) : 0;
	double		even = strewn > 0 ? clamp(h->between / strewn, 0, 1) : 0;
	double		between = h->pages > 0 ? even * h->pages * trial_share_between(cleaned / h->pages) : 0;
	double		scanned = cleaned + between;

	cost->cleaned += cleaned;
	cost->scanned += scanned;
	cost->least_read += clamp(scanned - found * h->resident, 0, scanned);
	cost->most_read += scanned * (1 - h->resident);
	cost->least_dirtied += clamp(cleaned - h->not_visible * h->dirty, 0, cleaned);
	cost->most_dirtied += cleaned * (1 - h->dirty);
}

TrialCost
trial_cost_heap(const TrialHeap *h)
{
	TrialCost	cost = {.most_dirtied = TRIAL_MAP_PAGES};
	double		filled = add_tail(&cost, h);
	double		rest;

	/* without an earlier vacuum all that is not all-visible is to be cleaned */
	if (h->new_dead >= h->dead && h->new_inserted >= h->inserted)
		rest = h->not_visible - filled;
	else
		rest = trial_pages_hit(h->new_dead / rows_together(h), h->pages) +
			(h->tail > 0 ? 0 : pages_filled(h, h->new_inserted));
	add_strewn(&cost, h, clamp(rest, 0, clamp(h->not_visible - filled, 0, h->pages)));
	return cost;
}

/* Pages with dead rows that have index entries. */
static double
pages_with_entries(const TrialHeap *h)
{
	double		rows = h->new_dead * h->cold_share;

	return rows < 1 ? 0 : trial_pages_hit(rows / rows_together(h), h->pages);
}

bool
trial_cleans_indexes(const TrialHeap *h)
{
	double		pages = pages_with_entries(h);

	return pages > 0 && pages >= TRIAL_BYPASS_SHARE * h->pages;
}

/*
 * What the first pass has read and dirtied is not in memory any more, unless
 * it is very little, because VACUUM uses the same few buffers again and again.
 */
void
trial_cost_add_second_pass(TrialCost *cost, const TrialHeap *h)
{
	double		pages = clamp(pages_with_entries(h), 0, cost->cleaned);
	double		least = clamp(pages - h->not_visible * h->resident, 0, pages);
	double		most = pages * (1 - h->resident);

	if (pages <= TRIAL_RING_PAGES)
		return;
	cost->least_read += least;
	cost->most_read += most;
	cost->least_dirtied += least;
	cost->most_dirtied += most;
}

/*
 * What an earlier vacuum would have read may be in memory still.  Nobody can
 * tell, because that vacuum was not made.
 *
 * An entry whose row was updated or inserted since the last vacuum is on a
 * page that was dirtied then.  If it is still dirty it costs nothing more.
 * Entries of other rows are on pages like any other.  Dead rows that lie
 * together in the table have their entries together.
 */
void
trial_cost_add_index(TrialCost *cost, const TrialHeap *h, const TrialIndex *index)
{
	double		read = index->pages * (1 - index->resident);
	double		entries = h->new_dead * h->cold_share / rows_together(h);
	double		old = clamp(entries * (1 - h->update_share) - h->new_inserted / rows_together(h), 0, entries);
	double		old_pages = trial_pages_hit(old, index->pages) * (1 - index->dirty);
	double		new_pages = trial_pages_hit(entries - old, index->pages);

	cost->least_read += h->dead > h->new_dead ? 0 : read;
	cost->most_read += read;
	cost->least_dirtied += old_pages;
	cost->most_dirtied += old_pages + clamp(new_pages - index->dirty * index->pages, 0, new_pages);
}
