/*
 * shard_name_test.c
 *		Names of shards of Citus.
 */
#include "shard_name.h"
#include "tap.h"

typedef struct NumberCase
{
	const char *name;
	int64_t		number;
	int			length;			/* without the number */
} NumberCase;

static const NumberCase numbers[] = {
	{"orders_102008", 102008, 6},
	{"Orders 2_102008", 102008, 8},
	{"orders_2026_102008", 102008, 11},
	{"o_1", 1, 1},
	{"orders_999999999999999999", INT64_C(999999999999999999), 6},
	{"orders_9999999999999999999", 0, 0},
	{"orders", 0, 0},
	{"orders_", 0, 0},
	{"orders102008", 0, 0},
	{"orders_102008x", 0, 0},
	{"orders_0", 0, 0},
	{"_102008", 0, 0},
	{"102008", 0, 0},
	{"", 0, 0},
};

typedef struct FitCase
{
	const char *name;			/* of a shard */
	const char *table;
	bool		fits;
} FitCase;

#define LONG_NAME "a_table_whose_name_is_longer_than_most_people_would_ever_make_i"

static const FitCase fits[] = {
	{"orders_102008", "orders", true},
	{"orders_102008", "order", false},
	{"orders_102008", "orderx", false},
	{"orders_102008", "orders_2026", false},
	{"orders_2026_102008", "orders_2026", true},
	{"orders_2026_102008", "orders", false},
	{"a_table_whose_name_is_longer_than_most_people_w_1d9c45b0_102008", LONG_NAME, true},
	{"a_table_whose_name_is_longer_than_most_animals__1d9c45b0_102008", LONG_NAME, false},
	{"a_table_whose_name_is_longer_than_most_people_w_1d9c45bx_102008", LONG_NAME, false},
	{"a_table_whose_name_is_longer_than_most_people_wo1d9c45b0_102008", LONG_NAME, false},
	{"_1d9c45b0_102008", LONG_NAME, false},
	/* too short for a hash */
	{"a_tab_102008", LONG_NAME, false},
	{"1d9c45b0_102008", LONG_NAME, false},
};

int
main(void)
{
	int			length;

	for (size_t i = 0; i < lengthof(numbers); i++)
	{
		const NumberCase *c = &numbers[i];

		tap_is_int(shard_name_number(c->name, &length), c->number, c->name, "its number");
		if (c->number > 0)
			tap_is_int(length, c->length, c->name, "the rest");
	}
	for (size_t i = 0; i < lengthof(fits); i++)
	{
		const FitCase *c = &fits[i];

		(void) shard_name_number(c->name, &length);
		tap_is_bool(shard_name_fits(c->name, length, c->table), c->fits, c->name, c->table);
	}
	return tap_done();
}
