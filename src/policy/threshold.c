/*
 * policy/threshold.c
 *		When is a table due for a vacuum?  Core's formulas, pure.
 */
#include "threshold.h"

static double
lesser(double a, double b)
{
	return a < b ? a : b;
}

/* The part of the table that is not frozen. */
static double
unfrozen_part(int64_t pages, int64_t frozen_pages)
{
	if (pages <= 0 || frozen_pages <= 0)
		return 1.0;
	/* the statistics may have been set by hand, so clamp them as core does */
	if (frozen_pages > pages)
		frozen_pages = pages;
	return 1.0 - (double) frozen_pages / (double) pages;
}

static double
vacuum_threshold(double base, double scale, double max, double reltuples)
{
	double		threshold = base + scale * reltuples;

	return max >= 0 ? lesser(threshold, max) : threshold;
}

Thresholds
threshold_core(const ThresholdSettings *s, double reltuples, int64_t pages, int64_t frozen_pages)
{
	Thresholds	t = {-1, -1, -1};

	if (!s->core_counts)
		return t;
	/* as in core, a table that was never vacuumed counts as empty */
	if (!(reltuples > 0))
		reltuples = 0;
	t.vacuum = vacuum_threshold(s->core_vacuum_base, s->core_vacuum_scale, s->vacuum_max, reltuples);
	if (s->core_insert_base >= 0)
		t.insert = s->core_insert_base +
			s->core_insert_scale * reltuples * unfrozen_part(pages, frozen_pages);
	return t;
}

Thresholds
threshold_compute(const ThresholdSettings *s, double reltuples,
				  int64_t pages, int64_t frozen_pages)
{
	Thresholds	core = threshold_core(s, reltuples, pages, frozen_pages);
	Thresholds	t;

	if (!(reltuples > 0))
		reltuples = 0;
	t.vacuum = vacuum_threshold(s->vacuum_base, s->vacuum_scale, s->vacuum_max, reltuples);
	if (core.vacuum >= 0)
		t.vacuum = lesser(t.vacuum, core.vacuum);
	t.insert = s->insert_base < 0 ? -1 :
		s->insert_base + s->insert_scale * reltuples * unfrozen_part(pages, frozen_pages);
	if (core.insert >= 0 && t.insert >= 0)
		t.insert = lesser(t.insert, core.insert);
	t.analyze = s->analyze_base < 0 ? -1 : s->analyze_base + s->analyze_scale * reltuples;
	return t;
}

bool
threshold_vacuum_due(const Thresholds *t, int64_t dead_tuples)
{
	return (double) dead_tuples > t->vacuum;
}

bool
threshold_insert_due(const Thresholds *t, int64_t ins_since_vacuum)
{
	return t->insert >= 0 && (double) ins_since_vacuum > t->insert;
}
