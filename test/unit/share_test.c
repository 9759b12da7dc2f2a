/*
 * share_test.c
 *		policy/share.  The examples of max-min fairness can be done by hand:
 *		who wants less than its part gets that, the rest is divided.
 */
#include "share.h"
#include "tap.h"

#define ALL	(-1.0)

static const struct
{
	const char *name;
	double		total;
	int			n;
	ShareMember members[4];
	double		expected[4];
}			cases[] = {
	{"alone: everything", 100, 1, {{1, ALL}}, {100}},
	{"alone, and it uses little: everything", 100, 1, {{1, 5}}, {100}},
	{"two", 100, 2, {{1, ALL}, {1, ALL}}, {50, 50}},
	{"two, by weight", 100, 2, {{3, ALL}, {1, ALL}}, {75, 25}},
	{"one wants little", 100, 2, {{1, 10}, {1, ALL}}, {10, 90}},
	{"one wants exactly its part", 100, 2, {{1, 50}, {1, ALL}}, {50, 50}},
	{"one wants more than its part", 100, 2, {{1, 80}, {1, ALL}}, {50, 50}},
	{"one wants nothing", 100, 2, {{1, 0}, {1, ALL}}, {0, 100}},

	/* 10 goes first, then 30 < 90/3 does not, so all the others get 30 */
	{"the rest is divided again", 100, 4, {{1, 10}, {1, 30}, {1, ALL}, {1, ALL}}, {10, 30, 30, 30}},
	/* fair is 25: 10 and 20 go, and the others divide 70 */
	{"two want little", 100, 4, {{1, 10}, {1, 20}, {1, ALL}, {1, ALL}}, {10, 20, 35, 35}},

	/*
	 * fair is 25: 10 goes, then 28 as well, because 90/3 = 30 > 28, and the
	 * others get 31 each
	 */
	{"one wants less than its second part only", 100, 4, {{1, 10}, {1, 28}, {1, ALL}, {1, ALL}}, {10, 28, 31, 31}},
	{"heavy, but wants little", 100, 2, {{4, 20}, {1, ALL}}, {20, 80}},
	{"nobody wants all: the rest by weight", 100, 2, {{3, 10}, {1, 10}}, {70, 30}},
	{"not limited", 0, 2, {{1, 10}, {1, ALL}}, {0, 0}},
	{"nobody", 100, 0, {{0, 0}}, {0}},
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		double		shares[4] = {0};

		share_divide(cases[i].total, cases[i].members, cases[i].n, shares);
		for (int j = 0; j < cases[i].n; j++)
		{
			char		what[32];

			snprintf(what, sizeof(what), "member %d", j);
			tap_is_double(shares[j], cases[i].expected[j], cases[i].name, what);
		}
		if (cases[i].n == 0)
			tap_is_double(shares[0], 0, cases[i].name, "nothing is written");
	}
	return tap_done();
}
