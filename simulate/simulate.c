/*
 * policy/simulate.c
 *		What would other settings have done with what users did?  Pure.
 *
 * This is the clock, the workers and what they may use.  A table is in
 * simulate_table.c.
 */
#include "simulate.h"

#include <math.h>
#include <string.h>

#include "order.h"
#include "rates.h"
#include "share.h"
#include "simulate_table.h"

/* Events between two calls that may interrupt. */
#define EVENTS_PER_CALL		1024

/* A vacuum that runs. */
typedef struct Job
{
	int			table;
	VacuumCost	cost;
	bool		catalog_place;
	double		began;
	double		done;			/* share */
	double		speed;			/* share a second */
	double		ends_at;
} Job;

/* The simulation while it runs. */
typedef struct Run
{
	Simulation *s;
	const SimulateRules *rules;
	SimulateSum *sum;			/* of this hour */
	bool		second_half;
	double		now;
	double		checkpoint_at;
	double		window_at;		/* when other limits may begin */
	double		read_limit;		/* pages a second (0: not limited) */
	double		write_limit;
	Job			jobs[SIMULATE_JOBS_LIMIT];
	int			jobs_count;
	int			waiting_count;
	int			events;
} Run;

static double
earlier(double a, double b)
{
	return a < b ? a : b;
}

/* ----
 * What vacuums may use
 * ----
 */

static double
limit_of(const Window *window, BudgetLimit limit, double otherwise)
{
	return window != NULL && window->set[limit] ? window->value[limit] : otherwise;
}

/* How many minutes until a window begins or ends. */
static int
minutes_until_edge(const Windows *windows, int minute)
{
	int			least = WINDOWS_DAY;

	for (int i = 0; i < windows->count; i++)
	{
		int			edges[2] = {windows->windows[i].from, windows->windows[i].until};

		for (int j = 0; j < 2; j++)
		{
			int			until = ((edges[j] - minute) % WINDOWS_DAY + WINDOWS_DAY) % WINDOWS_DAY;

			if (until > 0 && until < least)
				least = until;
		}
	}
	return least;
}

/* Finds the limits of now, and when they may be others. */
static void
find_limits(Run *run, const SimulateHour *hour)
{
	const SimulateRules *r = run->rules;
	double		minutes = floor((run->now - hour->begin) / 60 + 1e-6);
	int			minute = (int) fmod(fmod(hour->minute + minutes, WINDOWS_DAY) + WINDOWS_DAY, WINDOWS_DAY);
	const Window *window = windows_at(&r->windows, minute);
	double		pages = RATES_MB / r->page_bytes;

	run->read_limit = limit_of(window, LIMIT_READ, r->read_limit) * pages;
	run->write_limit = limit_of(window, LIMIT_WRITE, r->write_limit) * pages;
	run->window_at = r->windows.count > 0 ?
		hour->begin + 60 * (minutes + minutes_until_edge(&r->windows, minute)) : HUGE_VAL;
}

/* As fast as its share of one limit allows. */
static void
keep_to(Run *run, double limit, double (*pages) (const Job *))
{
	ShareMember members[SIMULATE_JOBS_LIMIT];
	double		shares[SIMULATE_JOBS_LIMIT];

	if (limit <= 0)
		return;
	for (int i = 0; i < run->jobs_count; i++)
	{
		members[i].weight = 1;
		members[i].demand = pages(&run->jobs[i]) / run->jobs[i].cost.seconds;
	}
	share_divide(limit, members, run->jobs_count, shares);
	for (int i = 0; i < run->jobs_count; i++)
	{
		if (pages(&run->jobs[i]) > 0)
			run->jobs[i].speed = earlier(run->jobs[i].speed, shares[i] / pages(&run->jobs[i]));
	}
}

static double
pages_read(const Job *job)
{
	return job->cost.read;
}

static double
pages_dirtied(const Job *job)
{
	return job->cost.dirtied;
}

/* How fast do the vacuums that run go on from now? */
static void
divide_budget(Run *run)
{
	for (int i = 0; i < run->jobs_count; i++)
		run->jobs[i].speed = 1 / run->jobs[i].cost.seconds;
	keep_to(run, run->read_limit, pages_read);
	keep_to(run, run->write_limit, pages_dirtied);
	for (int i = 0; i < run->jobs_count; i++)
	{
		Job		   *job = &run->jobs[i];

		job->ends_at = job->done >= 1 ? run->now : run->now + (1 - job->done) / job->speed;
	}
}

/* ----
 * Vacuums
 * ----
 */

/* The next look at all tables that comes not before that time. */
static double
look_after(const Run *run, double at)
{
	double		first = run->s->hours[0].begin;
	double		look = run->rules->look_s;

	if (look <= 0 || at == HUGE_VAL)
		return at;
	return first + ceil((at - first) / look - 1e-6) * look;
}

static void
look_again(Run *run, int table)
{
	double		at = look_after(run, simulate_table_next(&run->s->tables[table], run->rules, run->now));

	/* it was not due now, so it is not before the next look */
	if (at <= run->now)
		at = run->now + (run->rules->look_s > 0 ? run->rules->look_s : 1);
	run->s->next_at[table] = at;
}

static void
end_job(Run *run, int n)
{
	Job			job = run->jobs[n];
	SimulateTable *t = &run->s->tables[job.table];
	bool		by_inserts = t->state.due != SIMULATE_DUE_DEAD;
	SimulateSum *sums[2] = {run->sum, &t->sum};

	run->jobs[n] = run->jobs[--run->jobs_count];
	simulate_table_advance(t, run->now);
	simulate_table_vacuum_end(t, run->rules, run->now, &job.cost);
	for (int i = 0; i < 2; i++)
	{
		sums[i]->vacuums++;
		sums[i]->insert_vacuums += by_inserts;
		sums[i]->read += job.cost.read;
		sums[i]->dirtied += job.cost.dirtied;
	}
	t->sum.busy_s += run->now - job.began;
	look_again(run, job.table);
}

/* Returns whether any has ended. */
static bool
end_jobs(Run *run)
{
	bool		any = false;

	for (int i = run->jobs_count - 1; i >= 0; i--)
	{
		if (run->jobs[i].ends_at <= run->now)
		{
			end_job(run, i);
			any = true;
		}
	}
	return any;
}

static OrderKey
key_of(const Run *run, const SimulateTable *t)
{
	OrderKey	key = {.catalog = t->catalog};

	if (!run->rules->act)
		return key;
	if (run->now - t->state.due_since > run->rules->max_wait_s)
		key.overdue_since = (int64_t) (1000 * (t->state.due_since - run->s->hours[0].begin)) + 1;
	key.for_checkpoint = t->state.due == SIMULATE_DUE_CHECKPOINT;
	key.score = simulate_table_score(t, run->rules);
	return key;
}

/* The waiting table that comes first, or -1. */
static int
first_waiting(Run *run, bool catalogs_only)
{
	int			best = -1;
	OrderKey	best_key = {0};

	for (int i = 0; i < run->waiting_count; i++)
	{
		SimulateTable *t = &run->s->tables[run->s->waiting[i]];
		OrderKey	key;

		if (catalogs_only && !t->catalog)
			continue;
		simulate_table_advance(t, run->now);
		key = key_of(run, t);
		if (best < 0 || order_compare(&key, &best_key) < 0)
		{
			best = i;
			best_key = key;
		}
	}
	return best;
}

static void
start_job(Run *run, int n, bool catalog_place)
{
	Job		   *job = &run->jobs[run->jobs_count++];

	memset(job, 0, sizeof(*job));
	job->table = run->s->waiting[n];
	run->s->waiting[n] = run->s->waiting[--run->waiting_count];
	job->catalog_place = catalog_place;
	job->began = run->now;
	job->cost = simulate_table_vacuum_begin(&run->s->tables[job->table], run->rules, run->second_half);
}

/* Gives the free workers what comes first.  Returns whether any has begun. */
static bool
start_jobs(Run *run)
{
	int			busy = 0;
	bool		place_free = run->rules->catalog_place;
	bool		any = false;
	int			n;

	for (int i = 0; i < run->jobs_count; i++)
	{
		busy += !run->jobs[i].catalog_place;
		place_free = place_free && !run->jobs[i].catalog_place;
	}
	while (run->waiting_count > 0 && run->jobs_count < SIMULATE_JOBS_LIMIT)
	{
		bool		in_place = place_free && (n = first_waiting(run, true)) >= 0;

		if (!in_place && (busy >= run->rules->workers || (n = first_waiting(run, false)) < 0))
			break;
		start_job(run, n, in_place);
		place_free = place_free && !in_place;
		busy += !in_place;
		any = true;
	}
	run->sum->waiting = run->waiting_count > run->sum->waiting ? run->waiting_count : run->sum->waiting;
	return any;
}

/* ----
 * The clock
 * ----
 */

static void
look_at(Run *run, int table, bool checkpoint)
{
	SimulateTable *t = &run->s->tables[table];
	SimulateMoment m = {run->now, run->checkpoint_at, checkpoint};

	if (t->state.busy)
		return;
	simulate_table_advance(t, run->now);
	t->state.due = simulate_table_due(t, run->rules, &m);
	if (t->state.due == SIMULATE_NOT_DUE)
	{
		if (!checkpoint)
			look_again(run, table);
		return;
	}
	t->state.busy = true;
	t->state.due_since = run->now;
	run->s->waiting[run->waiting_count++] = table;
	run->s->next_at[table] = HUGE_VAL;
}

static void
look_at_growing(Run *run)
{
	for (int i = 0; i < run->s->tables_count; i++)
	{
		if (run->s->tables[i].own_inserts && run->s->tables[i].checkpoint_aware)
			look_at(run, i, true);
	}
	run->checkpoint_at += run->rules->checkpoint_s;
}

static double
next_event(const Run *run, double end)
{
	double		at = earlier(end, earlier(run->checkpoint_at, run->window_at));

	for (int i = 0; i < run->s->tables_count; i++)
		at = earlier(at, run->s->next_at[i]);
	for (int i = 0; i < run->jobs_count; i++)
		at = earlier(at, run->jobs[i].ends_at);
	return at > run->now ? at : run->now;
}

static void
go_on_to(Run *run, double at)
{
	double		seconds = at - run->now;

	for (int i = 0; i < run->jobs_count; i++)
		run->jobs[i].done += run->jobs[i].speed * seconds;
	run->sum->busy_s += run->jobs_count * seconds;
	run->now = at;
}

static void
go_through(Run *run, const SimulateHour *hour, double end)
{
	bool		changed = true;

	find_limits(run, hour);
	while (run->now < end || changed)
	{
		if (changed)
			divide_budget(run);
		go_on_to(run, next_event(run, end));
		if (++run->events % EVENTS_PER_CALL == 0 && run->s->interrupts != NULL)
			run->s->interrupts();
		changed = end_jobs(run);
		if (run->now >= run->checkpoint_at)
			look_at_growing(run);
		for (int i = 0; i < run->s->tables_count; i++)
		{
			if (run->s->next_at[i] <= run->now)
				look_at(run, i, false);
		}
		if (run->now >= run->window_at)
		{
			find_limits(run, hour);
			changed = true;
		}
		changed |= start_jobs(run);
	}
}

/* An hour begins, or a time of which nothing is recorded. */
static void
begin_hour(Run *run, int hour, double seconds)
{
	double		new_pages_s = 0;

	for (int i = 0; i < run->s->tables_count; i++)
	{
		SimulateTable *t = &run->s->tables[i];

		simulate_table_advance(t, run->now);
		simulate_table_hour(t, hour, seconds, run->second_half);
		t->state.dead_area = 0;
		t->state.dead_most = t->state.dead + t->state.dead_hot;
		new_pages_s += simulate_table_new_pages_s(t);
	}
	for (int i = 0; i < run->s->tables_count; i++)
	{
		SimulateTable *t = &run->s->tables[i];

		t->state.fit_share = new_pages_s > 0 ? simulate_table_new_pages_s(t) / new_pages_s : 0;
		if (!t->state.busy)
			run->s->next_at[i] = look_after(run, simulate_table_next(t, run->rules, run->now));
	}
}

static void
end_hour(Run *run, double seconds)
{
	for (int i = 0; i < run->s->tables_count; i++)
	{
		SimulateTable *t = &run->s->tables[i];

		simulate_table_advance(t, run->now);
		run->sum->dead_mean += t->state.dead_area / seconds;
		run->sum->dead_most = fmax(run->sum->dead_most, t->state.dead_most);
		t->sum.dead_mean += t->state.dead_area;
		t->sum.dead_most = fmax(t->sum.dead_most, t->state.dead_most);
	}
}

void
simulate(Simulation *s)
{
	Run			run = {.s = s,.rules = &s->rules};
	SimulateSum gap;
	double		seconds = 0;

	if (s->hours_count <= 0)
		return;
	run.now = s->hours[0].begin;
	run.checkpoint_at = s->rules.act && s->rules.checkpoint_s > 0 ? run.now + s->rules.checkpoint_s : HUGE_VAL;
	for (int i = 0; i < s->tables_count; i++)
		simulate_table_begin(&s->tables[i], &s->rules, run.now);
	for (int h = 0; h < s->hours_count; h++)
	{
		const SimulateHour *hour = &s->hours[h];

		if (s->interrupts != NULL)
			s->interrupts();
		memset(&s->by_hour[h], 0, sizeof(SimulateSum));
		if (hour->seconds <= 0)
			continue;
		run.second_half = h >= s->half;
		if (run.now < hour->begin)
		{
			run.sum = memset(&gap, 0, sizeof(gap));
			begin_hour(&run, -1, 0);
			go_through(&run, hour, hour->begin);
		}
		run.sum = &s->by_hour[h];
		begin_hour(&run, h, hour->seconds);
		go_through(&run, hour, hour->begin + hour->seconds);
		end_hour(&run, hour->seconds);
		seconds += hour->seconds;
	}
	for (int i = 0; i < s->tables_count && seconds > 0; i++)
		s->tables[i].sum.dead_mean /= seconds;
}

double
simulate_seconds_to_age(double age, double limit, double ids_s)
{
	if (age >= limit)
		return 0;
	return ids_s > 0 ? (limit - age) / ids_s : -1;
}
