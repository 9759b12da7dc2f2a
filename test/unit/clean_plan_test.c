/*
 * clean_plan_test.c
 *		policy/clean_plan: when a table is looked at, and when it is left to a
 *		vacuum.
 */
#include "clean_plan.h"
#include "tap.h"

int
main(void)
{
	tap_is_double(clean_threshold(7e6), 700, "when", "a ten thousandth");
	tap_is_double(clean_threshold(1000), 50, "when", "but some rows at least");
	tap_is_double(clean_threshold(-1), 50, "when", "never counted");

	/* 0.5 % an hour of 7 million rows, vacuumed at a fifth */
	tap_is_bool(clean_is_slow(7000, 7583, 60, 1400050), true, "when", "it keeps its garbage for forty hours");
	tap_is_bool(clean_is_slow(7000, 30000, 60, 1400050), false, "when", "an hour is not long");
	tap_is_bool(clean_is_slow(7000, 7000, 60, 1400050), true, "when", "no more garbage comes");
	tap_is_bool(clean_is_slow(7000, 100, 60, 1400050), true, "when", "somebody has vacuumed it");
	tap_is_bool(clean_is_slow(7000, 7000, 0, 1400050), false, "when", "nobody knows yet");
	tap_is_bool(clean_is_slow(100, 100, 60, 50), false, "when", "the vacuum is due already");

	return tap_done();
}
