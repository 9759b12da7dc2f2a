/*
 * simulate_test.c
 *		policy/simulate: what other rules would have done with the same
 *		changes.
 */
#include <stdlib.h>

#include "simulate.h"
#include "tap.h"

#define HOURS		24
#define TABLES		8
#define HOUR_S		3600.0

/* Tables whose rates are the same in all hours. */
typedef struct World
{
	Simulation	s;
	SimulateHour hours[HOURS];
	SimulateActivity activity[TABLES][HOURS];
	SimulateTable tables[TABLES];
	SimulateSum by_hour[HOURS];
	double		next_at[TABLES];
	int			waiting[TABLES];
} World;

static int	calls;

static void
count_call(void)
{
	calls++;
}

/* All is as by default, without any limit. */
static World *
world(int tables, int hours)
{
	World	   *w = calloc(1, sizeof(World));
	SimulateRules rules = {
		.act = true,.workers = 2,.catalog_place = true,.look_s = 1,.max_wait_s = 300,
		.follow_s = 0.5,.page_bytes = 8192,.weights = {1, 1, 1, 1, 1},
		.cost_hit = 1,.cost_miss = 2,.cost_dirty = 20,
	};

	w->s.rules = rules;
	w->s.hours = w->hours;
	w->s.hours_count = hours;
	w->s.half = hours / 2;
	w->s.tables = w->tables;
	w->s.tables_count = tables;
	w->s.by_hour = w->by_hour;
	w->s.next_at = w->next_at;
	w->s.waiting = w->waiting;
	w->s.interrupts = count_call;
	for (int h = 0; h < hours; h++)
	{
		w->hours[h].begin = h * HOUR_S;
		w->hours[h].seconds = HOUR_S;
		w->hours[h].minute = h * 60 % WINDOWS_DAY;
	}
	for (int t = 0; t < tables; t++)
	{
		SimulateTable *table = &w->tables[t];

		table->activity = w->activity[t];
		table->activities = hours;
		table->enabled = true;
		table->settings.vacuum_base = 50;
		table->settings.vacuum_scale = 0.2;
		table->settings.vacuum_max = -1;
		table->settings.insert_base = 1000;
		table->settings.insert_scale = 0.2;
		table->settings.core_counts = true;
		table->settings.core_vacuum_base = 50;
		table->settings.core_vacuum_scale = 0.2;
		table->settings.core_insert_base = 1000;
		table->settings.core_insert_scale = 0.2;
		table->interval_s = 60;
		table->rows = 100000;
		table->pages = 2000;
		table->index_pages = 500;
		table->indexes = 1;
		table->dead_begin = table->inserted_begin = 0;
		for (int i = 0; i < 2; i++)
		{
			table->learned[i].hot_kept = 1;
			table->learned[i].cost = vacuum_correction_none();
		}
		for (int h = 0; h < hours; h++)
		{
			w->activity[t][h].hour = h;
			w->activity[t][h].live = 100000;
			w->activity[t][h].dead = -1;
		}
	}
	return w;
}

/* So many rows are updated each hour. */
static void
update(World *w, int table, double rows)
{
	for (int h = 0; h < w->s.hours_count; h++)
		w->activity[table][h].updated = rows;
}

static void
scale(World *w, int table, double factor)
{
	w->tables[table].settings.vacuum_scale = factor;
	w->tables[table].settings.core_vacuum_scale = factor;
}

static double
sum_of_hours(const World *w, double (*of) (const SimulateSum *))
{
	double		sum = 0;

	for (int h = 0; h < w->s.hours_count; h++)
		sum += of(&w->by_hour[h]);
	return sum;
}

static double
vacuums(const SimulateSum *sum)
{
	return sum->vacuums;
}

static double
pages(const SimulateSum *sum)
{
	return sum->read + sum->dirtied;
}

static double
busy(const SimulateSum *sum)
{
	return sum->busy_s;
}

/* ----
 * Vacuums by dead rows: rate times time over threshold
 * ----
 */

static const struct
{
	const char *name;
	double		per_hour;
	double		scale;
	double		interval_s;
	double		vacuums;
}			constant[] = {
	{"20,051 rows an hour, at 20 %", 20051, 0.2, 60, 24},
	{"the same at 5 %", 20051, 0.05, 60, 95},
	{"the same at 1 %", 20051, 0.01, 60, 457},
	{"twice as many rows", 40102, 0.2, 60, 48},
	{"below the threshold all day", 800, 0.2, 60, 0},
	{"once", 1000, 0.2, 60, 1},
	{"nothing happens", 0, 0.2, 60, 0},
	{"more than the interval allows", 3600000, 0.001, 60, 1417},
	{"the same with half the interval", 3600000, 0.001, 30, 2785},
};

static void
test_constant(void)
{
	for (size_t i = 0; i < lengthof(constant); i++)
	{
		World	   *w = world(1, 24);
		double		got;

		update(w, 0, constant[i].per_hour);
		scale(w, 0, constant[i].scale);
		w->tables[0].interval_s = constant[i].interval_s;
		simulate(&w->s);
		got = w->tables[0].sum.vacuums;
		tap_ok(fabs(got - constant[i].vacuums) <= 1 + 0.01 * constant[i].vacuums, constant[i].name, "vacuums");
		if (fabs(got - constant[i].vacuums) > 1 + 0.01 * constant[i].vacuums)
			printf("#      got: %g\n# expected: %g\n", got, constant[i].vacuums);
		tap_is_double(sum_of_hours(w, vacuums), got, constant[i].name, "the hours' sum is the table's");
		tap_ok(fabs(sum_of_hours(w, pages) - pages(&w->tables[0].sum)) <= 1e-6 * (1 + pages(&w->tables[0].sum)),
			   constant[i].name, "in pages as well");
		tap_is_double(w->tables[0].sum.insert_vacuums, 0, constant[i].name, "none is for inserted rows");
		free(w);
	}
}

/* The dead rows go up to the threshold, and half of it is the mean. */
static void
test_dead_rows(void)
{
	World	   *w = world(1, 24);

	update(w, 0, 200500);
	simulate(&w->s);
	tap_ok(fabs(w->tables[0].sum.dead_most - 20051) < 120, "dead rows", "at most the threshold");
	tap_ok(fabs(w->tables[0].sum.dead_mean - 20051 / 2.0) < 300, "dead rows", "half of it on average");
	tap_ok(fabs(w->by_hour[5].dead_mean - 20051 / 2.0) < 600, "dead rows", "in an hour as well");
	free(w);
}

/* Only a part of the HOT-updated rows is left when a vacuum comes. */
static void
test_hot(void)
{
	World	   *w = world(1, 24);

	update(w, 0, 40102);
	for (int h = 0; h < 24; h++)
		w->activity[0][h].hot_updated = 40102;
	w->tables[0].learned[0].hot_kept = w->tables[0].learned[1].hot_kept = 0.25;
	simulate(&w->s);
	tap_ok(fabs(w->tables[0].sum.vacuums - 12) <= 1, "HOT-updated rows", "a quarter of them counts");
	tap_ok(w->tables[0].sum.read < 12 * 2000 + 1, "HOT-updated rows", "leave nothing in the indexes");
	free(w);
}

/* Smaller thresholds: more vacuums, fewer dead rows, more pages in all. */
static void
test_more_often(void)
{
	double		before = 0;
	double		dead = HUGE_VAL;
	double		factors[] = {0.4, 0.2, 0.1, 0.05, 0.02};

	for (size_t i = 0; i < lengthof(factors); i++)
	{
		World	   *w = world(1, 24);

		update(w, 0, 100000);
		scale(w, 0, factors[i]);
		simulate(&w->s);
		tap_ok(pages(&w->tables[0].sum) > before, "a smaller scale factor", "costs more");
		tap_ok(w->tables[0].sum.dead_mean < dead, "a smaller scale factor", "leaves fewer dead rows");
		before = pages(&w->tables[0].sum);
		dead = w->tables[0].sum.dead_mean;
		free(w);
	}
}

/* ----
 * The budget, workers, order
 * ----
 */

/* A vacuum that may dirty 1 page a second takes so long that dead rows grow. */
static void
test_budget(void)
{
	World	   *free_one = world(1, 24);
	World	   *bound = world(1, 24);

	update(free_one, 0, 200510);
	update(bound, 0, 200510);
	bound->s.rules.write_limit = 1 * 8192 / 1048576.0;
	simulate(&free_one->s);
	simulate(&bound->s);
	tap_ok(bound->tables[0].sum.vacuums < free_one->tables[0].sum.vacuums / 2, "a budget that binds", "fewer vacuums");
	tap_ok(bound->tables[0].sum.dead_most > 2 * free_one->tables[0].sum.dead_most, "a budget that binds", "dead rows grow");
	tap_ok(sum_of_hours(bound, busy) > 0.9 * 24 * HOUR_S, "a budget that binds", "a worker is always busy");
	for (int h = 1; h < 24; h++)
		tap_ok(bound->by_hour[h].dirtied <= 2 * HOUR_S + 5000, "a budget that binds", "is kept");
	tap_ok(sum_of_hours(free_one, busy) < 300, "no budget", "a vacuum takes no time to speak of");
	free(free_one);
	free(bound);
}

/* It is kept by all vacuums together, and shared evenly. */
static void
test_shared_budget(void)
{
	World	   *w = world(2, 24);

	update(w, 0, 200510);
	update(w, 1, 200510);
	w->s.rules.write_limit = 2 * 8192 / 1048576.0;
	simulate(&w->s);
	tap_ok(sum_of_hours(w, pages) > 0 && fabs(w->tables[0].sum.dirtied - w->tables[1].sum.dirtied) < 10000,
		   "two vacuums", "have as much each");
	tap_ok(w->tables[0].sum.dirtied + w->tables[1].sum.dirtied <= 2 * 24 * HOUR_S + 1, "two vacuums", "keep the limit");
	free(w);
}

/* Hardly anything by day, and as much as it wants by night. */
static void
test_windows(void)
{
	World	   *w = world(1, 24);
	LimitError	error;
	double		day = 0;
	double		night = 0;

	update(w, 0, 400510);
	tap_ok(windows_parse("08:00-20:00 write_limit=0.005, else write_limit=0", &w->s.rules.windows, &error),
		   "windows", "are read");
	simulate(&w->s);
	for (int h = 0; h < 24; h++)
		*(h >= 8 && h < 20 ? &day : &night) += w->by_hour[h].vacuums;
	tap_ok(day <= 12 && night > 100, "windows", "vacuums come by night");
	tap_ok(w->by_hour[15].dead_most > 2 * w->by_hour[3].dead_most, "windows", "dead rows grow by day");
	tap_ok(w->by_hour[20].vacuums >= 10, "windows", "the limit ends when the window does");
	free(w);

	/* an edge within an hour */
	w = world(1, 2);
	update(w, 0, 400510);
	tap_ok(windows_parse("00:30-24:00 read_limit=0.001", &w->s.rules.windows, &error), "windows", "are read");
	simulate(&w->s);
	tap_ok(w->by_hour[0].vacuums >= 9 && w->by_hour[0].vacuums <= 11, "a window in the middle of an hour", "begins there");
	tap_is_double(w->by_hour[1].vacuums, 0, "a window in the middle of an hour", "goes on");
	free(w);
}

/* Three tables at a time, one worker, vacuums of minutes. */
static void
test_workers(void)
{
	World	   *one = world(3, 24);
	World	   *three = world(3, 24);
	World	   *none = world(3, 24);

	for (int t = 0; t < 3; t++)
	{
		update(one, t, 200510);
		update(three, t, 200510);
		update(none, t, 200510);
		for (int i = 0; i < 2; i++)
			one->tables[t].learned[i].cost.seconds = three->tables[t].learned[i].cost.seconds = 1000;
	}
	one->s.rules.workers = 1;
	three->s.rules.workers = 3;
	none->s.rules.workers = 0;
	none->s.rules.catalog_place = false;
	simulate(&one->s);
	simulate(&three->s);
	simulate(&none->s);
	tap_ok(sum_of_hours(one, vacuums) < sum_of_hours(three, vacuums) / 2, "one worker for three tables", "is not enough");
	tap_is_double(one->by_hour[10].waiting, 2, "one worker for three tables", "tables wait");
	tap_ok(sum_of_hours(one, busy) <= 24 * HOUR_S + 1, "one worker", "does one thing at a time");
	tap_is_double(sum_of_hours(none, vacuums), 0, "no worker", "no vacuum");
	tap_ok(none->tables[0].sum.dead_most > 4e6, "no worker", "dead rows grow");
	tap_ok(fabs(one->tables[0].sum.vacuums - one->tables[1].sum.vacuums) <= 2, "the more urgent first", "nobody starves");
	free(one);
	free(three);
	free(none);
}

/* A catalog has a worker of its own, and comes first. */
static void
test_catalogs(void)
{
	World	   *w = world(3, 24);

	for (int t = 0; t < 3; t++)
	{
		update(w, t, 400510);
		for (int i = 0; i < 2; i++)
			w->tables[t].learned[i].cost.seconds = 1000;
	}
	w->tables[2].catalog = true;
	w->tables[2].interval_s = 1;
	w->s.rules.workers = 1;
	simulate(&w->s);
	tap_ok(w->tables[2].sum.vacuums > w->tables[0].sum.vacuums, "a catalog", "has a place of its own");
	tap_ok(fabs(w->tables[0].sum.vacuums - w->tables[1].sum.vacuums) <= 2, "a catalog", "the others share theirs");
	free(w);
}

/* ----
 * Inserted rows
 * ----
 */

static World *
growing(double per_hour)
{
	World	   *w = world(1, 24);

	w->tables[0].rows = 100000 + 24 * per_hour;
	w->tables[0].pages = w->tables[0].rows / 50;
	for (int h = 0; h < 24; h++)
	{
		w->activity[0][h].inserted = per_hour;
		w->activity[0][h].live = 100000 + (h + 1) * per_hour;
	}
	return w;
}

static void
follow(SimulateTable *t)
{
	t->own_inserts = t->checkpoint_aware = true;
	t->inserts.base = 1000;
	t->inserts.scale = 0.2;
	t->inserts.cache_fraction = 0.25;
	t->inserts.buffers = 16384;
	t->inserts.page_bytes = 8192;
}

/* What comes during a long vacuum counts for the next one. */
static void
test_late(void)
{
	World	   *w = growing(5000000);

	follow(&w->tables[0]);
	w->tables[0].inserted_begin = 2500000;
	w->s.rules.write_limit = 35 * 8192 / 1048576.0;
	simulate(&w->s);
	tap_ok(w->by_hour[0].vacuums > 25, "a table that is late", "what came during a vacuum makes the next one due");
	tap_is_double(w->tables[0].state.costly, 0, "a table that is late", "its vacuums are not called costly");
	free(w);
}

/*
 * Beside updates each vacuum reads old pages, and costs more than it saves.
 * All the same it comes before new pages fill their part of the cache, and
 * sooner where several tables share that.
 */
static void
test_beside_updates(void)
{
	double		most[2];

	for (int several = 0; several < 2; several++)
	{
		World	   *w = world(1 + 3 * several, 6);

		for (int i = 0; i < w->s.tables_count; i++)
		{
			SimulateTable *t = &w->tables[i];

			follow(t);
			t->inserts.buffers = 2048;
			t->rows = 900000;
			t->pages = 18000;
			t->index_pages = 2500;
			for (int h = 0; h < 6; h++)
			{
				w->activity[i][h].live = 150000.0 * (h + 1);
				w->activity[i][h].inserted = 150000;
				w->activity[i][h].updated = 600;
			}
		}
		simulate(&w->s);
		/* 3,000 pages an hour, and 512 may wait */
		most[several] = 6 * 3000 / w->tables[0].sum.vacuums;
		tap_ok(most[several] <= 512, "beside updates", "new pages fit into the cache");
		free(w);
	}
	tap_ok(most[1] < 0.6 * most[0], "several such tables", "share it");
}

static void
test_inserts(void)
{
	World	   *w = growing(10000);
	World	   *own = growing(10000);
	World	   *off = growing(10000);
	double		plain;

	/* 100,000 rows grow to 340,000: by a fifth each time, as core would */
	simulate(&w->s);
	plain = w->tables[0].sum.vacuums;
	tap_ok(plain >= 5 && plain <= 7, "a growing table", "is vacuumed each time it has grown by a fifth");
	tap_is_double(w->tables[0].sum.insert_vacuums, plain, "a growing table", "for inserted rows");

	/* before each checkpoint, as soon as 128 pages are new */
	follow(&own->tables[0]);
	own->s.rules.checkpoint_s = 3600;
	simulate(&own->s);
	tap_ok(own->tables[0].sum.insert_vacuums > 2 * plain, "with rules for new pages", "it is vacuumed earlier");

	off->tables[0].settings.insert_base = -1;
	simulate(&off->s);
	tap_is_double(off->tables[0].sum.vacuums, 0, "with a threshold of -1", "it is not");
	free(w);
	free(own);
	free(off);
}

/* It comes when the inserts have ended, and once. */
static void
test_inserts_end(void)
{
	World	   *w = growing(10000);

	for (int h = 2; h < 24; h++)
	{
		w->activity[0][h].inserted = 0;
		w->activity[0][h].live = 120000;
	}
	w->tables[0].own_inserts = true;
	w->tables[0].rows = 120000;
	w->tables[0].pages = 2400;
	w->tables[0].inserts.base = 100;
	w->tables[0].inserts.scale = 0.001;
	w->tables[0].inserts.page_bytes = 8192;
	simulate(&w->s);
	tap_is_double(w->by_hour[2].insert_vacuums, 1, "inserts have ended", "one vacuum comes");
	tap_is_double(w->tables[0].sum.vacuums, 1, "inserts have ended", "and no more");
	free(w);
}

/* ----
 * Nothing, too little, too much
 * ----
 */

static void
test_empty(void)
{
	World	   *w = world(0, 24);

	calls = 0;
	simulate(&w->s);
	tap_is_double(sum_of_hours(w, vacuums), 0, "no table", "nothing");
	tap_ok(calls >= 24, "no table", "each hour may be interrupted");
	free(w);

	w = world(1, 0);
	simulate(&w->s);
	tap_ok(true, "no hour", "nothing");
	free(w);

	/* hours without a length, and tables of which nothing is recorded */
	w = world(2, 24);
	update(w, 0, 20051);
	for (int h = 3; h < 6; h++)
		w->hours[h].seconds = 0;
	w->tables[1].activities = 0;
	simulate(&w->s);
	tap_is_double(w->by_hour[4].vacuums, 0, "an hour without a length", "has no vacuum");
	tap_is_double(w->by_hour[4].dead_mean, 0, "an hour without a length", "has no mean");
	tap_ok(fabs(w->tables[0].sum.vacuums - 21) <= 1, "an hour without a length", "the others have theirs");
	tap_is_double(w->tables[1].sum.vacuums, 0, "a table of which nothing is recorded", "has no vacuum");
	free(w);

	/* twelve hours are missing between two */
	w = world(1, 2);
	update(w, 0, 10100);
	w->hours[1].begin = 13 * HOUR_S;
	simulate(&w->s);
	tap_is_double(w->tables[0].sum.vacuums, 1, "a gap", "nothing is made up for it");
	free(w);

	w = world(1, 24);
	update(w, 0, 1e6);
	w->tables[0].enabled = false;
	simulate(&w->s);
	tap_is_double(w->tables[0].sum.vacuums, 0, "autovacuum_enabled is off", "no vacuum");
	tap_ok(w->tables[0].sum.dead_most > 2e7, "autovacuum_enabled is off", "but dead rows");
	free(w);
}

static bool
is_sane(const SimulateSum *sum)
{
	return isfinite(sum->vacuums) && isfinite(sum->read) && isfinite(sum->dirtied) && isfinite(sum->busy_s) &&
		isfinite(sum->dead_mean) && isfinite(sum->dead_most) && sum->vacuums >= 0 && sum->read >= 0 &&
		sum->dirtied >= 0 && sum->busy_s >= 0 && sum->dead_mean >= 0;
}

/* Nothing overflows, whatever was recorded. */
static void
test_overflow(void)
{
	double		values[] = {0, 1, 1e6, 9e15, 9.2e18, 1e300};

	for (size_t i = 0; i < lengthof(values); i++)
		for (size_t j = 0; j < lengthof(values); j++)
		{
			World	   *w = world(2, 4);
			bool		sane = true;

			for (int h = 0; h < 4; h++)
			{
				w->activity[0][h].updated = w->activity[0][h].inserted = values[i];
				w->activity[0][h].hot_updated = values[j];
				w->activity[0][h].live = values[j];
			}
			update(w, 1, 20051);
			w->tables[0].rows = values[j];
			w->tables[0].pages = values[i];
			simulate(&w->s);
			for (int h = 0; h < 4; h++)
				sane = sane && is_sane(&w->by_hour[h]);
			tap_ok(sane && is_sane(&w->tables[0].sum) && is_sane(&w->tables[1].sum), "any number of rows", "is sane");
			tap_ok(w->tables[1].sum.vacuums <= 5, "any number of rows", "does not touch the other table");
			free(w);
		}
}

/* ----
 * Autovacuum alone
 * ----
 */

static void
test_core(void)
{
	World	   *w = world(1, 24);

	update(w, 0, 3600000);
	w->tables[0].settings.vacuum_base = 1;
	w->tables[0].settings.vacuum_scale = 0;
	w->tables[0].interval_s = 60;
	w->s.rules.act = false;
	w->s.rules.look_s = 60;
	simulate(&w->s);
	tap_ok(w->tables[0].sum.dead_most > 20050, "autovacuum", "goes by its own threshold");
	tap_ok(w->tables[0].sum.vacuums <= 24 * 60, "autovacuum", "looks once in its naptime");
	tap_ok(w->tables[0].sum.vacuums >= 24 * 20 - 2, "autovacuum", "and comes");
	w->tables[0].settings.core_counts = false;
	simulate(&w->s);
	tap_is_double(w->tables[0].sum.vacuums, 0, "autovacuum, switched off", "does not come");
	free(w);
}

/* ----
 * What is learned
 * ----
 */

static void
test_learning(void)
{
	World	   *w = world(1, 24);
	SimulateTable *t = &w->tables[0];
	SimulateLearned *learned = t->learned;

	/* a quarter of the HOT-updated rows is left at each hour's end */
	for (int h = 0; h < 24; h++)
	{
		w->activity[0][h].updated = 1000;
		w->activity[0][h].hot_updated = 1000;
		w->activity[0][h].dead = 250 * (h + 1);
	}
	simulate_learn(&w->s, false);
	tap_is_double(learned->hot_kept, 0.25, "HOT-updated rows", "what is left is learned");
	tap_is_double(learned->cost.runs, 0, "no vacuum", "nothing is learned of its cost");
	tap_is_double(learned->cost.read, 1, "no vacuum", "the model stays as it is");

	/*
	 * a vacuum that tells what it removed counts, one that does not is left
	 * out
	 */
	w->activity[0][10].dead = 0;
	w->activity[0][10].runs = 1;
	w->activity[0][10].removed = 2750;
	for (int h = 11; h < 24; h++)
		w->activity[0][h].dead = 250 * (h - 10);
	simulate_learn(&w->s, false);
	tap_is_double(learned->hot_kept, 0.25, "HOT-updated rows", "with a vacuum between them");
	w->activity[0][10].removed = 0;
	simulate_learn(&w->s, false);
	tap_is_double(learned->hot_kept, 0.25, "HOT-updated rows", "an hour that tells nothing is left out");
	w->activity[0][5].others = 1;
	w->activity[0][5].dead = 0;
	w->activity[0][6].dead = 250;
	w->s.half = 7;
	simulate_learn(&w->s, true);
	tap_is_double(learned[1].hot_kept, 0.25, "HOT-updated rows", "and so is one with a vacuum by hand");
	w->s.half = 0;
	simulate_learn(&w->s, true);
	tap_is_double(learned[1].hot_kept, 1, "HOT-updated rows", "without any hour all are kept");
	free(w);

	/* vacuums cost half of what the model says, but only in the second half */
	w = world(1, 24);
	t = &w->tables[0];
	update(w, 0, 20051);
	for (int h = 0; h < 24; h++)
	{
		VacuumWork	work = {2000, 500, 1, 50, 20051, 20051, 20051,.cold = 1};
		VacuumCost	cost = vacuum_cost(&work);

		w->activity[0][h].runs = 1;
		w->activity[0][h].made.read = cost.read * (h < 12 ? 1 : 0.5);
		w->activity[0][h].made.dirtied = cost.dirtied;
		w->activity[0][h].made.seconds = cost.seconds;
	}
	simulate_learn(&w->s, true);
	tap_is_double(t->learned[1].cost.read, 1, "the first half", "is as modelled");
	tap_ok(fabs(t->learned[0].cost.read - 0.5) < 0.05, "the second half", "costs half");
	simulate(&w->s);
	tap_ok(w->by_hour[5].read < 0.6 * w->by_hour[18].read, "each half", "goes by its own lesson");
	free(w);
}

/* A table without a vacuum goes by what those of the others have cost. */
static void
test_unlearned(void)
{
	World	   *w = world(3, 24);

	for (int i = 0; i < 3; i++)
		update(w, i, 20051);
	for (int h = 0; h < 24; h++)
	{
		VacuumWork	work = {2000, 500, 1, 50, 20051, 20051, 20051,.cold = 1};
		VacuumCost	cost = vacuum_cost(&work);

		for (int i = 0; i < 2; i++)
		{
			w->activity[i][h].runs = 1;
			w->activity[i][h].made.read = cost.read * (i == 0 ? 0.1 : 0.3);
			w->activity[i][h].made.dirtied = cost.dirtied * 0.5;
			w->activity[i][h].made.seconds = cost.seconds;
		}
	}
	simulate_learn(&w->s, false);
	tap_ok(fabs(w->tables[0].learned[0].cost.read - 0.1) < 0.01, "a table with vacuums", "goes by its own");
	tap_ok(fabs(w->tables[2].learned[0].cost.read - 0.2) < 0.01, "a table without", "goes by those of the others");
	tap_is_double(w->tables[2].learned[0].cost.runs, 0, "a table without", "which is told");
	tap_is_double(w->tables[2].learned[1].cost.read, w->tables[2].learned[0].cost.read, "without a back-test", "both halves go by all hours");
	free(w);
}

/* In memory a page is dirty until a checkpoint writes it. */
static void
test_checkpoints(void)
{
	double		dirtied[2];

	for (int i = 0; i < 2; i++)
	{
		World	   *w = world(1, 24);

		update(w, 0, 100000);
		w->tables[0].write_s = 300;
		w->tables[0].learned[0].cost.read = w->tables[0].learned[1].cost.read = 0.001;
		w->s.rules.write_s = i == 0 ? 0 : 3000;
		simulate(&w->s);
		dirtied[i] = w->tables[0].sum.dirtied;
		free(w);
	}
	tap_ok(dirtied[1] < 0.3 * dirtied[0], "ten times as long between checkpoints", "vacuums dirty far fewer pages");
}

/* What temporary tables leave in a catalog lies on few pages.  What is learned allows for it. */
static void
test_young(void)
{
	World	   *w = world(2, 24);

	w->tables[1].catalog = true;
	for (int i = 0; i < 2; i++)
	{
		for (int h = 0; h < 24; h++)
			w->activity[i][h].inserted = w->activity[i][h].deleted = 20051;
	}
	simulate(&w->s);
	tap_ok(fabs(w->tables[0].sum.vacuums - w->tables[1].sum.vacuums) <= 1, "rows of a catalog that die young", "are as many");
	tap_ok(w->tables[1].sum.dirtied < 0.5 * w->tables[0].sum.dirtied, "rows of a catalog that die young", "lie on few pages");
	for (int h = 0; h < 24; h++)
	{
		w->activity[1][h].runs = w->by_hour[h].vacuums / 2;
		w->activity[1][h].made.read = w->tables[1].sum.read / 24;
		w->activity[1][h].made.dirtied = w->tables[1].sum.dirtied / 24;
		w->activity[1][h].made.seconds = 1;
	}
	simulate_learn(&w->s, false);
	tap_ok(fabs(w->tables[1].learned[0].cost.dirtied - 1) < 0.1, "rows of a catalog that die young", "cost what the model says");
	free(w);
}

/* The threshold is that of the last vacuum's pg_class, of which nothing is unfrozen. */
static void
test_known_sizes(void)
{
	World	   *w = growing(30000);

	w->s.rules.core_knows_frozen = true;
	w->tables[0].frozen_pages = w->tables[0].pages;
	simulate(&w->s);
	tap_ok(fabs(w->tables[0].sum.insert_vacuums - 24 * 30000 / 1001.0) <= 10, "a growing table that is frozen each time",
		   "is due by the same number of rows each time");
	free(w);

	/* ANALYZE tells of a table that grows without a vacuum */
	w = growing(100000);
	w->tables[0].settings.insert_base = w->tables[0].settings.core_insert_base = -1;
	update(w, 0, 4000);
	simulate(&w->s);
	tap_ok(w->tables[0].sum.vacuums < 24 * 4000 / 40000.0, "a table that grows without a vacuum", "has a larger threshold by and by");
	free(w);
}

/* Sessions report once a minute: thresholds are passed half a minute before somebody knows. */
static void
test_reports(void)
{
	World	   *w = world(1, 24);
	World	   *grows = growing(60000);

	update(w, 0, 20051 * 60);
	w->s.rules.report_s = 60;
	simulate(&w->s);
	tap_ok(fabs(w->tables[0].sum.vacuums - 24 * 60 / 1.5) < 20, "reports once a minute", "a vacuum each one and a half");
	grows->s.rules.report_s = 600;
	simulate(&grows->s);
	w->s.rules.report_s = 0;
	simulate(&w->s);
	tap_ok(fabs(w->tables[0].sum.vacuums - 24 * 60) < 60, "reports at once", "a vacuum each minute");
	tap_ok(grows->tables[0].sum.insert_vacuums > 0, "inserted rows", "are reported, too");
	free(w);
	free(grows);
}

static const struct
{
	const char *name;
	double		age;
	double		limit;
	double		ids_s;
	double		seconds;
}			ages[] = {
	{"100 million to go, at 100 a second", 100e6, 200e6, 100, 1e6},
	{"reached already", 200e6, 200e6, 100, 0},
	{"beyond it", 2.1e9, 200e6, 0, 0},
	{"no id is used", 1, 200e6, 0, -1},
};

/* 30 days and 200 tables that are vacuumed every few minutes. */
static void
test_large(void)
{
	int			tables = 200;
	int			hours = 720;
	Simulation	s = {0};
	World	   *w = world(1, 1);
	SimulateActivity *activity = calloc((size_t) tables * hours, sizeof(SimulateActivity));
	double		most = 0;

	s = w->s;
	s.hours = calloc(hours, sizeof(SimulateHour));
	s.tables = calloc(tables, sizeof(SimulateTable));
	s.by_hour = calloc(hours, sizeof(SimulateSum));
	s.next_at = calloc(tables, sizeof(double));
	s.waiting = calloc(tables, sizeof(int));
	s.hours_count = hours;
	s.tables_count = tables;
	for (int h = 0; h < hours; h++)
	{
		SimulateHour hour = {h * HOUR_S, HOUR_S, h * 60 % WINDOWS_DAY};

		((SimulateHour *) s.hours)[h] = hour;
	}
	for (int t = 0; t < tables; t++)
	{
		s.tables[t] = w->tables[0];
		s.tables[t].activity = activity + t * hours;
		s.tables[t].activities = hours;
		for (int h = 0; h < hours; h++)
		{
			activity[t * hours + h].hour = h;
			activity[t * hours + h].live = 100000;
			activity[t * hours + h].updated = 100 * (t + 1) * (h % 24 + 1);
		}
	}
	calls = 0;
	simulate(&s);
	for (int t = 0; t < tables; t++)
		most = fmax(most, s.tables[t].sum.vacuums);
	tap_ok(most > 700 && most < 720 * 60, "30 days, 200 tables", "the busiest");
	tap_ok(calls > 720, "30 days, 200 tables", "may be interrupted");
	free((SimulateHour *) s.hours);
	free(s.tables);
	free(s.by_hour);
	free(s.next_at);
	free(s.waiting);
	free(activity);
	free(w);
}

int
main(void)
{
	test_constant();
	test_dead_rows();
	test_hot();
	test_more_often();
	test_budget();
	test_shared_budget();
	test_windows();
	test_workers();
	test_catalogs();
	test_inserts();
	test_late();
	test_beside_updates();
	test_inserts_end();
	test_empty();
	test_overflow();
	test_core();
	test_learning();
	test_unlearned();
	test_checkpoints();
	test_young();
	test_known_sizes();
	test_reports();
	for (size_t i = 0; i < lengthof(ages); i++)
		tap_is_double(simulate_seconds_to_age(ages[i].age, ages[i].limit, ages[i].ids_s), ages[i].seconds,
					  ages[i].name, "");
	test_large();
	return tap_done();
}
