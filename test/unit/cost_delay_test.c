/*
 * cost_delay_test.c
 *		policy/cost_delay against synthetic processes that vacuum as the server's
 *		vacuum_delay_point() has them.
 *
 * A process has a balance of credits.  When that reaches the limit, the
 * process takes a nap of delay * balance / limit, four delays at most.  A
 * tick ends the nap it falls into, and the balance is 0 afterwards.
 *
 * Expected is that the rate is within 10 % of the target over ten seconds
 * (issue 5, criterion 1), from the third second on, and never much above it.
 */
#include "cost_delay.h"
#include "tap.h"

#define PAGE	8192.0
#define HIT		1.0
#define MISS	2.0
#define DIRTY	20.0
#define MB		RATES_MB

/* One page of the work of a process. */
typedef struct Work
{
	double		us;				/* of work */
	double		read_share;		/* of the pages are read, not found */
	double		dirty_share;
	double		wal;			/* bytes per dirtied page */
	double		slack_us;		/* by which a nap is longer than asked for */
	double		waits_us;		/* of the work: not for a processor */
} Work;

typedef struct Process
{
	Work		work;
	CostDelayState state;
	CostDelayMeans means;
	CostDelayResult result;
	bool		active;			/* result is applied */
	double		now_us;
	double		balance;
	double		reads;			/* fractions of a page, carried on */
	double		dirties;
	CostDelayTick tick;
} Process;

static void
page(Process *p)
{
	double		cost = 0;

	p->now_us += p->work.us;
	p->tick.used.cpu += (p->work.us - p->work.waits_us) / 1000;
	p->reads += p->work.read_share;
	p->dirties += p->work.dirty_share;
	if (p->reads >= 1)
	{
		p->reads -= 1;
		p->tick.used.read += PAGE;
		cost += MISS;
	}
	else
		cost += HIT;
	if (p->dirties >= 1)
	{
		p->dirties -= 1;
		p->tick.used.write += PAGE;
		p->tick.used.wal += p->work.wal;
		cost += DIRTY;
	}
	p->tick.credits += cost;
	p->balance += cost;
}

/* Runs until the next tick. */
static void
run_tick(Process *p, const Rates *target)
{
	double		begin = p->now_us;
	double		end = begin + p->means.tick_ms * 1000;

	while (p->now_us < end)
	{
		page(p);
		if (p->active && p->result.delay_ms > 0 && p->balance >= p->result.limit)
		{
			double		ms = p->result.delay_ms * p->balance / p->result.limit;

			ms = ms > 4 * p->result.delay_ms ? 4 * p->result.delay_ms : ms;
			p->now_us += ms * 1000 + p->work.slack_us;
			if (p->now_us > end)
				p->now_us = end;	/* cut short */
			p->balance = 0;
		}
	}
	p->tick.dt_ms = (p->now_us - begin) / 1000;
	cost_delay_step(&p->state, target, &p->tick, &p->means, &p->result);
	p->active = true;
}

static void
process_begin(Process *p, const Work *work)
{
	memset(p, 0, sizeof(*p));
	p->work = *work;
	p->means.tick_ms = 250;
	p->means.page = HIT + MISS + DIRTY;
	p->means.most.read = PAGE / MISS;
	p->means.most.write = p->means.most.wal = PAGE / DIRTY;
	p->means.most.cpu = 0.1;
	cost_delay_begin(&p->state);
}

/* As the pacer does it: the first tick comes soon. */
static void
first_tick(Process *p, const Rates *target)
{
	p->means.tick_ms = 20;
	run_tick(p, target);
	p->means.tick_ms = 250;
}

/* Runs for some seconds.  Returns the mean rates. */
static Rates
run(Process *p, const Rates *target, double seconds)
{
	Rates		sum = {0};
	double		begin = p->now_us;

	while (p->now_us < begin + seconds * 1e6)
	{
		memset(&p->tick, 0, sizeof(p->tick));
		run_tick(p, target);
		sum.read += p->tick.used.read;
		sum.write += p->tick.used.write;
		sum.wal += p->tick.used.wal;
		sum.cpu += p->tick.used.cpu;
	}
	begin = (p->now_us - begin) / 1e6;
	sum.read /= begin;
	sum.write /= begin;
	sum.wal /= begin;
	sum.cpu /= begin;
	sum.total = sum.read + sum.write + sum.wal;
	return sum;
}

static void
is_near(double got, double expected, double share, const char *name, const char *what)
{
	if (!tap_ok(fabs(got - expected) <= share * expected, name, what))
		printf("#      got: %.3f MB/s\n# expected: %.3f MB/s\n", got / MB, expected / MB);
}

static void
is_at_most(double got, double expected, const char *name, const char *what)
{
	if (!tap_ok(got <= expected, name, what))
		printf("#      got: %.3f MB/s\n# at most: %.3f MB/s\n", got / MB, expected / MB);
}

/* us, read, dirty, WAL per dirtied page, slack */
static const Work heap_cached = {4, 0, 1, 200, 60};
static const Work heap_fpi = {8, 1, 1, 8250, 60};
static const Work heap_read = {25, 1, 0.1, 300, 60};
static const Work all_hits = {1, 0, 0.02, 500, 60};
static const Work slow_disk = {2000, 1, 1, 300, 60, 1990};
static const Work lazy_clock = {8, 1, 1, 300, 1000};

static const struct
{
	const char *name;
	const Work *work;
	Rates		target;			/* MB/s */
	int			fixed_limit;
	double		expected;		/* MB/s of what is limited, or ms of a
								 * processor */
}			steady[] = {
	{"write, cached", &heap_cached, {0, 20, 0, 0}, 0, 20},
	{"write, cached, slow", &heap_cached, {0, 1, 0, 0}, 0, 1},
	{"write, cached, very slow", &heap_cached, {0, 0.25, 0, 0}, 0, 0.25},
	{"write, cached, fast", &heap_cached, {0, 300, 0, 0}, 0, 300},
	{"write, full-page images", &heap_fpi, {0, 10, 0, 0}, 0, 10},
	{"WAL, full-page images", &heap_fpi, {0, 0, 10, 0}, 0, 10},
	{"read", &heap_read, {40, 0, 0, 0}, 0, 40},
	{"read, slow", &heap_read, {2, 0, 0, 0}, 0, 2},
	{"read, near what it can do", &heap_read, {250, 0, 0, 0}, 0, 250},
	{"write, mostly hits", &all_hits, {0, 5, 0, 0}, 0, 5},
	{"total", &heap_fpi, {0, 0, 0, 30}, 0, 30},
	{"naps that overshoot", &lazy_clock, {0, 20, 0, 0}, 0, 20},
	{"delay only", &heap_fpi, {0, 20, 0, 0}, 200, 20},
	{"delay only, fast", &heap_cached, {0, 100, 0, 0}, 200, 100},
	{"delay only, slow", &heap_fpi, {0, 1, 0, 0}, 200, 1},
	{"delay only, a small limit", &heap_fpi, {0, 10, 0, 0}, 20, 10},
	{"a fifth of a processor, mostly hits", &all_hits, {.cpu = 200}, 0, 200},
	{"a fifth of a processor, dirtied", &heap_cached, {.cpu = 200}, 0, 200},
	{"nearly all of a processor", &heap_fpi, {.cpu = 900}, 0, 900},
	{"a tenth of a processor, delay only", &heap_cached, {.cpu = 100}, 200, 100},
};

static double
limited_rate(const Rates *rates, const Rates *target)
{
	if (target->read > 0)
		return rates->read;
	if (target->write > 0)
		return rates->write;
	if (target->cpu > 0)
		return rates->cpu * MB;
	return target->wal > 0 ? rates->wal : rates->total;
}

static Rates
in_bytes(const Rates *mb)
{
	Rates		bytes = {mb->read * MB, mb->write * MB, mb->wal * MB, mb->total * MB, mb->cpu};

	return bytes;
}

static void
test_steady(void)
{
	for (size_t i = 0; i < lengthof(steady); i++)
	{
		Process		p;
		Rates		target = in_bytes(&steady[i].target);
		Rates		got;

		process_begin(&p, steady[i].work);
		p.means.fixed_limit = steady[i].fixed_limit;
		p.result.limit = steady[i].fixed_limit;
		run(&p, &target, 10);
		got = run(&p, &target, 10);
		is_near(limited_rate(&got, &target), steady[i].expected * MB, 0.03, steady[i].name, "ten seconds");
		tap_ok(p.result.delay_ms <= p.means.tick_ms / (p.means.fixed_limit > 0 ? 1 : 4), steady[i].name, "a nap fits into a tick");
		tap_ok(p.result.limit >= 1 && p.result.limit <= 10000, steady[i].name, "a limit that can be set");
		tap_ok(p.result.limited_by != LIMIT_NONE, steady[i].name, "it is limited");
	}
}

/* Waiting for the disk is no use of a processor. */
static void
test_processor(void)
{
	Process		p;
	Rates		target = {.cpu = 200};
	Rates		got;

	process_begin(&p, &slow_disk);
	first_tick(&p, &target);
	got = run(&p, &target, 10);
	tap_ok(got.read > 3.5 * MB, "a fifth of a processor, slow disk", "is no limit");
	p.work = heap_cached;
	run(&p, &target, 1);
	got = run(&p, &target, 10);
	is_near(got.cpu * MB, 200 * MB, 0.1, "then all is in memory", "is one");
}

/*
 * What went before the first tick is included.  Over 60 s that does not count
 * much.
 */
static void
test_from_start(void)
{
	for (size_t i = 0; i < lengthof(steady); i++)
	{
		Process		p;
		Rates		target = in_bytes(&steady[i].target);
		Rates		got;

		if (steady[i].expected < 5)
			continue;
		process_begin(&p, steady[i].work);
		p.means.fixed_limit = steady[i].fixed_limit;
		first_tick(&p, &target);
		got = run(&p, &target, 60);
		is_near(limited_rate(&got, &target), steady[i].expected * MB, 0.05, steady[i].name, "a minute from its start");
	}
}

static void
test_changes(void)
{
	Process		p;
	Rates		fast = {0, 40 * MB, 0, 0};
	Rates		slow = {0, 4 * MB, 0, 0};
	Rates		none = {0};
	Rates		pause = {0, 0, 0, 1};
	Rates		got;

	process_begin(&p, &heap_cached);
	first_tick(&p, &fast);
	run(&p, &fast, 3);
	run(&p, &slow, 0.5);
	got = run(&p, &slow, 1);
	is_near(got.write, slow.write, 0.15, "to a tenth", "from half a second on");
	run(&p, &fast, 0.5);
	got = run(&p, &fast, 1);
	is_near(got.write, fast.write, 0.15, "and back", "from half a second on");

	run(&p, &pause, 0.5);
	got = run(&p, &pause, 2);
	is_at_most(got.write, 0.05 * MB, "all but stopped", "in two seconds");
	run(&p, &fast, 0.5);
	got = run(&p, &fast, 2);
	is_near(got.write, fast.write, 0.2, "and on again", "from half a second on");

	run(&p, &none, 0.5);
	tap_is_bool(p.result.delay_ms == 0, true, "without a limit", "no naps");
	tap_is_bool(p.result.limited_by == LIMIT_NONE, true, "without a limit", "by nothing");
	got = run(&p, &none, 1);
	tap_ok(got.write > 1000 * MB, "without a limit", "as fast as it can");
	run(&p, &slow, 0.25);
	got = run(&p, &slow, 2);
	is_near(got.write, slow.write, 0.2, "limited again", "without paying for what was allowed");

	/* hurried: the limit stays, and does not count for a while */
	for (int i = 0; i < 20; i++)
	{
		p.active = false;
		run_tick(&p, &slow);
		cost_delay_forgive(&p.state);
		cost_delay_unpaced(&p.state, 0);
	}
	run(&p, &slow, 0.25);
	got = run(&p, &slow, 2);
	is_near(got.write, slow.write, 0.2, "hurried for five seconds", "and nothing is paid back");
}

/* What a page costs changes while the vacuum runs. */
static void
test_phases(void)
{
	static const Work *const phases[] = {&heap_read, &all_hits, &heap_fpi, &heap_cached, &slow_disk, &heap_fpi};
	Process		p;
	Rates		target = {30 * MB, 10 * MB, 12 * MB, 0};

	process_begin(&p, phases[0]);
	first_tick(&p, &target);
	for (size_t i = 0; i < lengthof(phases); i++)
	{
		char		what[32];
		Rates		got;

		snprintf(what, sizeof(what), "phase %d", (int) i);
		p.work = *phases[i];
		got = run(&p, &target, 12);
		is_at_most(got.read, 1.08 * target.read, "all three limits", what);
		is_at_most(got.write, 1.08 * target.write, "all three limits", what);
		is_at_most(got.wal, 1.08 * target.wal, "all three limits", what);
		if (phases[i] != &slow_disk)
			tap_ok(got.read > 0.9 * target.read || got.write > 0.9 * target.write || got.wal > 0.9 * target.wal,
				   "one of them is used up", what);
	}
}

/* Full-page images for a second in ten, as after checkpoints. */
static void
test_wal_bursts(void)
{
	Process		p;
	Rates		target = {0, 0, 10 * MB, 0};
	double		wal = 0;

	process_begin(&p, &heap_cached);
	p.work.wal = 500;
	run(&p, &target, 5);
	for (int i = 0; i < 6; i++)
	{
		Rates		got;

		p.work.wal = 8250;
		got = run(&p, &target, 1);
		wal += got.wal;
		p.work.wal = 500;
		got = run(&p, &target, 9);
		wal += got.wal * 9;
	}
	is_near(wal / 60, target.wal, 0.1, "bursts of WAL", "a minute");
}

/* It cannot use its target, and then it can.  There is no burst. */
static void
test_stalls(void)
{
	Process		p;
	Rates		target = {0, 20 * MB, 0, 0};
	Rates		got;
	double		worst = 0;

	process_begin(&p, &heap_fpi);
	run(&p, &target, 3);
	p.work.us = 2000;
	got = run(&p, &target, 10);
	is_near(got.write, PAGE / 2000e-6, 0.1, "a slow disk", "all that it gives");
	tap_is_bool(p.result.limited_by == LIMIT_NONE, true, "a slow disk", "no limit binds");
	p.work.us = heap_fpi.us;
	run(&p, &target, 0.25);
	got = run(&p, &target, 10);
	is_at_most(got.write, 1.1 * target.write, "fast again", "ten seconds after a tick");

	/* one stall of a second, ten times */
	for (int i = 0; i < 10; i++)
	{
		p.work.us = 500000;
		run(&p, &target, 1);
		p.work.us = heap_fpi.us;
		run(&p, &target, 0.25);
		for (int j = 0; j < 8; j++)
		{
			got = run(&p, &target, 0.25);
			worst = got.write > worst ? got.write : worst;
		}
		run(&p, &target, 2);
	}
	is_at_most(worst, 1.3 * target.write, "after a stall", "each tick of the next two seconds");
}

static void
test_slow_costs(void)
{
	Process		p;
	Rates		target = {0, 0, 6 * MB, 0};
	Rates		got;

	/* the server's own costs until the first tick: a credit per ms */
	process_begin(&p, &heap_fpi);
	p.active = true;
	p.result.limit = 20;
	p.result.delay_ms = 20;
	cost_delay_unpaced(&p.state, 1);
	first_tick(&p, &target);
	run(&p, &target, 0.5);
	got = run(&p, &target, 2);
	is_near(got.wal, target.wal, 0.1, "costs that were slower", "from half a second on");
}

/* Its own costs are a ceiling as well. */
static void
test_least_sleep(void)
{
	Process		p;
	Rates		target = {0, 200 * MB, 0, 0};
	Rates		got;

	process_begin(&p, &heap_cached);
	p.means.least_sleep = 20.0 / 200;
	run(&p, &target, 2);
	got = run(&p, &target, 10);
	/* 200 credits per 20 ms: 476 pages of 21 credits a second and a bit less */
	is_at_most(got.write, 200.0 / 21 / 0.020 * PAGE * 1.1, "costs of its own", "they bind");
	tap_is_bool(p.result.limited_by == LIMIT_NONE, true, "costs of its own", "the budget does not");
}

static void
test_hostile(void)
{
	Process		p;
	Rates		target = {0, 10 * MB, 0, 0};
	CostDelayTick nothing = {0};
	CostDelayTick jump = {250, 1e9, {1e12, 1e12, 1e12, 0}};
	Rates		got;

	process_begin(&p, &heap_fpi);
	for (int i = 0; i < 100; i++)
		cost_delay_step(&p.state, &target, &nothing, &p.means, &p.result);
	tap_ok(isfinite(p.result.delay_ms) && p.result.limit >= 1, "ticks without time or work", "");
	nothing.dt_ms = 250;
	for (int i = 0; i < 100; i++)
		cost_delay_step(&p.state, &target, &nothing, &p.means, &p.result);
	tap_ok(isfinite(p.result.delay_ms) && p.result.limit >= 1, "ticks without work", "");
	cost_delay_begin(&p.state);
	cost_delay_step(&p.state, &target, &nothing, &p.means, &p.result);
	tap_ok(p.result.limit / p.result.delay_ms * 1000 * PAGE / DIRTY <= target.write * 1.01,
		   "nothing is known yet", "no faster than the target");
	cost_delay_step(&p.state, &target, &jump, &p.means, &p.result);
	tap_ok(isfinite(p.result.delay_ms) && p.result.delay_ms <= 62.5 && p.result.limit >= 1, "a jump of the counters", "");
	p.active = true;
	run(&p, &target, 12);
	got = run(&p, &target, 10);
	is_near(got.write, target.write, 0.05, "a jump of the counters", "it is over after some seconds");
}

int
main(void)
{
	test_steady();
	test_processor();
	test_from_start();
	test_changes();
	test_phases();
	test_wal_bursts();
	test_stalls();
	test_slow_costs();
	test_least_sleep();
	test_hostile();
	return tap_done();
}
