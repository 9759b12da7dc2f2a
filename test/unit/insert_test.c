/*
 * insert_test.c
 *		policy/insert: thresholds in rows, by cases whose arithmetic is in the
 *		name.  There are 100 rows to a page of 8 kB, and 40,000 buffers (312
 *		MB).  A quarter of these is 10,000 pages, or 1,000,000 rows.  256 MB
 *		are 32,768 pages.
 */
#include "insert.h"
#include "tap.h"

#define SETTINGS(base, scale, cache) {base, scale, cache, 40000, 8192}
/* the server's own threshold is that of an unfrozen table here */
#define TABLE(rows, frozen_share, costly) \
	{rows, (rows) / 100, (rows) / 100 * (frozen_share), 100, 1000 + 0.2 * (rows), costly}

static const struct
{
	const char *name;
	InsertSettings settings;
	InsertTable table;
	InsertThresholds expected;
}			cases[] = {

	/* 50 million rows: core waits for 10,001,000 */
	{"all unfrozen: a quarter of its part of the cache",
	SETTINGS(1000, 0.2, 0.25), TABLE(50e6, 0, 0), {250000, -1}},
	{"all frozen: a quarter of its part of the cache; early from 128 pages",
	SETTINGS(1000, 0.2, 0.25), TABLE(50e6, 1, 0), {250000, 12800}},
	{"99 % frozen: early from 1000 + 0.2 of 500,000",
	SETTINGS(1000, 0.2, 0.25), TABLE(50e6, 0.99, 0), {250000, 101000}},
	{"all frozen, no cache rule: 256 MB",
	SETTINGS(1000, 0.2, 0), TABLE(50e6, 1, 0), {3276800, 12800}},
	{"all unfrozen, no cache rule: core's",
	SETTINGS(1000, 0.2, 0), TABLE(50e6, 0, 0), {10001000, -1}},

	{"a quarter of its part would be 819 pages: 1,024",
	{1000, 0.2, 0.1, 32768, 8192}, TABLE(50e6, 1, 0), {102400, 12800}},
	{"its part is 512 pages: all of it",
	{1000, 0.2, 0.125, 4096, 8192}, TABLE(50e6, 1, 0), {51200, 12800}},

	/* never later than core */
	{"a small table, all frozen: core's 1,200",
	SETTINGS(1000, 0.2, 0.25), TABLE(1000, 1, 0), {1200, -1}},
	{"never counted rows are none",
	SETTINGS(1000, 0.2, 0.25), {-1, 0, 0, 1, 1000, 0}, {1000, -1}},
	{"insert vacuums are switched off",
	SETTINGS(-1, 0.2, 0.25), TABLE(50e6, 1, 0), {-1, -1}},
	{"more frozen than there is: clamped",
	SETTINGS(1000, 0.2, 0.25), {50e6, 1000, 5000, 100, 10001000, 0}, {250000, 12800}},
	{"a cache of 20 buffers: not for less than 128 pages",
	{1000, 0.2, 0.25, 80, 8192}, TABLE(50e6, 1, 0), {12800, -1}},

	/* core would come about then, and not freeze */
	{"core waits for 401,000, 4,010 pages: at half of that",
	SETTINGS(1000, 0.2, 0.25), TABLE(2e6, 0, 0), {200500, -1}},
	{"half of core's are 505 pages: at 1,024",
	SETTINGS(1000, 0.2, 0.25), TABLE(0.7e6, 0, 0), {102400, -1}},

	/* vacuums that were not worth it */
	{"costly once: twice", SETTINGS(1000, 0.2, 0.25), TABLE(50e6, 1, 1), {500000, 25600}},
	{"costly three times: eight times",
	SETTINGS(1000, 0.2, 0.25), TABLE(50e6, 1, 3), {2e6, 102400}},
	{"costly for ever: core's", SETTINGS(1000, 0.2, 0.25), TABLE(50e6, 1, 200), {10001000, -1}},
};

static void
test_rows_per_page(void)
{
	tap_is_double(insert_rows_per_page(5700, 100, 9, 9), 57, "rows per page", "as last counted");
	tap_is_double(insert_rows_per_page(-1, 0, 5700, 100), 57, "rows per page", "never counted");
	tap_is_double(insert_rows_per_page(0, 100, 0, 100), 1, "rows per page", "empty");
	tap_is_double(insert_rows_per_page(5, 100, 0, 0), 1, "rows per page", "at least one");
	tap_is_double(insert_rows_per_page(-1, 0, 0, 0), 1, "rows per page", "nothing known");
}

static void
test_checkpoint(void)
{
	InsertSettings settings = SETTINGS(1000, 0.2, 0.25);
	InsertTable table = TABLE(50e6, 1, 0);
	static const struct
	{
		const char *name;
		InsertThresholds t;
		double		inserted;
		int64_t		checkpoint_ms;
		bool		expected;
	}			cases[] = {
		{"a checkpoint within the interval", {1e6, 12800}, 1000001, 59999, true},
		{"one after it", {1e6, 12800}, 1000001, 60000, false},
		{"twice as many rows", {1e6, 12800}, 2000001, 1000, false},
		{"far more than its threshold, but all in the cache", {12800, -1}, 1e6, 1000, true},
		{"more than its part of the cache", {12800, -1}, 1000001, 1000, false},
		{"core would come", {6e6, 12800}, 10001001, 1000, false},
	};

	for (size_t i = 0; i < lengthof(cases); i++)
		tap_is_bool(insert_waits_for_checkpoint(&settings, &table, &cases[i].t, cases[i].inserted,
												cases[i].checkpoint_ms, 60000),
					cases[i].expected, "waits for a checkpoint", cases[i].name);
}

static void
test_look_at(void)
{
	InsertSettings s = SETTINGS(1000, 0.2, 0.25);
	InsertSettings off = SETTINGS(-1, 0.2, 0.25);

	tap_is_double(insert_look_at(&s, 1e6), 1000, "a look", "large enough: 0.2 of it are 200,000");
	tap_is_double(insert_look_at(&s, 499999), -1, "a look", "core is soon enough");
	tap_is_double(insert_look_at(&off, 1e9), -1, "a look", "switched off");
}

static bool
is_worth(double new_pages, double hit, double read, double dirtied)
{
	InsertCost	c = {new_pages, hit, read, dirtied, 1, 2, 20};

	return insert_was_worth(&c);
}

static void
test_worth(void)
{
	/* 100 new pages, and 32 for what any vacuum costs: 132 × (2 + 20) */
	tap_is_bool(is_worth(100, 2904, 0, 0), true, "worth", "costs what it saves");
	tap_is_bool(is_worth(100, 2905, 0, 0), false, "worth", "costs more");
	tap_is_bool(is_worth(128, 500, 0, 128), true, "worth",
				"a small one whose pages had been written already");
	tap_is_bool(is_worth(0, 705, 0, 0), false, "worth", "nothing was new");
	tap_is_bool(is_worth(10000, 20000, 10000, 10000), true, "worth", "it came too late");
	tap_is_bool(is_worth(100, 200, 100 + 1352, 100), true, "worth", "reads as many old pages as it saves");
	tap_is_bool(is_worth(100, 200, 100 + 1353, 100), false, "worth", "reads more old pages");
}

static void
test_late(void)
{
	tap_is_double(insert_late_pages(10, 5, 4000), 0, "late", "catalogs and maps");
	tap_is_double(insert_late_pages(4000, 3000, 4000), 3000, "late", "had left the cache");
	tap_is_double(insert_late_pages(4000, 10, 4000), 0, "late", "old pages are read, not dirtied");
	tap_is_double(insert_late_pages(0, 4000, 4000), 0, "late", "written by a checkpoint, still in memory");
	tap_is_double(insert_late_pages(132, 132, 2000), 0, "late", "one in twenty is chance");
}

static void
test_pace(void)
{
	tap_is_double(insert_pace(1000, 0, 2, 8192), 2 * 1000 * 8192, "pace", "twice what is read and written");
	tap_is_double(insert_pace(1000, 500, 2, 8192), 2500 * 8192, "pace", "with old pages, which are read");
	tap_is_double(insert_pace(1000, 0, 0.1, 8192), 4 * 1000 * 8192, "pace", "sessions report once a second");
	tap_is_double(insert_pace(0, 0, 0, 8192), 0, "pace", "nothing is new");
}

static double
fit(int tables, double pages, double more)
{
	InsertSizes sizes = {{0}};

	for (int i = 0; i < tables; i++)
		insert_sizes_add(&sizes, pages);
	insert_sizes_add(&sizes, more);
	/* they may take 10,000 pages */
	return insert_fit_pages(&sizes, 0.25, 40000);
}

static void
test_fit(void)
{
	InsertSizes sizes = {{0}};

	tap_is_double(fit(0, 0, 0), 0, "fit", "no table");
	tap_is_double(fit(5, 2000, 0), 0, "fit", "five fit");
	tap_is_double(fit(5, 2000, 1000), 1024, "fit", "five and another: the five are vacuumed");
	tap_is_double(fit(64, 300, 0), 256, "fit", "many small ones");
	tap_is_double(fit(30, 150, 9000), 8192, "fit", "a large one is enough");
	tap_is_double(fit(1000, 100, 0), 0, "fit", "a vacuum for so few pages costs as much");
	tap_is_double(fit(1, 1e12, 0) > 0, 1, "fit", "larger than any size");
	insert_sizes_add(&sizes, 1e6);
	tap_is_double(insert_fit_pages(&sizes, 0, 40000), 0, "fit", "the cache does not count");
}

int
main(void)
{
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		InsertThresholds t = insert_thresholds(&cases[i].settings, &cases[i].table);

		tap_is_double(t.due, cases[i].expected.due, cases[i].name, "due");
		tap_is_double(t.early, cases[i].expected.early, cases[i].name, "early");
		if (cases[i].settings.base < 0 || cases[i].settings.cache_fraction <= 0)
			tap_ok(t.follow < 0, cases[i].name, "is not followed");
		else
			tap_ok(t.follow >= 128 * cases[i].table.rows_per_page, cases[i].name, "is followed");
	}
	test_rows_per_page();
	test_look_at();
	test_checkpoint();

	tap_is_bool(insert_was_in_vain(1000, 99, 1000), true, "in vain", "not a tenth became all-visible");
	tap_is_bool(insert_was_in_vain(1000, 100, 900), false, "in vain", "a tenth did");
	tap_is_bool(insert_was_in_vain(0.5, 0, 10), false, "in vain", "nothing to gain");
	tap_is_bool(insert_was_in_vain(1000, 0, 0), false, "in vain", "all was visible before (COPY FREEZE)");
	tap_is_bool(insert_was_in_vain(1000, 0, 100), true, "in vain", "a tenth is left");

	test_worth();
	test_late();
	test_pace();
	test_fit();
	return tap_done();
}
