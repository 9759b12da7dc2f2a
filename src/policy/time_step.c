/*
 * policy/time_step.c
 *		Sums over the last hour and the last day.  Pure.
 */
#include "time_step.h"

int64_t
time_step_begin(int64_t at, int64_t length)
{
	int64_t		rest = at % length;

	return at - (rest < 0 ? rest + length : rest);
}

bool
time_step_is_within(int64_t begin, int64_t length, int64_t now, int64_t span)
{
	return begin != 0 && begin + length > now - span && begin <= now + length;
}

int64_t
time_step_since(int64_t known, int64_t length, int64_t now, int64_t span)
{
	int64_t		begin = time_step_begin(now - span, length);

	return known > begin ? known : begin;
}

int
time_step_for(const int64_t *begins, int count, int64_t begin)
{
	int			best = 0;

	for (int i = 0; i < count; i++)
	{
		if (begins[i] == begin)
			return i;
		if (begins[best] != 0 && (begins[i] == 0 || begins[i] < begins[best]))
			best = i;
	}
	return begins[best] == 0 || begins[best] < begin ? best : -1;
}

int
time_step_makes_room(const TimeStepPlace *places, int count, int64_t oldest)
{
	int			best = 0;

	for (int i = 0; i < count; i++)
	{
		if (places[i].begin == 0 || places[i].begin < oldest)
			return i;
		if (places[i].cost < places[best].cost)
			best = i;
	}
	return best;
}
