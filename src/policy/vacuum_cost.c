/*
 * policy/vacuum_cost.c
 *		What does a vacuum cost, by what has changed since the last one?  Pure.
 */
#include "vacuum_cost.h"

#include <math.h>

#include "trial_cost.h"

/* What the smallest vacuum takes, and what each page takes it. */
#define LEAST_S			0.01
#define SCANNED_PAGE_S	5e-6
#define IO_PAGE_S		80e-6	/* 100 MB/s */

/*
 * As if so many more runs had cost what is assumed without any.  It is few,
 * because the model is wrong by the same factor each time: what is in memory
 * does not change from vacuum to vacuum.
 */
#define DAMPING			0.25

/* Where all is in memory nothing is read, so it may become very small. */
#define CORRECTION_LEAST	0.001
#define CORRECTION_MOST		20.0

static double
clamp(double value, double least, double most)
{
	return value < least ? least : (value > most ? most : value);
}

/*
 * On how many pages do so many changes meet a page that is clean by the time of
 * the vacuum?  Changes of a page are a Poisson process.  The page was written
 * since the last one with a probability that grows with the time since then.
 */
static double
pages_dirtied(const VacuumWork *w, double changes, double pages)
{
	double		hit = trial_pages_hit(changes, pages);
	double		each = pages > 0 ? changes / pages : 0;
	double		clean;

	if (w->write_s <= 0 || w->seconds <= 0 || each <= 0)
		return hit;
	clean = pages * w->seconds / (each * w->write_s) * (1 - exp(-each) * (1 + each));
	return hit * w->cold + clamp(clean, 0, hit) * (1 - w->cold);
}

/* The same of pages that are filled one after the other. */
static double
filled_dirtied(const VacuumWork *w, double filled)
{
	double		intervals = w->write_s > 0 ? w->seconds / w->write_s : 0;

	if (intervals <= 0)
		return filled;
	return filled * (w->cold + (1 - w->cold) * (intervals <= 1 ? intervals / 2 : 1 - 1 / (2 * intervals)));
}

/* The maps' pages were dirtied by the last vacuum, if not by users since. */
static double
maps_dirtied(const VacuumWork *w)
{
	double		intervals = w->write_s > 0 ? w->seconds / w->write_s : 0;

	if (intervals <= 0)
		return TRIAL_MAP_PAGES;
	return TRIAL_MAP_PAGES * (w->cold + (1 - w->cold) * clamp(intervals, 0, 1));
}

/* All of its indexes are read whole. */
static void
add_indexes(VacuumCost *cost, const VacuumWork *w, double old_dead, double per_page)
{
	double		filled = clamp(w->young / per_page, 0, w->pages) * w->index_pages / w->pages;

	cost->read += w->index_pages;
	cost->dirtied += pages_dirtied(w, old_dead * w->indexes, w->index_pages) + filled_dirtied(w, filled);
	cost->touched += trial_pages_hit(old_dead * w->indexes, w->index_pages) + filled;
}

VacuumCost
vacuum_cost(const VacuumWork *w)
{
	VacuumCost	cost = {.seconds = LEAST_S};
	double		per_page = w->rows_per_page < 1 ? 1 : w->rows_per_page;
	double		old_dead = clamp(w->dead - w->young, 0, w->dead);
	double		strewn;
	double		filled;
	double		scattered;
	double		with_dead;

	if (w->pages <= 0)
		return cost;

	/* rows that are changed lie anywhere, while new ones fill page after page */
	strewn = clamp(trial_pages_hit(w->changed, w->pages), 0, w->pages);
	filled = clamp(fmax(w->added, w->young) / per_page, 0, w->pages - strewn);
	scattered = trial_pages_hit(w->changed + w->left, w->pages);
	with_dead = clamp(trial_pages_hit(old_dead + w->left, w->pages) + w->young / per_page, 0, w->pages);
	cost.scanned = clamp(scattered + filled + w->pages * trial_share_between(scattered / w->pages), 0, w->pages);
	cost.read = cost.scanned;
	cost.dirtied = pages_dirtied(w, w->changed, w->pages) + filled_dirtied(w, filled) + maps_dirtied(w);
	cost.touched = strewn + filled + TRIAL_MAP_PAGES;
	cost.indexes = w->indexes > 0 && w->dead + w->left >= 1 &&
		(w->all_indexes || with_dead >= TRIAL_BYPASS_SHARE * w->pages);
	if (cost.indexes)
	{
		add_indexes(&cost, w, old_dead + w->left, per_page);
		/* the second pass finds in memory what fits into the ring */
		if (with_dead > TRIAL_RING_PAGES)
		{
			cost.read += with_dead;
			cost.dirtied += with_dead * w->cold;
			cost.touched += with_dead * w->cold;
		}
	}
	cost.seconds += cost.scanned * SCANNED_PAGE_S + (cost.read + cost.dirtied) * IO_PAGE_S;
	return cost;
}

VacuumCost
vacuum_cost_after(VacuumWork *w, VacuumLeft *left, bool own_inserts, double read)
{
	VacuumCost	cost;
	VacuumLeft	none = {0};

	w->left = left->rows;
	w->all_indexes = own_inserts && left->read_again > 0 && left->read_again >= w->index_pages;
	cost = vacuum_cost(w);
	if (cost.indexes || w->indexes <= 0)
	{
		none.read = left->read;
		*left = none;
		return cost;
	}
	left->rows += clamp(w->dead - w->young, 0, w->dead);
	left->read = fmax(cost.read * read - cost.dirtied, 0);
	left->read_again += own_inserts ? left->read : 0;
	return cost;
}

VacuumCorrection
vacuum_correction_none(void)
{
	VacuumCorrection none = {0, 1, 1, 1};

	return none;
}

/* What it is wrong by is a factor, so its logarithm is damped. */
static double
learn(double modelled, double actual, double runs, double otherwise)
{
	double		weight = runs / (runs + DAMPING);

	if (modelled <= 0)
		return otherwise;
	return pow(otherwise, 1 - weight) *
		pow(clamp(actual / modelled, CORRECTION_LEAST, CORRECTION_MOST), weight);
}

/* Of the pages that have something to be done, how many are clean? */
static double
clean_share(const VacuumCost *modelled)
{
	return modelled->touched > 0 ? clamp(modelled->dirtied / modelled->touched, 0, 1) : 1;
}

VacuumCorrection
vacuum_correction_learn(const VacuumCost *modelled, const VacuumCost *actual, double runs,
						const VacuumCorrection *otherwise)
{
	VacuumCorrection c = *otherwise;

	c.runs = runs < 0 ? 0 : runs;
	if (runs <= 0)
		return c;
	c.read = learn(modelled->read, actual->read, runs, otherwise->read);
	c.dirtied = learn(modelled->dirtied, actual->dirtied, runs * clean_share(modelled), otherwise->dirtied);
	c.seconds = learn(modelled->seconds, actual->seconds, runs, otherwise->seconds);
	return c;
}

VacuumCost
vacuum_cost_correct(VacuumCost cost, const VacuumCorrection *c)
{
	cost.read *= c->read;
	cost.dirtied *= c->dirtied;
	cost.seconds *= c->seconds;
	return cost;
}

void
vacuum_cost_add(VacuumCost *sum, const VacuumCost *cost, double times)
{
	sum->scanned += times * cost->scanned;
	sum->read += times * cost->read;
	sum->dirtied += times * cost->dirtied;
	sum->touched += times * cost->touched;
	sum->seconds += times * cost->seconds;
}
