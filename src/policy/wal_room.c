/*
 * policy/wal_room.c
 *		Is the file system of WAL nearly full?  Pure.
 *
 * When it is full the server stops.  The last of it is for users.
 */
#include "wal_room.h"

#define LEAST_SHARE		0.05
#define LEAST_SEGMENTS	4
#define MOST_SEGMENTS	64		/* 5 % of a large one is more than enough */

bool
wal_room_is_short(double left, double size, double segment, bool was_short)
{
	double		least = LEAST_SHARE * size;

	if (least > MOST_SEGMENTS * segment)
		least = MOST_SEGMENTS * segment;
	if (least < LEAST_SEGMENTS * segment)
		least = LEAST_SEGMENTS * segment;
	return left < (was_short ? 2 * least : least);
}
