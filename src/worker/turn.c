/*
 * turn.c
 *		The turn of a table whose counters were lost.
 *
 * Also of one that is due by what was carried over for it: its own counters,
 * which the scout looks at, do not make it so.
 *
 * Runs in a worker, and in the backends of views.  It reads the candidate, and
 * what was decided about it since.
 */
#include "worker/turn.h"

#include "policy/carry.h"
#include "policy/garbage.h"
#include "server/clock.h"
#include "server/compat.h"
#include "server/table_stats.h"

/* Tables whose counters were lost have their turn within this time. */
#define LOST_SPREAD_MS		(10 * 60 * 1000)

void
turn_set(Candidate *c, TimestampTz history_begins, TimestampTz now)
{
	c->weight.turn_at = clock_after(history_begins,
									garbage_turn_ms(c->key.dboid, c->key.relid, c->row.pages, LOST_SPREAD_MS));
	c->weight.turn_to_come = c->weight.turn_at > now;
}

/* Was the table put off when it had its turn, to be done once it can be? */
static bool
is_put_off(const Decision *d)
{
	return d->kind == DECISION_LOCKED || d->kind == DECISION_CANCELLED ||
		d->kind == DECISION_FAILED || d->kind == DECISION_SNOOZED;
}

/*
 * Each table is looked at once, by the first visit after its turn.  So what
 * is found in order need not be remembered.  Another visit may have ended
 * since this one found the table due.  That one has left it to this one.
 */
bool
turn_is_now(const Candidate *c, TimestampTz now, TimestampTz looked_at)
{
	if (!c->counters.history_lost || now < c->weight.turn_at)
		return false;
	return c->weight.turn_at > looked_at || c->weight.due == DUE_UNKNOWN ||
		(c->decision && (is_put_off(c->decision) || c->decision->kind == DECISION_OBSERVED));
}

/* It is due by what was carried over, and was put off. */
static bool
comes_by_carried(const Candidate *c, TimestampTz *at)
{
	PgStat_StatTabEntry stats;
	Decision	d;

	if (!c->carried.on || !decision_get(c->key, &d) || d.not_before == 0 ||
		carry_share((double) c->counters.dead, d.dead_threshold, (double) c->counters.ins, d.ins_threshold) <= 1)
		return false;
	/* a vacuum since has ended it */
	if (table_stats_read(c->key.dboid, c->key.relid, &stats) && compat_tab_vacuums(&stats) != c->carried.vacuums)
		return false;
	*at = d.not_before;
	return true;
}

bool
turn_comes(const Candidate *c, TimestampTz *at)
{
	Decision	d;

	if (comes_by_carried(c, at))
		return true;
	/* no counter that the scout sees tells that it is old, or what is lost */
	if ((c->weight.age_due || c->weight.due == DUE_LOST_READS) && decision_get(c->key, &d) &&
		d.not_before > clock_now())
	{
		*at = d.not_before;
		return true;
	}
	if (!c->counters.history_lost)
		return false;

	/*
	 * goes by the time when it was weighed: the turn may have come and gone
	 * since
	 */
	if (c->weight.turn_to_come)
	{
		*at = c->weight.turn_at;
		return true;
	}
	/* it was its turn, and something was decided since */
	if ((c->weight.due == DUE_UNKNOWN || c->weight.uncounted) && decision_get(c->key, &d) && is_put_off(&d))
	{
		*at = d.not_before;
		return true;
	}
	return false;
}
