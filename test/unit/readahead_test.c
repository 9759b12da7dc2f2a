/*
 * readahead_test.c
 *		policy/readahead.  Expected follows from the rule: nobody waits 50 ms for what
 *		is read ahead, and a vacuum that is slow for want of it has it back.
 */
#include "readahead.h"
#include "tap.h"

#define MB	(1024 * 1024.0)

static const struct
{
	const char *name;
	double		window;
	double		allowed;
	bool		off;
}			firsts[] = {
	{"the kernel's own 128 kB are never in the way", 128 * 1024, 1 * MB, false},
	{"nor are 256 kB", 256 * 1024, 1 * MB, false},
	{"8 MB at 4 MB/s are", 8 * MB, 4 * MB, true},
	{"8 MB at 159 MB/s are: 50.3 ms", 8 * MB, 159 * MB, true},
	{"8 MB at 160 MB/s are not", 8 * MB, 160 * MB, false},
	{"512 kB at 4 MB/s are: 128 ms", 512 * 1024, 4 * MB, true},
	{"512 kB at 10 MB/s are not", 512 * 1024, 10 * MB, false},
	{"nothing limits, but it has just begun", 8 * MB, 0, true},
	{"a device that nothing is known of", 0, 4 * MB, false},
};

/* Steps of a quarter of a second.  True when it is off after the last. */
static bool
steps(ReadaheadState *state, double seconds, double allowed, double used, bool naps)
{
	ReadaheadStep step = {0.25, 8 * MB, allowed, used, naps};
	bool		off = state->off;

	for (double s = 0; s < seconds; s += 0.25)
		off = readahead_step(state, &step);
	return off;
}

static void
keeps_up(void)
{
	ReadaheadState state = {0};

	tap_is_bool(steps(&state, 60, 4 * MB, 4 * MB, true), true, "it keeps up", "for ever");
	tap_is_bool(steps(&state, 60, 40 * MB, 38 * MB, false), true, "it hardly keeps up", "for ever");
	tap_is_bool(steps(&state, 60, 40 * MB, 10 * MB, true), true,
				"slow because it sleeps", "that is no reason");
}

static void
does_not(void)
{
	ReadaheadState state = {0};

	tap_is_bool(steps(&state, 0.75, 40 * MB, 10 * MB, false), true,
				"it does not keep up", "it may be chance");
	tap_is_bool(steps(&state, 1, 40 * MB, 10 * MB, false), false,
				"it does not keep up", "for a second");
	tap_is_bool(steps(&state, 30, 20 * MB, 20 * MB, true), false,
				"it has it back", "as long as more is allowed than it reached without");
	tap_is_bool(steps(&state, 1, 9 * MB, 9 * MB, true), false,
				"it has it back", "just below as well");
	tap_is_bool(steps(&state, 0.25, 7 * MB, 9 * MB, true), true, "it would keep up now", "off at once");
	tap_is_bool(steps(&state, 10, 20 * MB, 20 * MB, true), false, "it would not again", "on at once");
	tap_is_bool(steps(&state, 120, 20 * MB, 20 * MB, true), true,
				"two minutes later", "it is tried anew");
}

static void
unlimited(void)
{
	ReadaheadState state = {0};

	tap_is_bool(steps(&state, 1, 0, 90 * MB, false), true, "nothing limits", "for a second");
	tap_is_bool(steps(&state, 0.25, 0, 90 * MB, false), false, "nothing limits", "for longer");
	tap_is_bool(steps(&state, 0.25, 4 * MB, 90 * MB, true), true, "nothing limits", "any more");
}

static void
interrupted(void)
{
	ReadaheadState state = {0};

	for (int i = 0; i < 20; i++)
	{
		steps(&state, 0.75, 40 * MB, 10 * MB, false);
		steps(&state, 0.25, 40 * MB, 40 * MB, false);
	}
	tap_is_bool(state.off, true, "slow now and then", "no reason");
	steps(&state, 2, 40 * MB, 0, false);
	tap_is_bool(state.off, false, "it stands still without sleeping", "its reads are that slow");
	tap_is_bool(steps(&state, 1, 4 * MB, 4 * MB, true), false,
				"it reached nothing without", "it is not tried again soon");
}

int
main(void)
{
	for (size_t i = 0; i < lengthof(firsts); i++)
	{
		ReadaheadState state = {0};
		ReadaheadStep step = {0.25, firsts[i].window, firsts[i].allowed, firsts[i].allowed, true};

		tap_is_bool(readahead_step(&state, &step), firsts[i].off, firsts[i].name, "");
	}
	keeps_up();
	does_not();
	unlimited();
	interrupted();
	return tap_done();
}
