/*
 * carry_test.c
 *		policy/carry: what is added to a table's counters after a loss, when a
 *		table is worth a new note, and how many notes there are.
 */
#include "carry.h"
#include "tap.h"

static void
test_add(void)
{
	CarryOver	over = {.on = true,.vacuums = 2,.analyzes = 1,.dead = 100,.ins = -30};
	CarryOver	off = {.dead = 100};
	int64_t		dead = 7;
	int64_t		ins = 40;

	carry_add(&over, 2, 1, &dead, &ins);
	tap_is_int(dead, 107, "add", "dead rows of before");
	tap_is_int(ins, 10, "add", "less than the counters say");
	carry_add(&over, 2, 1, &dead, &ins);
	tap_is_int(ins, 0, "add", "never below zero");
	dead = ins = 50;
	carry_add(&over, 2, 2, &dead, &ins);
	tap_is_int(dead, 50, "add", "ANALYZE has counted dead rows");
	tap_is_int(ins, 20, "add", "but not inserted ones");
	carry_add(&over, 3, 1, &dead, &ins);
	tap_is_int(dead + ins, 70, "add", "nothing after a vacuum");
	carry_add(&off, 0, 0, &dead, &ins);
	tap_is_int(dead, 50, "add", "nothing was carried over");
}

static void
test_take(void)
{
	CarryOver	none = {0};
	CarryOver	noted = {.on = true,.vacuums = 3,.analyzes = 0,.dead = 500,.ins = 5};
	CarryCounts then = {.vacuums = 9,.analyzes = 4,.dead = 1000,.ins = 20};
	CarryCounts fresh = {0};
	CarryCounts stale = {.vacuums = 5,.analyzes = 2,.dead = 1500,.ins = 0};
	CarryCounts kept = {.vacuums = 3,.dead = 500,.ins = 15};
	CarryCounts vacuumed = {.vacuums = 4};
	CarryOver	over = carry_take(&none, &then, &fresh, false);
	int64_t		dead = 0;
	int64_t		ins = 0;

	carry_add(&over, 0, 0, &dead, &ins);
	tap_is_int(dead, 1000, "take", "lost: all dead rows come back");
	tap_is_int(ins, 20, "take", "lost: and the inserted ones");

	over = carry_take(&none, &then, &stale, false);
	dead = 1500 + 3;
	ins = 0;
	carry_add(&over, 5, 2, &dead, &ins);
	tap_is_int(dead, 1003, "take", "a primary once more: its old counters do not count");
	tap_is_int(ins, 20, "take", "a primary once more: nor those of inserts");

	over = carry_take(&noted, &then, &fresh, false);
	tap_is_int(over.dead, 1000, "take", "lost twice: nothing is counted twice");

	over = carry_take(&none, &then, &kept, true);
	tap_is_bool(over.on, false, "take", "kept: the counters know all");
	over = carry_take(&noted, &then, &kept, true);
	tap_is_int(over.dead, 500, "take", "kept: what was lost before is still added");
	over = carry_take(&noted, &then, &vacuumed, true);
	tap_is_bool(over.on, false, "take", "kept: not after a vacuum");

	over = carry_take(&none, &fresh, &fresh, false);
	tap_is_bool(over.on, false, "take", "there is nothing to be added");
}

static void
test_material(void)
{
	tap_is_double(carry_share(50, 100, 10, 1000), 0.5, "share", "by dead rows");
	tap_is_double(carry_share(50, 100, 900, 1000), 0.9, "share", "by inserted rows");
	tap_is_double(carry_share(50, -1, 10, -1), 0, "share", "no thresholds");
	tap_is_double(carry_share(3, 0, 0, 0), 3, "share", "a threshold of zero");

	tap_is_bool(carry_is_material(0.5, 0.7), false, "material", "a little more");
	tap_is_bool(carry_is_material(0.5, 0.75), true, "material", "a quarter of the threshold more");
	tap_is_bool(carry_is_material(0.5, 0.2), true, "material", "it was vacuumed");
	tap_is_bool(carry_is_material(8, 9), false, "material", "due all the same");
	tap_is_bool(carry_is_material(8, 10), true, "material", "much more");
	tap_is_bool(carry_is_material(8, 0), true, "material", "due no more");

	tap_is_bool(carry_rest_is_clean(CARRY_LEAST), true, "rest", "all are in the note");
	tap_is_bool(carry_rest_is_clean(0.9), false, "rest", "some had no room");
}

static void
test_budget(void)
{
	CarryBudget b = {0};
	int64_t		hour = INT64_C(3600) * 1000000;
	int64_t		now = hour;
	double		written = 0;

	tap_is_bool(carry_may_write(&b, now, 1000), true, "budget", "at once");
	for (int i = 0; i < 24 * 3600; i++, now += 1000000)
	{
		if (!carry_may_write(&b, now, 50000))
			continue;
		carry_wrote(&b, 50000);
		written += 50000;
	}
	tap_is_bool(written <= CARRY_BYTES_BURST + 24.0 * CARRY_BYTES_PER_HOUR, true, "budget", "a day of large notes: kept");
	tap_is_bool(written >= 23.0 * CARRY_BYTES_PER_HOUR, true, "budget", "a day of large notes: used");

	carry_may_write(&b, now += hour, 0);
	tap_is_bool(carry_may_write(&b, now, 1e7), true, "budget", "larger than all that adds up");
	carry_wrote(&b, 1e7);
	tap_is_bool(carry_may_write(&b, now + hour / 2, 10), false, "budget", "which is made up for");
	tap_is_bool(carry_may_write(&b, now + 2 * hour, 10), true, "budget", "within an hour or so");
	tap_is_bool(carry_may_write(&b, now + 2 * hour, 10), true, "budget", "a clock that stands still");
}

int
main(void)
{
	test_add();
	test_take();
	test_material();
	test_budget();
	return tap_done();
}
