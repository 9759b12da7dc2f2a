/*
 * policy/readahead.c
 *		May the kernel read ahead of a vacuum?  Pure.
 *
 * The kernel reads ahead of whoever reads a file from its beginning to its
 * end.  It reads as much at once as the device is set to.  That is 128 kB by
 * itself, and 4 or 8 MB on many machines.  On a slow device everybody who
 * wants a page waits until all of that is there.  No rate that a vacuum
 * is slowed to changes that.  A low one only makes it rarer.
 *
 * A device has at least the bandwidth that the vacuum is allowed.  So what is
 * read ahead takes no longer than it would at that rate.  Where this is a
 * short time nobody notices.  Below that rate a vacuum does without, as long
 * as it keeps up.  Where each read takes long, it cannot go far without.
 */
#include "readahead.h"

#include <math.h>

/* a wait that is lost among those of a slow device's own */
#define STALL_S			0.05
/* nobody limits it: not just because nobody has seen it yet */
#define ANY_S			1.0
/* so long without having to sleep, though slower than allowed: it is the reads */
#define WANTS_S			1.0
#define KEEPS_UP		0.75
/* below this share of what it reached without, it does without again */
#define AGAIN			0.8
/* the device may be another one by then, or have other users */
#define FORGET_S		120.0

bool
readahead_step(ReadaheadState *state, const ReadaheadStep *step)
{
	bool		slow = !step->naps && step->used < step->allowed * KEEPS_UP;
	bool		harmless;

	state->any_s = step->allowed > 0 ? 0 : state->any_s + step->dt_s;
	harmless = step->window <= READAHEAD_HARMLESS || state->any_s > ANY_S ||
		(step->allowed > 0 && step->allowed * STALL_S >= step->window);
	state->reached_s += step->dt_s;
	if (state->reached_s > FORGET_S)
		state->reached = 0;
	state->wants_s = state->off && slow ? state->wants_s + step->dt_s : 0;
	if (state->wants_s >= WANTS_S)
	{
		state->reached = fmax(step->used, 1);
		state->reached_s = 0;
	}
	state->off = !harmless && (state->reached <= 0 || step->allowed < state->reached * AGAIN);
	return state->off;
}
