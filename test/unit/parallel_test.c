/*
 * parallel_test.c
 *		policy/parallel: how many parallel workers a vacuum asks for.
 */
#include "parallel.h"
#include "tap.h"

static const struct
{
	const char *name;
	ParallelRoom room;
	int			workers;
}			cases[] = {

	/* large indexes, limit, spare, processors, load */
	{"all that the server allows", {10, 2, 8, 16, 0.5}, 2},
	{"one index is the leader's", {2, 8, 8, 16, 0.5}, 1},
	{"one large index", {1, 2, 8, 16, 0.5}, 0},
	{"no large index", {0, 2, 8, 16, 0.5}, 0},
	{"switched off", {10, 0, 8, 16, 0.5}, 0},
	{"few background workers are left", {10, 4, 1, 16, 0.5}, 1},
	{"too few are", {10, 4, -3, 16, 0.5}, 0},
	{"one processor is idle", {10, 4, 8, 4, 2.9}, 1},
	{"none is", {10, 4, 8, 4, 3.1}, 0},
	{"more want to run than can", {10, 4, 8, 4, 90}, 0},
	{"the load is not known", {10, 4, 8, 16, -1}, 0},
	{"two processors, idle", {10, 4, 8, 2, 0.1}, 1},
	{"one processor in all, idle", {10, 4, 8, 1, 0}, 0},
	{"a quota below two", {10, 4, 8, 1.9, 0}, 0},
	{"a quota of four, all but one are used", {10, 4, 8, 4, 3}, 1},
	{"a quota of two on a busy machine", {10, 4, 8, 2, 20}, 0},
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(cases); i++)
		tap_is_int(parallel_workers(&cases[i].room), cases[i].workers, cases[i].name, "workers");
	return tap_done();
}
