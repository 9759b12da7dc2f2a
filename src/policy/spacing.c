/*
 * policy/spacing.c
 *		When may vacuums begin where a standby's queries can be cancelled by
 *		them?  Pure.
 */
#include "spacing.h"

bool
spacing_lets_begin(const SpacingMoment *m)
{
	int64_t		window = SPACING_WINDOW_MS;
	int64_t		since = m->now_ms - m->core_came_ms;

	/* what happens between two looks is seen at the second one */
	if (window < 2 * m->look_ms)
		window = 2 * m->look_ms;
	if (m->core_came_ms > 0 && since >= 0 &&
		since <= m->core_naptime_ms + m->core_naptime_ms / 2 + SPACING_LATE_MS)
		return since <= window;
	return m->now_ms % m->core_naptime_ms <= window;
}
