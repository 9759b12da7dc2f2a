/*
 * spacing_test.c
 *		policy/spacing: vacuums begin together with autovacuum's, or once
 *		in its naptime.
 */
#include "spacing.h"
#include "tap.h"

#define MINUTE	(60 * 1000)
#define NOW		(INT64_C(1000) * MINUTE + 30 * 1000)	/* amid a minute */

static const struct
{
	const char *name;
	int64_t		now;
	int64_t		came;
	int64_t		look;
	bool		expected;
}			cases[] = {
	{"it has just come", NOW, NOW, 1000, true},
	{"a look and a start ago", NOW, NOW - 1500, 1000, true},
	{"more than that", NOW, NOW - 1501, 1000, false},
	{"half a minute ago", NOW, NOW - MINUTE / 2, 1000, false},
	{"it is about to come", NOW, NOW - MINUTE, 1000, false},
	{"it is late", NOW, NOW - 95 * 1000, 1000, false},
	{"late, at the full minute", NOW + MINUTE / 2, NOW - MINUTE / 2, 1000, false},
	{"it does not come, amid a minute", NOW, NOW - 95 * 1000 - 1, 1000, false},
	{"it does not come, at the full minute", NOW + MINUTE / 2, NOW - 95 * 1000, 1000, true},
	{"never came, amid a minute", NOW, 0, 1000, false},
	{"never came, at the full minute", NOW + MINUTE / 2, 0, 1000, true},
	{"never came, three seconds later", NOW + MINUTE / 2 + 3000, 0, 1000, true},
	{"never came, after that", NOW + MINUTE / 2 + 3001, 0, 1000, false},
	{"comes from the future: the clock was set back", NOW, NOW + 1, 1000, false},
	{"from the future, at the full minute", NOW + MINUTE / 2, NOW + MINUTE, 1000, true},
	{"a look of ten seconds", NOW, NOW - 10500, 10000, true},
	{"more than one", NOW, NOW - 10501, 10000, false},
	{"never came, two looks of ten seconds", NOW + MINUTE / 2 + 20 * 1000, 0, 10000, true},
	{"never came, more than two", NOW + MINUTE / 2 + 20 * 1000 + 1, 0, 10000, false},
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		SpacingMoment m = {cases[i].now, cases[i].came, MINUTE, cases[i].look};

		tap_is_bool(spacing_lets_begin(&m), cases[i].expected, cases[i].name, "");
	}
	return tap_done();
}
