/*
 * policy/checkpoint.c
 *		When does the next checkpoint begin?  Pure.
 */
#include "checkpoint.h"

int64_t
checkpoint_ms_ahead(const CheckpointState *s)
{
	int64_t		by_time = s->timeout_ms;
	double		by_wal;

	/*
	 * a checkpoint that found nothing to write is not seen, but the clock
	 * goes on
	 */
	if (s->timeout_ms > 0 && s->since_ms >= 0)
		by_time = s->timeout_ms - s->since_ms % s->timeout_ms;
	if (s->wal_since >= s->wal_limit)
		return 0;
	if (s->wal_per_ms <= 0)
		return by_time;
	by_wal = (s->wal_limit - s->wal_since) / s->wal_per_ms;
	return by_wal < (double) by_time ? (int64_t) by_wal : by_time;
}
