/*
 * policy/simulate_learn.c
 *		What do recorded vacuums teach about the next ones?  Pure.
 *
 * What the model of a vacuum's cost is wrong by is learned for each table.
 * What is in memory, though, is a matter of the server more than of a table.
 * So all tables together teach what is assumed of a table that had no vacuum,
 * or few.
 */
#include "simulate.h"

#include <math.h>

#include "simulate_table.h"

/* With fewer HOT-updated rows nothing is learned of how many are pruned. */
#define HOT_LEAST		100

/* The hours that teach. */
typedef struct Hours
{
	const SimulateHour *hours;
	int			first;
	int			end;			/* behind the last one */
} Hours;

/* Vacuums: what they cost by the model, and what they did cost. */
typedef struct Lesson
{
	VacuumCost	modelled;
	VacuumCost	made;
	double		runs;
} Lesson;

static bool
teaches(const Hours *h, const SimulateActivity *a)
{
	return a->hour >= h->first && a->hour < h->end;
}

/* ----
 * Pruning
 * ----
 */

/*
 * Dead rows become more by what users do, and fewer by vacuums.  What is
 * missing in between has been pruned by queries, which is possible for
 * HOT-updated rows only.  Hours whose vacuums do not tell what they removed
 * say nothing.
 */
static double
learn_hot_kept(const SimulateTable *t, const Hours *h)
{
	double		before = t->dead_begin;
	double		left = 0;
	double		hot = 0;

	for (int i = 0; i < t->activities; i++)
	{
		const SimulateActivity *a = &t->activity[i];

		if (teaches(h, a) && before >= 0 && a->dead >= 0 &&
			(a->runs <= 0 || a->removed > 0) && a->others <= 0)
		{
			left += a->dead - before + a->removed - simulate_cold_dead(a);
			hot += a->hot_updated;
		}
		before = a->dead;
	}
	if (hot < HOT_LEAST || left >= hot)
		return 1;
	return left > 0 ? left / hot : 0;
}

/* ----
 * Costs
 * ----
 */

/* So many vacuums of an hour are gone through one by one.  The others are like these. */
#define EACH_LIMIT		16

/* What was done since the hour of the last vacuums. */
typedef struct Done
{
	double		changed;
	double		added;
	double		dead;
	double		young;
	double		seconds;
	int			hour;			/* in which it ends */
} Done;

static void
add_done(Done *done, const SimulateTable *t, const SimulateActivity *a, const SimulateHour *hours)
{
	done->changed += simulate_changed(t, a);
	done->added += simulate_added(a);
	done->dead += simulate_cold_dead(a);
	done->young += simulate_young(t, a);
	for (; done->hour <= a->hour; done->hour++)
		done->seconds += hours[done->hour].seconds;
}

/*
 * The vacuums of an hour, which have shared what was done since the hour of
 * those before them.
 */
static VacuumCost
cost_of_hour(const SimulateTable *t, const SimulateActivity *a, const Done *done, double cold, VacuumLeft *left)
{
	VacuumCost	sum = {0};
	VacuumCost	each;
	double		before;
	int			made = 0;

	do
	{
		VacuumWork	w = simulate_table_work(t, a->live, cold);
		VacuumCost	cost;

		w.changed = done->changed / a->runs;
		w.added = done->added / a->runs;
		w.dead = done->dead / a->runs;
		w.young = done->young / a->runs;
		w.seconds = done->seconds / a->runs;
		before = left->rows;
		cost = vacuum_cost_after(&w, left, t->own_inserts, cold);
		vacuum_cost_add(&sum, &cost, 1);
		made++;
	} while (left->rows != before && made < fmin(a->runs, EACH_LIMIT));
	each = sum;
	vacuum_cost_add(&sum, &each, a->runs / made - 1);
	return sum;
}

static Lesson
lesson_of(const SimulateTable *t, const Hours *h, double cold)
{
	Lesson		lesson = {{0}};
	Done		done = {0};
	VacuumLeft	left = {0};

	for (int i = 0; i < t->activities; i++)
	{
		const SimulateActivity *a = &t->activity[i];
		VacuumCost	cost;

		add_done(&done, t, a, h->hours);
		if (a->runs <= 0)
			continue;
		cost = cost_of_hour(t, a, &done, cold, &left);
		if (teaches(h, a))
		{
			vacuum_cost_add(&lesson.modelled, &cost, 1);
			vacuum_cost_add(&lesson.made, &a->made, 1);
			lesson.runs += a->runs;
		}
		done.changed = done.added = done.dead = done.young = done.seconds = 0;
	}
	return lesson;
}

static VacuumCorrection
correction_by(const Lesson *lesson, const VacuumCorrection *otherwise)
{
	return vacuum_correction_learn(&lesson->modelled, &lesson->made, lesson->runs, otherwise);
}

static double
cold_of(const SimulateTable *t, int half, bool known)
{
	return known ? t->learned[half].cost.read : 1;
}

/*
 * Twice: what had to be read tells what is in memory, on which depends what
 * is dirtied.
 */
static void
learn_costs(Simulation *s, int half, const Hours *h)
{
	for (int pass = 0; pass < 2; pass++)
	{
		VacuumCorrection common = vacuum_correction_none();
		Lesson		all = {{0}};

		for (int i = 0; i < s->tables_count; i++)
		{
			Lesson		one = lesson_of(&s->tables[i], h, cold_of(&s->tables[i], half, pass > 0));

			vacuum_cost_add(&all.modelled, &one.modelled, 1);
			vacuum_cost_add(&all.made, &one.made, 1);
			all.runs += one.runs;
		}
		common = correction_by(&all, &common);
		for (int i = 0; i < s->tables_count; i++)
		{
			SimulateTable *t = &s->tables[i];
			Lesson		one = lesson_of(t, h, cold_of(t, half, pass > 0));

			t->learned[half].cost = correction_by(&one, &common);
		}
	}
}

void
simulate_learn(Simulation *s, bool back_test)
{
	for (int half = 0; half < 2; half++)
	{
		Hours		h = {s->hours, 0, s->hours_count};

		if (back_test && half == 0)
			h.first = s->half;
		if (back_test && half == 1)
			h.end = s->half;
		for (int i = 0; i < s->tables_count; i++)
			s->tables[i].learned[half].hot_kept = learn_hot_kept(&s->tables[i], &h);
		learn_costs(s, half, &h);
	}
}
