/*
 * cpu_room.c
 *		What users leave of a quota of processors.  Pure.
 */
#include "cpu_room.h"

#include <math.h>

/*
 * Users come in bursts.  Larger: a burst uses up what is left of the quota, and
 * everybody waits.  Smaller: vacuums take longer for nothing.
 */
#define USED_AT_MOST	0.8

/*
 * What they may use in any case: about as much as autovacuum's workers do.  Of a
 * quota of less than a processor it is that share.  Larger: users who need all of
 * the quota are kept waiting.  Smaller: garbage piles up.
 */
#define LEAST_PCT		20.0

/* Larger: users who come are noticed late.  Smaller: chance decides. */
#define AVERAGE_MS		1000.0

static void
look_at_others(CpuRoom *room, double used_ms, double vacuums_pct, double now_ms)
{
	double		dt_ms = now_ms - room->at_ms;
	double		pct;

	if (dt_ms <= 0)
		return;
	pct = fmax((used_ms - room->used_ms) / dt_ms * 100 - vacuums_pct, 0);
	room->others_pct += (pct - room->others_pct) * fmin(dt_ms / AVERAGE_MS, 1);
}

double
cpu_room_step(CpuRoom *room, double used_ms, double vacuums_pct, double now_ms)
{
	double		least = LEAST_PCT * fmin(room->quota, 1);

	if (used_ms < 0)
		room->at_ms = 0;
	else
	{
		if (room->at_ms > 0 && used_ms >= room->used_ms)
			look_at_others(room, used_ms, vacuums_pct, now_ms);
		room->at_ms = now_ms;
		room->used_ms = used_ms;
	}
	return fmax(USED_AT_MOST * room->quota * 100 - room->others_pct, least);
}
