/*
 * wal_room_test.c
 *		policy/wal_room: 5 % of the file system, at least 4 segments and at most
 *		64.
 */
#include "wal_room.h"
#include "tap.h"

#define MB	1048576.0
#define GB	(1024 * MB)

static const struct
{
	const char *name;
	double		left;
	double		size;
	double		segment;
	bool		was_short;
	bool		is_short;
}			cases[] = {
	{"plenty", 100 * GB, 200 * GB, 16 * MB, false, false},
	{"10 GB: 5 % left", 513 * MB, 10 * GB, 16 * MB, false, false},
	{"10 GB: less", 511 * MB, 10 * GB, 16 * MB, false, true},
	{"a small one: 4 segments", 65 * MB, 500 * MB, 16 * MB, false, false},
	{"a small one: fewer", 63 * MB, 500 * MB, 16 * MB, false, true},
	{"a huge one: 64 segments", 1025 * MB, 10000 * GB, 16 * MB, false, false},
	{"a huge one: fewer", 1023 * MB, 10000 * GB, 16 * MB, false, true},
	{"larger segments", 255 * MB, 500 * MB, 64 * MB, false, true},
	{"it was short, and hardly is any more", 600 * MB, 10 * GB, 16 * MB, true, true},
	{"it was short, and has room again", 1025 * MB, 10 * GB, 16 * MB, true, false},
	{"nothing left", 0, 10 * GB, 16 * MB, false, true},
};

int
main(void)
{
	for (size_t i = 0; i < lengthof(cases); i++)
		tap_is_bool(wal_room_is_short(cases[i].left, cases[i].size, cases[i].segment, cases[i].was_short),
					cases[i].is_short, cases[i].name, "is short");
	return tap_done();
}
