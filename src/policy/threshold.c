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

Thresholds
threshold_compute(const ThresholdSettings *settings, double reltuples,
				  int64_t pages, int64_t frozen_pages)
{
	Thresholds	t;
	double		unfrozen = 1.0;

	/* as in core, a table that was never vacuumed counts as empty */
	if (!(reltuples > 0))
		reltuples = 0;

	/* the statistics may have been set by hand, so clamp them as core does */
	if (pages > 0 && frozen_pages > 0)
	{
		if (frozen_pages > pages)
			frozen_pages = pages;
		unfrozen = 1.0 - (double) frozen_pages / (double) pages;
	}

	t.vacuum = settings->vacuum_base + settings->vacuum_scale * reltuples;
	if (settings->core_counts)
		t.vacuum = lesser(t.vacuum, settings->core_vacuum_base + settings->core_vacuum_scale * reltuples);
	if (settings->vacuum_max >= 0 && t.vacuum > settings->vacuum_max)
		t.vacuum = settings->vacuum_max;

	if (settings->insert_base < 0)
		t.insert = -1;
	else
		t.insert = settings->insert_base +
			settings->insert_scale * reltuples * unfrozen;
	if (settings->core_counts && settings->core_insert_base >= 0 && t.insert >= 0)
		t.insert = lesser(t.insert, settings->core_insert_base +
						  settings->core_insert_scale * reltuples * unfrozen);

	t.analyze = settings->analyze_base < 0 ? -1 :
		settings->analyze_base + settings->analyze_scale * reltuples;

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

bool
threshold_analyze_due(const Thresholds *t, int64_t mod_since_analyze)
{
	return t->analyze >= 0 && (double) mod_since_analyze > t->analyze;
}
