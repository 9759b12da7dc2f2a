/*
 * policy/rotation.c
 *		In which order is a part of the cache looked at?  Pure.
 */
#include "rotation.h"

static int
lesser(int a, int b)
{
	return a < b ? a : b;
}

Rotation
rotation_begin(int buffers, int wanted, int hand, int last_end)
{
	Rotation	r = {0};

	r.buffers = buffers;
	r.left = lesser(wanted, buffers);
	r.first = hand % buffers;
	r.ahead = r.left / 2;
	r.at = last_end % buffers;
	return r;
}

/* Does the first half still go on? */
static bool
is_at_hand(const Rotation *r)
{
	return r->ahead > 0;
}

void
rotation_leave_hand(Rotation *r)
{
	r->ahead = 0;
}

/* Of the first half: it may go round the end of the cache. */
static int
next_at_hand(Rotation *r, int most, int *first)
{
	int			count;

	*first = (r->first + r->seen) % r->buffers;
	count = lesser(lesser(most, r->ahead), r->buffers - *first);
	r->seen += count;
	r->ahead -= count;
	r->left -= count;
	return count;
}

/* How far is it from here to there, going on and round? */
static int
distance(const Rotation *r, int from, int to)
{
	return (to - from + r->buffers) % r->buffers;
}

int
rotation_next(Rotation *r, int most, int *first)
{
	int			count;
	int			to_seen;

	*first = r->at;
	if (r->left == 0 || most <= 0)
		return 0;
	if (is_at_hand(r))
		return next_at_hand(r, most, first);
	if (distance(r, r->first, r->at) < r->seen)
		r->at = (r->first + r->seen) % r->buffers;
	*first = r->at;
	count = lesser(lesser(most, r->left), r->buffers - r->at);
	to_seen = distance(r, r->at, r->first);
	if (r->seen > 0 && to_seen > 0)
		count = lesser(count, to_seen);
	r->at = (r->at + count) % r->buffers;
	r->left -= count;
	return count;
}
