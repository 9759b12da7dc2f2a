/*
 * policy/spacing.c
 *		When may vacuums begin where a standby's queries can be cancelled by
 *		them?  Pure.
 */
#include "spacing.h"

bool
spacing_lets_begin(const SpacingMoment *m)
{
	int64_t		since = m->now_ms - m->core_came_ms;
	int64_t		by_clock_ms = 2 * m->look_ms;

	if (m->core_came_ms > 0 && since >= 0 &&
		since <= m->core_naptime_ms + m->core_naptime_ms / 2 + SPACING_LATE_MS)
		return since <= m->look_ms + SPACING_START_MS;

	/* What is missed here waits a whole naptime, and nobody else does it. */
	if (by_clock_ms < SPACING_WINDOW_MS)
		by_clock_ms = SPACING_WINDOW_MS;
	return m->now_ms % m->core_naptime_ms <= by_clock_ms;
}
