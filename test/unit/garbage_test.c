/*
 * garbage_test.c
 *		policy/garbage: the guess is a share of the rows, and the turns are
 *		even.
 */
#include "garbage.h"
#include "tap.h"

#define WHOLE	600000
#define LARGE	GARBAGE_OWN_TURN_PAGES

static void
test_turns(void)
{
	int			quarters[4] = {0};
	bool		inside = true;

	/* as a database would have them: neighbouring OIDs */
	for (uint32_t relid = 16384; relid < 16384 + 1000; relid++)
	{
		int64_t		turn = garbage_turn_ms(5, relid, LARGE, WHOLE);

		inside = inside && turn >= 0 && turn < WHOLE;
		quarters[turn / (WHOLE / 4) & 3]++;
	}
	tap_is_bool(inside, true, "turns", "within the time");
	for (int i = 0; i < 4; i++)
		tap_is_bool(quarters[i] > 200 && quarters[i] < 300, true, "turns", "a quarter in each quarter");
	tap_is_bool(garbage_turn_ms(5, 16384, LARGE, WHOLE) == garbage_turn_ms(5, 16384, LARGE, WHOLE), true,
				"turns", "always the same");
	tap_is_bool(garbage_turn_ms(5, 16384, LARGE, WHOLE) != garbage_turn_ms(6, 16384, LARGE, WHOLE), true,
				"turns", "another in another database");
	tap_is_int(garbage_turn_ms(5, 16384, LARGE - 1, WHOLE), garbage_turn_ms(5, 16385, 0, WHOLE),
			   "turns", "small ones of a database together");
	tap_is_int(garbage_turn_ms(5, 16384, 0, WHOLE), garbage_turn_ms(5, 0, 0, WHOLE),
			   "turns", "which is the database's");
	tap_is_bool(garbage_turn_ms(5, 16384, 0, WHOLE) != garbage_turn_ms(6, 16384, 0, WHOLE), true,
				"turns", "small ones of another database at another time");
	tap_is_int(garbage_turn_ms(5, 16384, LARGE, 0), 0, "turns", "no time: at once");
}

int
main(void)
{
	tap_is_double(garbage_guess(1000, 100, 75), 250, "guess", "a quarter is not all-visible");
	tap_is_double(garbage_guess(1000, 100, 100), 0, "guess", "all is");
	tap_is_double(garbage_guess(1000, 100, 120), 0, "guess", "more than there is");
	tap_is_double(garbage_guess(-1, 100, 0), 0, "guess", "never counted");
	tap_is_double(garbage_guess(1000, 0, 0), 0, "guess", "empty");
	test_turns();
	return tap_done();
}
