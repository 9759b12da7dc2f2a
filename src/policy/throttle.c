/*
 * throttle.c
 *		The governor's step: the ceilings hold as they are set.
 */
#include "throttle.h"

#include <string.h>

static void
ceiling(ThrottleResult *out, BudgetLimit limit, double configured, double measured)
{
	ThrottleLimit *l = &out->limits[limit];

	l->used = configured > 0;
	l->configured = configured;
	l->measured = measured;
	l->allowed = configured;
	/* the one that is used up most */
	if (l->used && measured >= 0.9 * configured &&
		(out->binding == LIMIT_NONE ||
		 measured / configured > out->limits[out->binding].measured / out->limits[out->binding].configured))
		out->binding = limit;
}

void
throttle_step(ThrottleState *state, const ThrottleSettings *s,
			  const ThrottleReading *r, double dt_s, ThrottleResult *out)
{
	(void) dt_s;
	memset(out, 0, sizeof(*out));
	out->allowed = s->ceilings;
	out->allowed.total = 0;
	out->floor = s->floor;
	out->binding = LIMIT_NONE;
	out->users_expected = -1;
	ceiling(out, LIMIT_READ, s->ceilings.read, r->used.read);
	ceiling(out, LIMIT_WRITE, s->ceilings.write, r->used.write);
	ceiling(out, LIMIT_WAL, s->ceilings.wal, r->used.wal);
	out->decision = r->vacuums > 0 ? THROTTLE_STEADY : THROTTLE_NO_VACUUM;
	out->reason = out->binding != LIMIT_NONE ? THROTTLE_REASON_CEILING : THROTTLE_REASON_NONE;
	state->started = true;
	state->last = *out;
}

const char *
throttle_reason_text(ThrottleReason reason)
{
	return reason == THROTTLE_REASON_CEILING ? "at its limit" : "";
}
