/*
 * policy/backoff.c
 *		How long to leave something alone after it failed.  Pure.
 */
#include "backoff.h"

#define GAVE_WAY_TIMES		20
#define GAVE_WAY_MIN_MS		INT64_C(1000)
#define GAVE_WAY_MAX_MS		(INT64_C(5) * 60 * 1000)

int64_t
backoff_ms(int64_t base_ms, int64_t max_ms, int failures)
{
	int64_t		wait_ms = base_ms;

	if (failures <= 0)
		return 0;

	while (--failures > 0 && wait_ms < max_ms)
		wait_ms *= 2;

	return wait_ms < max_ms ? wait_ms : max_ms;
}

int64_t
backoff_gave_way_ms(int64_t took_ms)
{
	if (took_ms <= GAVE_WAY_MIN_MS / GAVE_WAY_TIMES)
		return GAVE_WAY_MIN_MS;
	if (took_ms >= GAVE_WAY_MAX_MS / GAVE_WAY_TIMES)
		return GAVE_WAY_MAX_MS;
	return took_ms * GAVE_WAY_TIMES;
}
