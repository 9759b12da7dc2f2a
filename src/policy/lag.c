/*
 * lag.c
 *		How far behind a standby is, in time, and whether it means to be.
 */
#include "lag.h"

#include <stddef.h>

/*
 * How much a lag varies only because steps and replies are no closer
 * together.
 */
#define DELAY_NOISE_MS		500.0

/*
 * The trail is full, so every second point of its older half goes.  So it
 * reaches back as far as it is asked to, less and less exactly.
 */
static void
thin_out(LagTrail *trail)
{
	int			kept = 1;
	int			half = trail->n / 2;

	for (int i = 2; i < trail->n; i++)
	{
		if (i >= half || i % 2 == 0)
			trail->points[kept++] = trail->points[i];
	}
	trail->n = kept;
}

void
lag_note(LagTrail *trail, int64_t at_us, uint64_t position)
{
	LagPoint   *last = trail->n > 0 ? &trail->points[trail->n - 1] : NULL;

	if (last != NULL && (at_us < last->at_us || position < last->position))
	{
		trail->n = 0;
		last = NULL;
	}

	/*
	 * where the position stands still, keep when it began to and when it last
	 * did
	 */
	if (trail->n > 1 && last->position == position && last[-1].position == position)
	{
		last->at_us = at_us;
		return;
	}
	if (trail->n == LAG_POINTS)
		thin_out(trail);
	trail->points[trail->n].at_us = at_us;
	trail->points[trail->n++].position = position;
}

bool
lag_is_known(const LagTrail *trail, uint64_t position)
{
	return trail->n > 0 && position >= trail->points[0].position;
}

double
lag_ms(const LagTrail *trail, int64_t now_us, uint64_t position)
{
	const LagPoint *p = trail->points;
	int			low = 0;
	int			high = trail->n - 1;
	double		part;
	double		at_us;

	if (trail->n == 0 || position >= p[high].position)
		return 0;
	if (position < p[0].position)
		return now_us > p[0].at_us ? (double) (now_us - p[0].at_us) / 1000 : 0;

	/* p[low].position <= position < p[high].position */
	while (high - low > 1)
	{
		int			middle = low + (high - low) / 2;

		if (p[middle].position <= position)
			low = middle;
		else
			high = middle;
	}
	part = (double) (position - p[low].position) / (double) (p[high].position - p[low].position);
	at_us = (double) (p[high].at_us - p[low].at_us) * part;
	return ((double) (now_us - p[low].at_us) - at_us) / 1000;
}

static double
larger(double a, double b)
{
	return a > b ? a : b;
}

bool
delay_watch(DelayWatch *watch, int64_t now_us, double replay_ms, double flush_ms, bool over_limit)
{
	double		low = replay_ms < watch->low_ms ? replay_ms : watch->low_ms;
	double		high = larger(replay_ms, watch->high_ms);
	bool		constant = high - low <= larger(low / 10, DELAY_NOISE_MS);

	if (!over_limit)
	{
		watch->since_us = 0;
		return false;
	}
	if (watch->since_us == 0 || now_us < watch->since_us || !constant)
	{
		watch->since_us = now_us;
		watch->low_ms = replay_ms;
		watch->high_ms = replay_ms;
		watch->flush_high_ms = flush_ms;
		return false;
	}
	watch->low_ms = low;
	watch->high_ms = high;
	watch->flush_high_ms = larger(watch->flush_high_ms, flush_ms);
	if (watch->flush_high_ms * 10 > low)
	{
		/* it does not receive either, so begin anew */
		watch->since_us = 0;
		return false;
	}
	return now_us - watch->since_us >= DELAY_WATCH_US;
}
