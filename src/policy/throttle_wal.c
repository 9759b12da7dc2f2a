/*
 * policy/throttle_wal.c
 *		WAL in danger: its archiver, its slots, its file system.  Pure.
 *
 * These limit what vacuums write to WAL, and nothing else: what a vacuum reads, or
 * dirties without an image, fills no disk.  The floor that holds here is the one
 * that rises while garbage piles up: a disk that is simply as full as its limit
 * must not keep vacuums down for ever.
 */
#include "throttle_wal.h"

#include <math.h>

#include "throttle_constants.h"

bool
throttle_wal_is_danger(int limit)
{
	return limit == LIMIT_ARCHIVER || limit == LIMIT_SLOTS || limit == LIMIT_WAL_DISK;
}

static void
step_danger(ThrottleState *state, BudgetLimit which, bool bad,
			ThrottleReason reason, double used, double floor, const ThrottleValveStep *v,
			ThrottleResult *out)
{
	ThrottleValve *valve = &state->valves[which];

	valve->bad = bad;
	out->limits[which].reason = valve->bad ? reason : THROTTLE_REASON_CALM;
	if (valve->bad)
	{
		double		from = fmin(valve->allowed > 0 ? valve->allowed : HUGE_VAL, used);
		double		to = fmax(floor, from * CUT_LEAVES);

		valve->moved_down = valve->allowed <= 0 || to < valve->allowed;
		valve->allowed = to;
	}
	else if (valve->allowed > 0)
	{
		valve->allowed *= pow(GENTLE_STEP, v->dt_s / STEP_S);
		valve->moved_up = true;
		if (FAR * valve->allowed > fmax(v->peak, START))
			valve->allowed = 0;
	}
}

void
throttle_wal_step(ThrottleState *state, const ThrottleSettings *s, const ThrottleReading *r,
				  double floor, const ThrottleValveStep *v, ThrottleResult *out)
{
	double		keep = s->slot_keep_bytes;
	double		used = fmax(r->used.wal, 0);

	step_danger(state, LIMIT_ARCHIVER,
				r->archiver_failing || r->archiver_behind_bytes > ARCHIVER_BEHIND,
				r->archiver_failing ? THROTTLE_REASON_ARCHIVER_FAILS : THROTTLE_REASON_ARCHIVER_BEHIND,
				used, floor, v, out);
	step_danger(state, LIMIT_SLOTS,
				keep > 0 && r->slot_left_bytes >= 0 && r->slot_left_bytes < SLOT_LEFT * keep,
				THROTTLE_REASON_SLOT, used, floor, v, out);
	step_danger(state, LIMIT_WAL_DISK,
				s->limits[LIMIT_WAL_DISK] > 0 && r->wal_disk_used_pct >= s->limits[LIMIT_WAL_DISK],
				THROTTLE_REASON_WAL_DISK, used, floor, v, out);
}

double
throttle_wal_allowed(const ThrottleState *state, BudgetLimit *which)
{
	double		least = 0;

	for (int i = LIMIT_NONE + 1; i < LIMIT_COUNT; i++)
	{
		double		allowed = state->valves[i].allowed;

		if (!throttle_wal_is_danger(i) || allowed <= 0 || (least > 0 && allowed >= least))
			continue;
		least = allowed;
		if (which)
			*which = (BudgetLimit) i;
	}
	return least;
}
