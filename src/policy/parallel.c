/*
 * policy/parallel.c
 *		How many parallel workers a vacuum asks for.  Pure.
 */
#include "parallel.h"

static int
lesser(int a, int b)
{
	return a < b ? a : b;
}

int
parallel_workers(const ParallelRoom *room)
{
	int			idle = room->load >= 0 ? (int) (room->processors - room->load) : 0;
	int			others = lesser(idle, (int) room->processors - 1);
	int			workers = lesser(lesser(room->large_indexes - 1, room->limit), lesser(room->spare, others));

	return workers > 0 ? workers : 0;
}
