/*
 * free_slots_test.c
 *		policy/free_slots: what is left to replication and to parallel queries.
 */
#include "free_slots.h"
#include "tap.h"

static const struct
{
	const char *name;
	FreeSlots	s;
	int			wanted;
	int			spare;			/* where three of ours may run */
	bool		begin;
	bool		short_of;
}			cases[] = {

	/* free, ours, subscriptions, logical, max, in_parallel, parallel, max */
	{"nobody else wants any", {5, 0, 0, 0, 4, false, 0, 8}, 0, 2, true, false},
	{"a second one", {4, 1, 0, 0, 4, false, 0, 8}, 0, 2, true, false},
	{"the last slot", {1, 2, 0, 0, 4, false, 0, 8}, 0, 0, true, false},
	{"no slot", {0, 2, 0, 0, 4, false, 0, 8}, 0, 0, false, true},
	{"no slot, and none of ours", {0, 0, 0, 0, 4, false, 0, 8}, 0, 0, false, true},
	{"subscriptions: the first worker begins", {5, 0, 4, 0, 4, false, 0, 8}, 4, 0, true, false},
	{"the second would take one of theirs", {4, 1, 4, 0, 4, false, 0, 8}, 4, 0, false, false},
	{"they have begun", {4, 1, 4, 4, 4, false, 0, 8}, 0, 2, true, false},
	{"one wants three, for its tables", {5, 1, 1, 0, 4, false, 0, 8}, 3, 0, true, false},
	{"it has one", {4, 1, 1, 1, 4, false, 0, 8}, 2, 0, true, false},
	{"too few for them", {3, 1, 4, 0, 4, false, 0, 8}, 4, 0, false, true},
	{"queries run in parallel", {5, 1, 0, 0, 4, true, 0, 8}, 8, 0, false, true},
	{"the first one begins beside them", {5, 0, 0, 0, 4, true, 0, 8}, 8, 0, true, true},
	{"they have what they may have", {5, 1, 0, 0, 4, true, 8, 8}, 0, 3, true, false},
	{"both", {20, 1, 4, 2, 4, true, 3, 8}, 7, 11, true, false},
	{"as many as both want", {7, 1, 4, 2, 4, true, 3, 8}, 7, 0, false, false},
	{"more than allowed run", {2, 1, 1, 5, 4, true, 9, 8}, 0, 0, true, false},
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		tap_is_int(free_slots_wanted(&cases[i].s), cases[i].wanted, cases[i].name, "wanted");
		tap_is_int(free_slots_spare(&cases[i].s, 3), cases[i].spare, cases[i].name, "spare");
		tap_is_bool(free_slots_let_begin(&cases[i].s), cases[i].begin, cases[i].name, "one more begins");
		tap_is_bool(free_slots_are_short(&cases[i].s), cases[i].short_of, cases[i].name, "short");
	}
	return tap_done();
}
