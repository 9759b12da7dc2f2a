/*
 * worth_test.c
 *		policy/worth: what does garbage cost, and what did a vacuum bring?
 */
#include "worth.h"

#include "tap.h"

/* Scans that take so many blocks of indexes and table, a tenth of them read. */
static WorthSum
scans(double n, double index, double table)
{
	WorthSum	sum = {0};

	sum.scans = sum.table_scans = n;
	sum.index_fetched = n * index;
	sum.index_read = n * index / 10;
	sum.fetched = n * table;
	sum.read = n * table / 10;
	return sum;
}

static void
add(Worth *w, double n, double index, double table, double dead_share)
{
	WorthSum	sum = scans(n, index, table);

	worth_add(w, &sum, dead_share);
	worth_settle(w);
}

/* A vacuum that cost so much, and 10,000 scans of 3 + 1 blocks after it. */
static Worth
vacuumed(double cost)
{
	Worth		w = {0};

	worth_begin_again(&w, false);
	worth_add_cost(&w, cost);
	add(&w, WORTH_CLEAN_SCANS, 3, 1, 0);
	return w;
}

/* ----
 * Counting
 * ----
 */

static void
differences(void)
{
	WorthCounters a = {2, 100, 1000, 100, 500, 50, 3, 1, 1, 10, 20, 5, 7};
	WorthCounters b = a;
	WorthSum	sum;

	b.scans += 10;
	b.index_fetched += 40;
	b.index_read += 4;
	b.fetched += 20;
	b.read += 10;
	tap_is_bool(worth_between(&a, &b, 4, &sum), true, "counters that go on", "");
	tap_ok(sum.scans == 10 && sum.index_fetched == 40 && sum.index_read == 4 && sum.fetched == 20 &&
		   sum.read == 10 && sum.table_scans == 10 && sum.written == 0, "differences, nothing was written", "");

	b.inserted += 2;
	b.updated += 3;
	b.hot_updated += 1;
	b.deleted += 1;
	tap_is_bool(worth_between(&a, &b, 4, &sum), true, "rows were written", "");
	tap_is_double(sum.index_fetched, 40 - 4 * 4, "two new rows and two updates went into indexes", "");
	tap_is_double(sum.index_read, 4 * 24 / 40.0, "what was read is the same share", "");
	tap_is_double(sum.fetched, 20 - (2 + 3 + 2 + 1), "and pages of the table", "");
	tap_is_double(sum.written, 16 + 8, "both are known", "");

	worth_between(&a, &b, 400, &sum);
	tap_is_double(sum.index_fetched, 0, "no more is taken off than there is", "");
	tap_is_double(sum.index_read, 0, "of reads neither", "");

	b.table_scans++;
	worth_between(&a, &b, 4, &sum);
	tap_ok(sum.fetched == 0 && sum.table_scans == 0 && sum.scans == 10, "a sequential scan hides the table's blocks", "");
	b.table_scans--;
	b.analyzes++;
	worth_between(&a, &b, 4, &sum);
	tap_ok(sum.fetched == 0 && sum.table_scans == 0, "and so does ANALYZE", "");

	b.index_read = 0;
	tap_is_bool(worth_between(&a, &b, 4, &sum), false, "statistics were reset", "");
	b = a;
	b.indexes = 1;
	b.scans += 1000;
	tap_is_bool(worth_between(&a, &b, 4, &sum), false, "an index is gone", "");
}

static void
changes(void)
{
	WorthCounters a = {.indexes = 1};
	WorthCounters b = {.indexes = 1,.updated = 90,.hot_updated = 60,.deleted = 10};
	Worth		w = {0};

	worth_count_changes(&w, &a, &b);
	tap_ok(w.changed == 100 && w.cold == 40, "updates other than HOT and deletes leave entries behind", "");
	worth_count_changes(&w, &b, &a);
	tap_ok(w.changed == 100, "counters that went back tell nothing", "");
}

static void
levels(void)
{
	static const struct
	{
		double		pages;
		double		levels;
	}			cases[] = {{0, 1}, {1, 1}, {2, 2}, {256, 2}, {257, 3}, {65536, 3}, {65537, 4}};

	for (int i = 0; i < (int) lengthof(cases); i++)
	{
		char		what[32];

		snprintf(what, sizeof(what), "%.0f pages", cases[i].pages);
		tap_is_double(worth_levels(cases[i].pages), cases[i].levels, "levels of an index", what);
	}
}

/* ----
 * Windows
 * ----
 */

static void
windows(void)
{
	Worth		w = {0};
	WorthRate	clean;
	WorthRate	now;

	worth_rates(&w, &clean, &now);
	tap_ok(!clean.known && !now.known, "at first nothing is known", "");
	add(&w, WORTH_SCANS, 5, 5, 0.1);
	worth_rates(&w, &clean, &now);
	tap_ok(!clean.known && now.known && now.fetched == 10 && now.read == 1, "how it is now is known without a vacuum", "");
	tap_ok(w.lost_fetched == 0, "but not what is lost", "");

	worth_begin_again(&w, false);
	worth_brought(&w, &clean, &now);
	tap_ok(clean.known && clean.fetched == 10 && !now.known, "before the vacuum, and not yet after it", "");
	add(&w, WORTH_SCANS, 3, 1, 0);
	tap_is_bool(w.open, true, "it goes on as long as hardly a row is dead", "");
	add(&w, WORTH_CLEAN_SCANS - WORTH_SCANS - 1, 3, 1, 0);
	tap_is_bool(w.open, true, "...", "");
	add(&w, 1, 3, 1, 0);
	tap_is_bool(w.open, false, "until there are enough", "");
	worth_rates(&w, &clean, &now);
	tap_ok(clean.known && clean.fetched == 4 && clean.with_table && !now.known, "clean is known, now is not", "");
	worth_brought(&w, &clean, &now);
	tap_ok(now.known && now.fetched == 4, "and after the vacuum is", "");

	worth_begin_again(&w, false);
	worth_brought(&w, &clean, &now);
	tap_ok(!clean.known && !now.known, "a vacuum right after another has no before", "");
	add(&w, WORTH_SCANS - 1, 6, 2, 0.5);
	tap_is_bool(w.open, true, "too few scans to tell", "");
	add(&w, 1, 6, 2, 0.5);
	tap_is_bool(w.open, false, "garbage closes the window", "");
	worth_rates(&w, &clean, &now);
	tap_is_double(clean.fetched, 4, "the cleaner one counts on", "");
	worth_brought(&w, &clean, &now);
	tap_is_double(now.fetched, 8, "while after the vacuum is what was measured", "");

	worth_begin_again(&w, false);
	add(&w, WORTH_SCANS, 2, 1, 0.5);
	worth_rates(&w, &clean, &now);
	tap_is_double(clean.fetched, 3, "one that is better counts, whatever is dead", "");

	worth_begin_again(&w, false);
	{
		WorthSum	mixed = scans(WORTH_SCANS, 4, 2);

		mixed.written = 5 * WORTH_SCANS;
		worth_add(&w, &mixed, 0.02);
		worth_settle(&w);
		worth_rates(&w, &clean, &now);
		tap_is_double(clean.fetched, 6, "beside writing it is another one, with which what follows can be compared", "");
		mixed.index_fetched *= 2;
		worth_add(&w, &mixed, 0.1);
		worth_settle(&w);
		tap_is_double(w.lost_fetched, 4.0 * WORTH_SCANS, "so what is lost beside writing is counted", "");
	}
}

/*
 * A vacuum costs 1,000 blocks, dirty scans lose 0.6 reads each.  Returns after
 * how many thousand scans the next one is due, of which so many were clean.
 */
static int
due_after(Worth *w, int clean)
{
	int			n = clean;

	worth_begin_again(w, false);
	w->changed = 1;
	add(w, clean * 1000.0, 3, 1, clean >= 10 ? 0 : 0.02);
	while (!worth_is_due(w) && n < 1000)
	{
		add(w, 1000, 8, 2, 0.1);
		n++;
	}
	return n;
}

static void
savings(void)
{
	Worth		w = vacuumed(1000);

	tap_is_int(due_after(&w, 10), 12, "a first vacuum", "is due by what it costs");
	tap_is_int(due_after(&w, 10), 12, "one that saved more than it cost", "the next is due by as much");
	tap_is_int(due_after(&w, 1), 3, "one that will save less", "is not known to be");
	tap_is_int(due_after(&w, 1), 5, "it has saved less", "twice the loss is waited for");
	tap_is_int(due_after(&w, 1), 8, "again", "four times");
	for (int i = 0; i < 5; i++)
		(void) due_after(&w, 1);
	tap_is_int(due_after(&w, 1), 28, "... and again", "16 times at most");
	(void) due_after(&w, 10);
	(void) due_after(&w, 10);
	(void) due_after(&w, 10);
	(void) due_after(&w, 10);
	(void) due_after(&w, 10);
	tap_is_int(due_after(&w, 10), 12, "those that saved more", "make up for it");
}

/* The blocks of the table come one count after the scans that took them. */
static void
late_blocks(void)
{
	Worth		w = {0};
	WorthSum	early = scans(WORTH_CLEAN_SCANS, 2, 0);
	WorthSum	late = {.fetched = WORTH_CLEAN_SCANS,.read = WORTH_CLEAN_SCANS / 10};
	WorthSum	update = {.written = 20000,.fetched = 20000};
	WorthRate	clean;
	WorthRate	now;

	worth_begin_again(&w, false);
	worth_add(&w, &early, 0);
	tap_is_bool(w.open, true, "what was counted waits for blocks that come later", "");
	worth_add(&w, &late, 0);
	tap_is_bool(w.open, true, "...", "");
	worth_add(&w, &early, 0);
	tap_is_bool(w.open, false, "... until there are other scans", "");
	worth_add(&w, &late, 0);
	worth_add(&w, &update, 0.5);
	worth_rates(&w, &clean, &now);
	tap_ok(clean.fetched == 3 && now.fetched == 3 && w.lost_fetched == 0, "they are of the scans before", "");
	worth_add(&w, &early, 0.5);
	worth_settle(&w);
	worth_rates(&w, &clean, &now);
	tap_ok(now.fetched == 2, "blocks of rows that were written are not", "");
	worth_settle(&w);
	tap_is_double(w.scans, 3 * WORTH_CLEAN_SCANS, "it is taken in once", "");

	worth_begin_again(&w, false);
	worth_add(&w, &early, 0);
	worth_begin_again(&w, false);
	worth_rates(&w, &clean, &now);
	tap_is_double(clean.fetched, 2, "the next vacuum takes in what was counted", "");
}

static void
losses(void)
{
	Worth		w = vacuumed(100);
	WorthSum	sum;

	add(&w, 100000, 3, 1, 0.1);
	tap_is_double(w.lost_fetched, 0, "nothing is lost without more blocks", "");
	add(&w, 100000, 3.1, 1.1, 0.1);
	tap_is_double(w.lost_fetched, 0, "nor within the noise", "");
	add(&w, WORTH_SCANS - 1, 5, 2, 0.1);
	tap_is_double(w.lost_fetched, 0, "it takes as many scans as make a measurement", "");
	add(&w, 1, 5, 2, 0.1);
	tap_is_double(w.lost_fetched, 3, "then it counts", "");

	w = vacuumed(100);
	add(&w, 1000, 5, 2, 0.1);
	tap_is_double(w.lost_fetched, 3000, "three blocks a scan", "");
	tap_is_double(w.lost_read, 300, "a tenth of which is read", "");
	add(&w, 1000, 5, 2, 0.1);
	tap_is_double(w.lost_fetched, 6000, "losses add up", "");
	tap_is_bool(worth_is_lost(&w), true, "and exceed the cost", "");
	tap_is_bool(worth_is_due(&w), false, "no vacuum helps where no row was changed", "");
	w.held_back = true;
	tap_is_bool(worth_is_due(&w), true, "so a vacuum is due", "what the last one left");
	w.held_back = false;
	w.changed = 1;
	tap_is_bool(worth_is_due(&w), true, "so a vacuum is due", "");
	add(&w, 10000, 3, 1, 0.1);
	tap_is_bool(worth_is_due(&w), false, "not while scans take as few blocks as before", "");
	tap_is_bool(worth_is_lost(&w), true, "whatever was lost", "");

	w = vacuumed(100);
	sum = scans(5000, 3, 1);
	sum.index_read = 15000;
	worth_add(&w, &sum, 0.1);
	worth_settle(&w);
	tap_is_double(w.lost_read, 0, "a cold cache is not a loss by garbage", "");
	sum = scans(5000, 5, 2);
	sum.index_read = sum.index_fetched;
	sum.read = sum.fetched;
	worth_add(&w, &sum, 0.1);
	worth_settle(&w);
	tap_ok(w.lost_read <= w.lost_fetched, "no more is read than fetched", "");

	w = vacuumed(100);
	sum = scans(1000, 5, 2);
	sum.written = 3000;
	worth_add(&w, &sum, 0.1);
	worth_settle(&w);
	tap_is_double(w.lost_fetched, 0, "another mixture of reading and writing cannot be compared", "");
	sum.written = 1500;
	worth_add(&w, &sum, 0.1);
	worth_settle(&w);
	tap_is_double(w.lost_fetched, 3000, "one that differs less can", "");

	w = vacuumed(100);
	sum = scans(1000, 5, 2);
	sum.table_scans = sum.fetched = sum.read = 0;
	worth_add(&w, &sum, 0.1);
	worth_settle(&w);
	tap_is_double(w.lost_fetched, 2000, "with sequential scans the indexes count alone", "");

	worth_begin_again(&w, false);
	tap_ok(w.lost_fetched == 0 && w.lost_read == 0 && w.scans == 0, "a vacuum ends it", "");
}

static void
mixed_parts(void)
{
	Worth		w = {0};
	WorthSum	sum = scans(WORTH_CLEAN_SCANS, 3, 1);
	WorthRate	before;
	WorthRate	after;

	add(&w, WORTH_SCANS, 5, 5, 0.1);
	worth_begin_again(&w, false);
	sum.table_scans = sum.fetched = sum.read = 0;
	worth_add(&w, &sum, 0);
	worth_settle(&w);
	worth_brought(&w, &before, &after);
	tap_ok(!before.with_table && !after.with_table && before.fetched == 5 && after.fetched == 3,
		   "before and after are of the same parts", "");
	after = worth_difference(&before, &after);
	tap_ok(after.known && after.fetched == 2, "what it saved", "");
	before.with_table = true;
	after = worth_difference(&before, &after);
	tap_is_bool(after.known, false, "of different parts nothing can be said", "");
}

/* ----
 * Advice
 * ----
 */

static void
break_even(void)
{
	Worth		w = vacuumed(400);

	tap_is_double(worth_breaks_even(&w, 100), -1, "never, if nothing is lost", "");
	w.lost_read = 100;
	tap_is_double(worth_breaks_even(&w, 100), 200, "four times the loss takes twice the time", "");
	w.lost_read = 1600;
	tap_is_double(worth_breaks_even(&w, 100), 50, "it may have been", "");
	w.costs = 0;
	tap_is_double(worth_breaks_even(&w, 100), -1, "without a cost nothing is known", "");
}

static void
costs(void)
{
	Worth		w = {0};

	worth_add_cost(&w, 100);
	tap_is_double(w.cost, 100, "cost of the first vacuum", "");
	worth_add_cost(&w, 300);
	tap_is_double(w.cost, 200, "the last one counts half", "");
	tap_is_int(w.costs, 2, "of how many", "");
	worth_assume_cost(&w, 999);
	tap_is_double(w.cost, 200, "nothing is assumed where vacuums tell", "");
}

/* The table has grown, or there are other queries: scans take twice as many blocks. */
static void
vain(void)
{
	for (int held_back = 0; held_back < 2; held_back++)
	{
		Worth		w = vacuumed(100);

		w.changed = 1000;
		add(&w, 20000, 6, 2, 0.05);
		tap_is_bool(worth_is_due(&w), true, "more blocks", "a vacuum is due");
		worth_begin_again(&w, held_back);
		w.changed = 10;
		add(&w, WORTH_SCANS, 6, 2, 0.05);
		add(&w, 20000, 6, 2, 0.05);
		tap_is_bool(worth_is_due(&w), held_back, "it brought nothing, another", held_back ? "rows were held back" : "what scans take is no loss");
		tap_is_double(w.clean.index_fetched / w.clean.scans, held_back ? 3 : 6, "a clean scan", "");
		/* half as many */
		w.changed = 1000;
		add(&w, 20000, 12, 4, 0.05);
		worth_begin_again(&w, false);
		w.changed = 10;
		add(&w, WORTH_SCANS, 6, 2, 0.05);
		add(&w, 20000, 6, 2, 0.05);
		tap_is_bool(worth_is_due(&w), held_back, "one that helped", held_back ? "by what was clean long ago" : "no other is due");
	}
}

static void
advice(void)
{
	static const WorthThreshold usual = {0.2, false, 100000, 15000, 20050};
	static const struct
	{
		const char *name;
		double		cost;
		double		blocks;		/* of the table, a scan: clean is 1 */
		double		cold;
		WorthThreshold t;
		WorthAdvice advice;
	}			cases[] = {
		{"losses exceed the cost", 100, 3, 1, {0.2, false, 100000, 15000, 20050}, WORTH_VACUUM_EARLIER},
		{"they do not", 1000, 3, 1, {0.2, false, 100000, 15000, 20050}, WORTH_NO_ADVICE},
		{"there are none", 100, 1, 1, {0.2, false, 100000, 15000, 20050}, WORTH_NO_ADVICE},
		{"it is due anyway", 100, 3, 1, {0.2, false, 100000, 25000, 20050}, WORTH_NO_ADVICE},
		{"updates are HOT", 100, 3, 0.1, {0.2, false, 100000, 15000, 20050}, WORTH_NO_ADVICE},
		{"the scale factor is small already", 100, 3, 1, {0.05, true, 100000, 4000, 5050}, WORTH_NO_ADVICE},
		{"the threshold is not by scale", 100, 3, 1, {0.2, false, 100, 30, 70}, WORTH_NO_ADVICE},
	};

	for (int i = 0; i < (int) lengthof(cases); i++)
	{
		Worth		w = vacuumed(cases[i].cost);

		w.changed = 1000;
		w.cold = 1000 * cases[i].cold;
		add(&w, 1000, 3, cases[i].blocks, 0.1);
		tap_is_int(worth_advice(&w, &cases[i].t), cases[i].advice, "advice", cases[i].name);
	}

	{
		WorthThreshold small = {0.05, true, 100000, 100, 5050};
		Worth		w = vacuumed(100000);

		tap_is_int(worth_advice(&w, &small), WORTH_NO_ADVICE, "advice", "one vacuum does not tell");
		worth_begin_again(&w, false);
		tap_is_int(worth_advice(&w, &small), WORTH_VACUUM_LATER, "advice", "scans took less than a vacuum costs");
		small.own = false;
		tap_is_int(worth_advice(&w, &small), WORTH_NO_ADVICE, "advice", "it is not the table's own scale factor");
		small.own = true;
		add(&w, 50000, 3, 1, 0.1);
		tap_is_int(worth_advice(&w, &small), WORTH_NO_ADVICE, "advice", "now they took more");
		w.costs = 0;
		tap_is_int(worth_advice(&w, &usual), WORTH_NO_ADVICE, "advice", "without a cost");
	}

	/*
	 * several hundred reads are lost, and no vacuum tells what the next one
	 * costs
	 */
	{
		WorthThreshold small = {0.05, true, 100000, 100, 5050};
		Worth		w = vacuumed(0);

		w.costs = 0;
		w.changed = w.cold = 1000;
		add(&w, 1000, 3, 3, 0.1);
		worth_assume_cost(&w, 50);
		tap_is_double(w.cost, 100, "every page is read and dirtied", "");
		tap_is_int(worth_advice(&w, &usual), WORTH_VACUUM_EARLIER, "advice", "more is lost than a vacuum can cost");
		w.cost += worth_replans(1, 1);
		tap_is_int(worth_advice(&w, &usual), WORTH_VACUUM_EARLIER, "advice", "one session plans again");
		w.cost += worth_replans(10, 200);
		tap_is_int(worth_advice(&w, &usual), WORTH_NO_ADVICE, "advice", "ten sessions plan again, with 200 partitions");
		worth_begin_again(&w, false);
		worth_begin_again(&w, false);
		tap_is_int(worth_advice(&w, &small), WORTH_NO_ADVICE, "advice", "what it costs at most is no reason for fewer");
		worth_assume_cost(&w, 60);
		tap_is_double(w.cost, 120, "the table has grown", "");
		worth_add_cost(&w, 30);
		tap_is_double(w.cost, 30, "a vacuum tells", "");
		worth_assume_cost(&w, 60);
		tap_is_double(w.cost, 30, "and that holds", "");
	}
}

int
main(void)
{
	differences();
	changes();
	levels();
	windows();
	savings();
	late_blocks();
	losses();
	mixed_parts();
	break_even();
	costs();
	vain();
	advice();
	return tap_done();
}
