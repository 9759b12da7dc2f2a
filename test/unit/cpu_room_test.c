/*
 * cpu_room_test.c
 *		policy/cpu_room: four fifths of the quota less what others use, over a
 *		second or so, and a fifth of a processor at least.
 */
#include "cpu_room.h"
#include "tap.h"

/* Steps of a quarter of a second.  Returns what vacuums may use at the end. */
static double
steps(CpuRoom *room, int n, double others_pct, double vacuums_pct)
{
	static double now_ms = 1e9;
	static double used_ms = 0;
	double		left = -1;

	for (int i = 0; i < n; i++)
	{
		now_ms += 250;
		used_ms += 2.5 * (others_pct + vacuums_pct);
		left = cpu_room_step(room, used_ms, vacuums_pct, now_ms);
	}
	return left;
}

int
main(void)
{
	CpuRoom		room = {.quota = 2};

	tap_is_double(steps(&room, 1, 100, 0), 160, "nothing is known", "of two processors");
	tap_is_double(round(steps(&room, 40, 0, 60)), 160, "nobody else", "all but a fifth");
	tap_is_double(round(steps(&room, 40, 100, 60)), 60, "users need one", "the rest");
	tap_ok(steps(&room, 2, 150, 60) > 20, "a burst of users", "is not believed at once");
	tap_is_double(round(steps(&room, 40, 200, 20)), 20, "users need all", "a fifth of one");
	tap_is_double(cpu_room_step(&room, -1, 0, 2e9), 20, "it is not told any more", "as before");
	tap_is_double(cpu_room_step(&room, 1000, 0, 2e9), 20, "told again", "as before");
	tap_is_double(cpu_room_step(&room, 500, 0, 2e9 + 250), 20, "the counter went back", "as before");
	tap_is_double(cpu_room_step(&room, 600, 0, 2e9), 20, "the clock went back", "as before");
	/* the governor has slept for a minute */
	tap_is_double(round(cpu_room_step(&room, 600 + 30000, 0, 2e9 + 60000)), 110, "after a minute", "its mean counts");
	room = (CpuRoom)
	{
		.quota = 0.5
	};
	tap_is_double(round(steps(&room, 40, 50, 10)), 10, "half a processor, used up", "a fifth of it");
	return tap_done();
}
