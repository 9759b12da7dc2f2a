/*
 * busiest_test.c
 *		policy/busiest: what costs most and what changes most both have a place.
 */
#include "busiest.h"
#include "tap.h"

#define MOST	6

static const struct
{
	const char *name;
	BusiestTable tables[MOST];	/* id 0 ends them */
	int			limit;
	int			chosen[MOST];	/* in this order, 0 ends them */
}			cases[] = {
	{"none", {{0}}, 4, {0}},
	{"room for all: by cost", {{1, 9, 1}, {3, 0, 2}, {2, 5, 3}}, 4, {2, 3, 1}},
	{"half by cost, half by change", {{9, 0, 1}, {8, 0, 2}, {7, 0, 3}, {6, 1, 4}, {5, 2, 5}, {4, 0, 6}}, 4, {1, 2, 5, 4}},
	{"what both costs and changes most needs one place", {{9, 90, 1}, {8, 80, 2}, {1, 7, 3}, {1, 6, 4}, {1, 5, 5}}, 4, {1, 2, 3, 4}},
	{"nothing changed, or nobody knows: by cost", {{1, 0, 1}, {2, 0, 2}, {3, 0, 3}, {4, 0, 4}, {5, 0, 5}, {6, 0, 6}}, 4, {6, 5, 4, 3}},
	{"all are equal", {{1, 1, 3}, {1, 1, 2}, {1, 1, 1}}, 2, {1, 2}},
	{"one place: the one that changed most", {{9, 1, 1}, {8, 2, 2}}, 1, {2}},
	{"no place", {{9, 1, 1}}, 0, {0}},
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		BusiestTable tables[MOST];
		int			count = 0;
		int			expected = 0;
		int			n;
		bool		same = true;

		while (count < MOST && cases[i].tables[count].id != 0)
		{
			tables[count] = cases[i].tables[count];
			count++;
		}
		while (expected < MOST && cases[i].chosen[expected] != 0)
			expected++;
		n = busiest_choose(tables, count, cases[i].limit);
		tap_is_int(n, expected, cases[i].name, "how many");
		for (int j = 0; j < n && j < expected; j++)
			same = same && tables[j].id == cases[i].chosen[j];
		tap_is_bool(same, true, cases[i].name, "which");
	}
	return tap_done();
}
