/*
 * policy/backoff.c
 *		How long to leave something alone after it failed.  Pure.
 */
#include "backoff.h"

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
