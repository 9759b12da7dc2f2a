/*
 * policy/insert.c
 *		When is a table that rows are inserted into due for a vacuum?  Pure.
 */
#include "insert.h"

static double
lesser(double a, double b)
{
	return a < b ? a : b;
}

static double
greater(double a, double b)
{
	return a > b ? a : b;
}

double
insert_rows_per_page(double reltuples, double relpages, double live, double pages)
{
	if (reltuples > 0 && relpages > 0)
		return greater(reltuples / relpages, 1);
	if (live > 0 && pages > 0)
		return greater(live / pages, 1);
	return 1;
}

/* A vacuum that was in time finds that much of what it looks at on disk. */
#define LATE_SHARE		0.05

/* sessions report what they have inserted once a second */
#define LEAST_PACE_S	1

/* The least number of new pages that is of this size. */
static double
size_from(int size)
{
	double		pages = INSERT_EARLY_PAGES;

	while (size-- > 0)
		pages *= 2;
	return pages;
}

/* How many new pages make a vacuum earlier than core's worth its while? */
static double
least_pages(const InsertSettings *s)
{
	double		least = INSERT_LEAST_BYTES / s->page_bytes;

	if (s->cache_fraction > 0)
		least = lesser(least, s->cache_fraction * s->buffers);
	return greater(least, INSERT_EARLY_PAGES);
}

/*
 * New pages are vacuumed long before they leave the cache, however soon that is
 * after the last vacuum.  Those that have come since, when a checkpoint begins
 * or autovacuum comes, are written twice.  So a quarter of what they may
 * fill is enough, unless that is too little to be worth a vacuum.
 */
static double
follow_pages(const InsertSettings *s, const InsertTable *t)
{
	double		part = greater(s->cache_fraction * s->buffers, INSERT_EARLY_PAGES);

	/* old pages that each vacuum reads make it worth waiting for as many new */
	return lesser(part, greater(part / 4, greater(INSERT_AHEAD_PAGES, t->old_read)));
}

InsertThresholds
insert_thresholds(const InsertSettings *s, const InsertTable *t)
{
	InsertThresholds none = {-1, -1, -1};
	InsertThresholds result;
	double		rows = t->reltuples > 0 ? t->reltuples : 0;
	double		ahead = greater(t->core / 2, INSERT_AHEAD_PAGES * t->rows_per_page);
	double		unfrozen = 1;
	double		active;

	if (s->base < 0)
		return none;

	/* the estimates may have been set by hand, so clamp them as core does */
	if (t->pages > 0 && t->frozen_pages > 0)
		unfrozen = 1 - lesser(t->frozen_pages, t->pages) / t->pages;
	active = s->base + s->scale * rows * unfrozen;

	result.due = lesser(t->core, greater(active, least_pages(s) * t->rows_per_page));
	result.follow = -1;
	if (s->cache_fraction > 0)
	{
		result.follow = lesser(follow_pages(s, t) * t->rows_per_page, ahead);
		result.due = lesser(result.due, result.follow);
	}

	result.early = greater(active, INSERT_EARLY_PAGES * t->rows_per_page);

	/*
	 * each vacuum that cost more than it saved makes the next one twice as
	 * rare
	 */
	for (int i = 0; i < t->costly && i < INSERT_COSTLY_LIMIT; i++)
	{
		result.due *= 2;
		result.early *= 2;
		result.follow *= 2;
	}
	result.due = lesser(result.due, t->core);
	if (result.early >= result.due)
		result.early = -1;
	return result;
}

double
insert_look_at(const InsertSettings *s, double live)
{
	/* a page holds some rows, or core's threshold is soon enough */
	double		least_rows = 10 * least_pages(s);

	if (s->base < 0 || s->scale * live < least_rows)
		return -1;
	return s->base;
}

bool
insert_waits_for_checkpoint(const InsertSettings *s, const InsertTable *t,
							const InsertThresholds *thresholds,
							double inserted, int64_t checkpoint_ms, int64_t interval_ms)
{
	double		cached = s->cache_fraction * s->buffers * t->rows_per_page;

	return checkpoint_ms < interval_ms && inserted <= t->core &&
		inserted <= greater(2 * thresholds->due, cached);
}

bool
insert_was_in_vain(double new_pages, double pages_made_visible, double pages_not_visible)
{
	return new_pages >= 1 && pages_made_visible < new_pages / 10 &&
		pages_not_visible >= new_pages / 10;
}

bool
insert_was_worth(const InsertCost *c)
{
	double		cost = c->hit * c->page_hit + greater(c->read - c->new_pages, 0) * c->page_miss +
		greater(c->dirtied - c->new_pages, 0) * c->page_dirty;

	return cost <= (c->new_pages + INSERT_OVERHEAD_PAGES) * (c->page_miss + c->page_dirty);
}

double
insert_late_pages(double read, double dirtied, double scanned)
{
	double		late = lesser(read, dirtied);

	return late > INSERT_OVERHEAD_PAGES + LATE_SHARE * scanned ? late : 0;
}

double
insert_pace(double new_pages, double old_pages, double seconds, double page_bytes)
{
	/* a new page is read and written, an old one is read */
	return 2 * (2 * new_pages + old_pages) * page_bytes / greater(seconds, LEAST_PACE_S);
}

void
insert_sizes_add(InsertSizes *sizes, double new_pages)
{
	double		from = INSERT_EARLY_PAGES;
	int			i = 0;

	if (new_pages < from)
		return;
	for (; i < INSERT_SIZES - 1 && new_pages >= 2 * from; i++)
		from *= 2;
	sizes->pages[i] += new_pages;
}

double
insert_fit_pages(const InsertSizes *sizes, double cache_fraction, double buffers)
{
	double		part = cache_fraction * buffers;
	double		left = 0;
	int			i;

	for (i = 0; i < INSERT_SIZES; i++)
		left += sizes->pages[i];
	/* with part 0 the cache does not count */
	if (part <= 0 || left <= part)
		return 0;
	for (i = INSERT_SIZES - 1; i > 0 && left > part / 2; i--)
		left -= sizes->pages[i];
	return size_from(left > part / 2 ? 0 : i + 1);
}
