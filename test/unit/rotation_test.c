/*
 * rotation_test.c
 *		policy/rotation: what is behind the clock hand comes first, nothing is
 *		looked at twice in a pass, and passes come to everything.
 */
#include "rotation.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define MOST_BUFFERS	40

typedef struct Pass
{
	int			order[2 * MOST_BUFFERS];
	int			times[MOST_BUFFERS];
	int			count;
	int			end;			/* where the next one goes on */
} Pass;

/* leave_after: the first half is left when so many are seen (-1: it is not) */
static Pass
run(int buffers, int wanted, int hand, int last_end, int most, int leave_after)
{
	Rotation	r = rotation_begin(buffers, wanted, hand, last_end);
	Pass		pass;
	int			first;
	int			count;

	memset(&pass, 0, sizeof(pass));
	while ((count = rotation_next(&r, most, &first)) > 0 && pass.count < MOST_BUFFERS)
	{
		for (int i = first; i < first + count; i++)
		{
			if (i < 0 || i >= buffers)
				abort();
			pass.order[pass.count++] = i;
			pass.times[i]++;
		}
		if (leave_after >= 0 && pass.count >= leave_after)
			rotation_leave_hand(&r);
	}
	pass.end = r.at;
	return pass;
}

static bool
each_once(const Pass *pass, int buffers)
{
	for (int i = 0; i < buffers; i++)
		if (pass->times[i] > 1)
			return false;
	return true;
}

static void
test_examples(void)
{
	Pass		pass = run(10, 10, 7, 0, 3, -1);

	tap_ok(pass.order[0] == 7 && pass.order[4] == 1, "a whole cache: from the hand on, and round", "");
	tap_is_int(pass.count, 10, "all of it", "");
	pass = run(20, 6, 7, 0, 2, -1);
	tap_ok(pass.order[0] == 7 && pass.order[2] == 9 && pass.order[3] == 0 && pass.order[5] == 2,
		   "a part of it: half at the hand, half where the last has ended", "");
	tap_is_int(pass.end, 3, "where the next one goes on", "");
	pass = run(20, 6, 7, 8, 2, -1);
	tap_is_int(pass.order[3], 10, "what was seen at the hand is passed over", "");
	pass = run(20, 6, 7, 6, 6, -1);
	tap_ok(pass.order[3] == 6 && pass.order[4] == 10, "also in the middle", "");
	pass = run(20, 8, 7, 0, 2, 2);
	tap_ok(pass.order[1] == 8 && pass.order[2] == 0 && pass.count == 8, "the hand is left", "");
	pass = run(10, 1, 7, 3, 5, -1);
	tap_ok(pass.count == 1 && pass.order[0] == 3, "one buffer only", "");
	pass = run(10, 0, 7, 3, 5, -1);
	tap_is_int(pass.count, 0, "none", "");
}

static void
test_everything(void)
{
	int			wrong = 0;

	for (int buffers = 1; buffers <= 12; buffers++)
		for (int wanted = 0; wanted <= buffers + 1; wanted++)
			for (int hand = 0; hand < 2 * buffers; hand++)
				for (int last = 0; last < 2 * buffers; last++)
					for (int most = 1; most <= buffers; most += 2)
						for (int leave = -1; leave <= wanted; leave++)
						{
							Pass		pass = run(buffers, wanted, hand, last, most, leave);

							if (pass.count != (wanted < buffers ? wanted : buffers) || !each_once(&pass, buffers))
								wrong++;
						}
	tap_is_int(wrong, 0, "each pass sees as many as wanted, none twice", "");
}

/* The hand stands still: whatever it is, all is seen after some passes. */
static void
test_still_hand(void)
{
	int			unseen = 0;

	for (int buffers = 2; buffers <= MOST_BUFFERS; buffers++)
		for (int wanted = 2; wanted <= buffers; wanted++)
		{
			int			times[MOST_BUFFERS] = {0};
			int			end = 0;

			/* at least half of what is wanted is new in each */
			for (int passes = 0; passes < buffers / (wanted / 2) + 2; passes++)
			{
				Pass		pass = run(buffers, wanted, buffers / 3, end, 3, -1);

				end = pass.end;
				for (int i = 0; i < buffers; i++)
					times[i] += pass.times[i];
			}
			for (int i = 0; i < buffers; i++)
				if (times[i] == 0)
					unseen++;
		}
	tap_is_int(unseen, 0, "a hand that stands still: all is seen all the same", "");
}

int
main(void)
{
	test_examples();
	test_everything();
	test_still_hand();
	return tap_done();
}
