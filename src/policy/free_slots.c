/*
 * policy/free_slots.c
 *		How many background workers are left to others.  Pure.
 *
 * Replication and users come first.  What they want is not begun for
 * vacuums, as far as there is any: max_worker_processes may be less than both
 * may want together.
 */
#include "free_slots.h"

/* A new subscription copies its tables with two workers beside its own. */
#define WORKERS_PER_SUBSCRIPTION	3

static int
at_least_0(int n)
{
	return n > 0 ? n : 0;
}

int
free_slots_wanted(const FreeSlots *s)
{
	int			logical = s->subscriptions * WORKERS_PER_SUBSCRIPTION;
	int			parallel = s->in_parallel ? s->max_parallel : 0;

	if (logical > s->max_logical)
		logical = s->max_logical;
	return at_least_0(logical - s->logical) + at_least_0(parallel - s->parallel);
}

int
free_slots_spare(const FreeSlots *s, int most_ours)
{
	return at_least_0(s->free - free_slots_wanted(s) - at_least_0(most_ours - s->ours));
}

bool
free_slots_let_begin(const FreeSlots *s)
{
	if (s->free <= 0)
		return false;
	return s->ours == 0 || s->free - 1 >= free_slots_wanted(s);
}

bool
free_slots_are_short(const FreeSlots *s)
{
	return s->free < free_slots_wanted(s) || s->free <= 0;
}
