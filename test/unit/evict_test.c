/*
 * evict_test.c
 *		policy/evict.  Expected is the rule itself: what costs least to lose goes
 *		first, and nothing in force goes for what matters as little.
 */
#include <limits.h>

#include "evict.h"
#include "tap.h"

static const struct
{
	const char *name;
	EvictClass	first;
	int64_t		first_seconds;
	EvictClass	second;
	int64_t		second_seconds;
}			orders[] = {
	{"the older of two idle ones", EVICT_IDLE, 4000, EVICT_IDLE, 60},
	{"the older of two that are known", EVICT_KNOWN, 4000, EVICT_KNOWN, 60},
	{"a new idle one before an old one that is known", EVICT_IDLE, 0, EVICT_KNOWN, 1000000},
	{"what has waited before what waits", EVICT_KNOWN, 0, EVICT_LOOK, 1},
	{"a look in vain before a vacuum too early", EVICT_LOOK, 600, EVICT_WAIT, 1},
	{"what has the least time left to wait", EVICT_WAIT, 2, EVICT_WAIT, 600},
	{"what waits before a user's word", EVICT_WAIT, INT64_MAX, EVICT_NEVER, 0},
	{"a clock that was set back is no age", EVICT_IDLE, 60, EVICT_IDLE, -5},
};

typedef struct Some
{
	EvictClass	class;
	int64_t		seconds;
	int			count;
} Some;

static const struct
{
	const char *name;
	Some		some[3];
	EvictClass	newcomer;
	int			wanted;
	int			expected;		/* that go */
}			cases[] = {
	{"nothing is there", {{EVICT_IDLE, 0, 0}}, EVICT_WAIT, 1, 0},
	{"idle ones are enough", {{EVICT_IDLE, 60, 100}, {EVICT_KNOWN, 60, 100}}, EVICT_WAIT, 10, 100},
	{"of the idle ones the older", {{EVICT_IDLE, 60, 100}, {EVICT_IDLE, 6000, 20}}, EVICT_WAIT, 10, 20},
	{"not enough: the next", {{EVICT_IDLE, 60, 5}, {EVICT_KNOWN, 60, 50}}, EVICT_WAIT, 10, 55},
	{"an idle one replaces an idle one", {{EVICT_IDLE, 60, 50}}, EVICT_IDLE, 10, 50},
	{"and one that is known", {{EVICT_KNOWN, 60, 50}}, EVICT_IDLE, 10, 50},
	{"but nothing in force", {{EVICT_LOOK, 60, 50}, {EVICT_WAIT, 60, 50}}, EVICT_IDLE, 10, 0},
	{"a look in vain replaces none of its like", {{EVICT_LOOK, 60, 50}}, EVICT_LOOK, 10, 0},
	{"a wait replaces looks in vain", {{EVICT_LOOK, 60, 50}, {EVICT_WAIT, 60, 50}}, EVICT_WAIT, 10, 50},
	{"a user's word replaces waits", {{EVICT_WAIT, 60, 50}, {EVICT_NEVER, 0, 50}}, EVICT_NEVER, 10, 50},
	{"a user's word is never replaced", {{EVICT_NEVER, 0, 50}}, EVICT_NEVER, 10, 0},
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(orders); i++)
		tap_is_int(evict_rank(orders[i].first, orders[i].first_seconds) <
				   evict_rank(orders[i].second, orders[i].second_seconds), 1, orders[i].name, "");
	for (EvictClass class = EVICT_IDLE; class < EVICT_CLASSES; class++)
	{
		tap_is_int(evict_rank(class, 0) / EVICT_AGES, class, "the class, of age 0", "");
		tap_is_int(evict_rank(class, INT64_MAX) / EVICT_AGES, class, "the class, of any age", "");
	}
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		int			counts[EVICT_RANKS] = {0};
		int			below;
		int			gone = 0;

		for (size_t j = 0; j < lengthof(cases[i].some); j++)
			counts[evict_rank(cases[i].some[j].class, cases[i].some[j].seconds)] += cases[i].some[j].count;
		below = evict_below(counts, cases[i].newcomer, cases[i].wanted);
		for (int rank = 0; rank < below; rank++)
			gone += counts[rank];
		tap_is_int(gone, cases[i].expected, cases[i].name, "");
	}
	return tap_done();
}
