/*
 * policy/clean_plan.c
 *		Are a table's dead rows removed one by one, or are they left to a
 *		vacuum?  Pure.
 */
#include "clean_plan.h"

double
clean_threshold(double rows)
{
	double		threshold = CLEAN_LOOK_SCALE * rows;

	return threshold > CLEAN_LEAST_ROWS ? threshold : CLEAN_LEAST_ROWS;
}

bool
clean_is_slow(double dead_then, double dead, double seconds, double vacuum_at)
{
	if (dead >= vacuum_at)
		return false;
	return seconds > 0 && (dead - dead_then) * CLEAN_SLOW_S < (vacuum_at - dead) * seconds;
}
