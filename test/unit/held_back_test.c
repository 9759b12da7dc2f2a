/*
 * held_back_test.c
 *		policy/held_back.  Expected are the rows that died before the horizon, in
 *		arrangements where that is known, and what follows from that.
 */
#include "held_back.h"
#include "tap.h"

static const struct
{
	const char *name;
	HeldBack	h;
	double		removable;
	double		threshold;
	bool		worth;
}			cases[] = {

	/* from, start, horizon, next, enough_at, not_removable, since */
	{"an old snapshot holds everything", {1000, 9000, 1000, 9000, 0, 5000, 0}, 0, 50, false},
	{"still, and much has died since", {1000, 9000, 1000, 900000, 20000, 5000, 1000000}, 0, 50, false},
	{"it has ended", {1000, 9000, 20000, 20000, 0, 5000, 2000}, 7000, 50, true},
	{"it has ended, and there is little", {1000, 9000, 20000, 20000, 0, 30, 10}, 40, 50, false},
	{"one row only was needed: nothing to do at that vacuum's start", {8999, 9000, 9000, 20000, 0, 1, 2000}, 1, 50, false},
	{"nor with the horizon a little further", {8999, 9000, 9500, 20000, 0, 1, 1000}, 1 + 1000 * (500.0 / 11000), 50, false},
	{"but when enough have died before it", {8999, 9000, 11200, 20000, 0, 1, 1000}, 201, 50, true},

	/* overlapping transactions: half of what is dead could go */
	{"the horizon has moved halfway to that start", {1000, 9000, 5000, 10000, 0, 4000, 500}, 2000, 50, true},
	{"a hundredth of it", {1000, 9000, 1080, 10000, 0, 4000, 500}, 40, 50, false},
	{"more than the threshold, but hardly any of all", {1000, 9000, 1400, 10000, 0, 40000, 5000}, 2000, 50, false},
	{"a tenth of all", {1000, 9000, 2100, 10000, 0, 40000, 5000}, 5500, 50, true},

	/* what is known counts, where the spread was taken for even and was not */
	{"all died at once after it, a snapshot came right behind", {9000, 9000, 9100, 900000, 9100, 0, 5000}, 5000 * (100.0 / 891000), 50, true},
	{"that snapshot is a little older", {9000, 9000, 9099, 900000, 9100, 0, 5000}, 5000 * (99.0 / 891000), 50, false},

	{"no transaction in between", {9000, 9000, 9000, 9000, 0, 100, 0}, 100, 50, true},
	{"the horizon was read later than the next transaction", {9001, 9000, 8999, 9002, 0, 100, 0}, 0, 50, false},
	{"nothing is dead", {1000, 9000, 9000, 9000, 0, 0, 0}, 0, 0, false},
	{"beyond 32 bits", {UINT64_C(5000000000), UINT64_C(9000000000), UINT64_C(7000000000), UINT64_C(9000000000), 0, 4000, 0}, 2000, 50, true},
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		tap_is_double(held_back_removable(&cases[i].h), cases[i].removable, cases[i].name, "rows");
		tap_is_bool(held_back_is_worth(&cases[i].h, cases[i].threshold), cases[i].worth, cases[i].name, "worth it");
	}
	tap_is_double(held_back_enough(50, 100), 50, "the threshold", "");
	tap_is_double(held_back_enough(50, 1000), 100, "or a tenth of all", "");
	return tap_done();
}
