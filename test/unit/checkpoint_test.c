/*
 * checkpoint_test.c
 *		policy/checkpoint: by the clock, by the WAL, whichever comes first.
 */
#include "checkpoint.h"
#include "tap.h"

#define MB (1024.0 * 1024)

static const struct
{
	const char *name;
	CheckpointState state;
	int64_t		expected;
}			cases[] = {
	{"just begun, no WAL", {0, 300000, 0, 1024 * MB, 0}, 300000},
	{"a minute ago", {60000, 300000, 0, 1024 * MB, 0}, 240000},
	{"due now: the next one", {300000, 300000, 0, 1024 * MB, 0}, 300000},
	{"one was skipped, nothing was written", {420000, 300000, 0, 1024 * MB, 0}, 180000},
	{"half the WAL left, 1 MB/ms", {1000, 300000, 512 * MB, 1024 * MB, MB}, 512},
	{"WAL left for longer than the clock", {1000, 300000, 512 * MB, 1024 * MB, MB / 1000}, 299000},
	{"WAL used up", {1000, 300000, 1024 * MB, 1024 * MB, MB}, 0},
	{"WAL used up, nothing written now", {1000, 300000, 2048 * MB, 1024 * MB, 0}, 0},
	{"the clock went back", {-5000, 300000, 0, 1024 * MB, 0}, 300000},
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(cases); i++)
		tap_is_int(checkpoint_ms_ahead(&cases[i].state), cases[i].expected, cases[i].name, "");
	return tap_done();
}
