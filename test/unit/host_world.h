/*
 * host_world.h
 *		Servers of one machine that divide its limits, by a virtual clock.
 *
 * Each server does in its steps what governor/host_directory.c does, with the
 * same functions of policy/: it writes its record, reads those of the others,
 * and computes its share.  What it wants is a script: constant, or a series
 * that was recorded of a real one.  So what thousands of steps of a thousand
 * servers come to is known in seconds, and is the same at each run.
 */
#ifndef SWEEP_HOST_WORLD_H
#define SWEEP_HOST_WORLD_H

#include <stdlib.h>

#include "host_record.h"
#include "host_share.h"
#include "tap.h"

#define WORLD_STEP_MS		250 /* of a governor that has vacuums */
#define WORLD_IDLE_MS		1000	/* and of one that has none */
#define WORLD_WOKEN_MS		50	/* between two steps, whoever wakes it */
#define WORLD_TICK_MS		10
#define WORLD_WINDOW_MS		1000	/* over which the sum is averaged */
#define WORLD_TURN			0.02	/* a share that changes by less,
									 * relatively, keeps its direction */

/* What a server wants at a moment. */
typedef struct Want
{
	int			vacuums;
	double		urgency;
} Want;

typedef struct World World;
typedef struct Server Server;

struct Server
{
	/* set by the scenario */
	unsigned	owner;
	bool		away;			/* it was not started yet, or is dead */
	bool		stopped;		/* its governor does nothing, its vacuum goes
								 * on */
	int64_t		ahead_ms;		/* its clock */
	Want		want;			/* now */
	const Want *series;			/* one each step, again and again (NULL: want
								 * stays) */
	int			series_length;
	int			series_at;
	double		noise;			/* of the urgency, relatively */

	/* the directory and the governor */
	HostRecord	record;			/* as it is read */
	bool		told;			/* there is one */
	HostTold	tells;
	int64_t		last_ms;		/* its last step */
	int64_t		next_ms;
	HostHeard  *heard;			/* of each other */
	double		share;			/* of the device, that it uses */
	int			counts;			/* others that count */

	/* what came out */
	double		want_ms;		/* time with vacuums */
	double		share_ms;		/* integral of the share over it */
	double		turned_at;		/* the share when it last changed its
								 * direction */
	int			direction;
	int			turns;
	int			begins;			/* and how often its vacuums began */
	double		wanted_urgency; /* the same of what it wants */
	int			wanted_direction;
	int			wanted_turns;
};

struct World
{
	int			n;
	int			entries;		/* of the directory that a server looks at */
	Server	   *servers;
	HostSibling *others;
	int64_t		now;
	uint64_t	random;

	/* the sum of the shares of all that vacuum */
	double		sum;
	double		window[WORLD_WINDOW_MS / WORLD_TICK_MS];
	double		mean;			/* over the window */
	double		most_sum;
	double		most_mean;
	double		sum_ms;
	double		above_ms;		/* how long it was more than a tenth above */
	double		vacuums_ms;		/* how long anybody vacuumed */
	int64_t		steps;
};

/* All of them are there, and none vacuums. */
static inline World *
world_create(int n, uint64_t random)
{
	World	   *w = calloc(1, sizeof(World));

	w->n = n;
	w->entries = n;
	w->random = random;
	w->now = INT64_C(1000000000000);	/* no clock of a machine is below zero */
	w->servers = calloc((size_t) n, sizeof(Server));
	w->others = calloc((size_t) n, sizeof(HostSibling));
	for (int i = 0; i < n; i++)
	{
		Server	   *s = &w->servers[i];

		s->heard = calloc((size_t) n, sizeof(HostHeard));
		s->want.urgency = 1;
		s->share = 1;
		s->next_ms = w->now + tap_random(&w->random) % WORLD_STEP_MS;
	}
	return w;
}

static inline void
world_free(World *w)
{
	for (int i = 0; i < w->n; i++)
		free(w->servers[i].heard);
	free(w->servers);
	free(w->others);
	free(w);
}

/* From -1 to 1. */
static inline double
world_noise(World *w)
{
	return (double) tap_random(&w->random) / 1073741824.0 - 1;
}

static inline void
world_follow(double value, double *turned_at, int *direction, int *turns)
{
	double		change = value - *turned_at;
	int			to = change > 0 ? 1 : -1;

	if (fabs(change) <= WORLD_TURN * fabs(*turned_at))
		return;
	*turns += *direction != 0 && *direction != to;
	*direction = to;
	*turned_at = value;
}

/* ----
 * A step of one server
 * ----
 */

static inline void
server_tell(World *w, Server *s, const Want *want)
{
	char		text[HOST_RECORD_BYTES];
	HostRecord	record = {.boot = "b",.device_major = 8,.name = "s"};

	if (want->vacuums == 0 && !s->tells.vacuums)
		return;
	record.at_ms = w->now + s->ahead_ms;
	record.vacuums = want->vacuums;
	record.urgency = want->urgency;
	(void) host_record_format(&record, text);
	s->told = host_record_parse(text, &s->record);
	host_told(&s->tells, want->vacuums > 0, w->now);
}

static inline void
server_look(World *w, Server *s, const Want *want)
{
	int			me = (int) (s - w->servers);
	int64_t		now = w->now + s->ahead_ms;
	int			n = 0;
	int			entries = 0;
	HostShare	share;

	for (int i = 0; i < w->n && entries < w->entries; i++)
	{
		Server	   *o = &w->servers[i];
		int64_t		silent;

		if (!o->told)
			continue;
		entries++;
		if (i == me)
			continue;
		silent = host_silent_ms(&s->heard[i], o->record.at_ms, now);
		if (silent >= HOST_GONE_MS || silent < -HOST_AHEAD_MS)
			continue;
		w->others[n++] = (HostSibling)
		{
			o->owner, true, o->record.vacuums > 0, silent, o->record.urgency
		};
	}
	share = host_share_compute(s->owner, want->urgency, w->others, n);
	if (want->vacuums > 0)
		share = host_share_begin(share, &s->tells, w->now);
	s->counts = share.on_device;
	s->share = share.device;
}

static inline void
server_step(World *w, Server *s)
{
	Want		want = s->want;

	if (s->noise > 0)
		want.urgency *= 1 + s->noise * world_noise(w);
	if (want.vacuums == 0)
		want.urgency = 0;
	server_tell(w, s, &want);
	server_look(w, s, &want);
	s->last_ms = w->now;
	/* a governor sleeps a little longer than it was told to */
	s->next_ms = w->now + (want.vacuums > 0 ? WORLD_STEP_MS : WORLD_IDLE_MS) + tap_random(&w->random) % 10;
	w->steps++;
}

/* ----
 * The clock
 * ----
 */

static inline void
world_measure(World *w)
{
	int			slot = (int) (w->now / WORLD_TICK_MS % (WORLD_WINDOW_MS / WORLD_TICK_MS));
	bool		any = false;

	w->sum = 0;
	for (int i = 0; i < w->n; i++)
	{
		Server	   *s = &w->servers[i];

		if (s->away || s->want.vacuums == 0)
			continue;
		any = true;
		w->sum += s->share;
		s->want_ms += WORLD_TICK_MS;
		s->share_ms += s->share * WORLD_TICK_MS;
		world_follow(s->share, &s->turned_at, &s->direction, &s->turns);
		world_follow(host_weight(s->want.urgency, 0), &s->wanted_urgency, &s->wanted_direction, &s->wanted_turns);
	}
	w->mean += (w->sum - w->window[slot]) * WORLD_TICK_MS / WORLD_WINDOW_MS;
	w->window[slot] = w->sum;
	w->most_sum = fmax(w->most_sum, w->sum);
	w->most_mean = fmax(w->most_mean, w->mean);
	if (!any)
		return;
	w->vacuums_ms += WORLD_TICK_MS;
	w->sum_ms += w->sum * WORLD_TICK_MS;
	w->above_ms += w->sum > 1.1 ? WORLD_TICK_MS : 0;
}

/* A vacuum that begins wakes the governor. */
static inline void
server_want(Server *s, Want want)
{
	if (s->want.vacuums == 0 && want.vacuums > 0)
	{
		s->begins++;
		s->next_ms = s->last_ms + WORLD_WOKEN_MS;
	}
	s->want = want;
}

static inline void
world_run(World *w, int64_t ms)
{
	int64_t		end = w->now + ms;

	for (; w->now < end; w->now += WORLD_TICK_MS)
	{
		for (int i = 0; i < w->n; i++)
		{
			Server	   *s = &w->servers[i];

			/* what was recorded was recorded once in a step */
			if (s->series != NULL && !s->away && (w->now + i * WORLD_TICK_MS) % WORLD_STEP_MS == 0)
			{
				server_want(s, s->series[s->series_at]);
				s->series_at = (s->series_at + 1) % s->series_length;
			}
			if (!s->away && !s->stopped && s->next_ms <= w->now)
				server_step(w, s);
		}
		world_measure(w);
	}
}

/* Forgets what was measured up to now. */
static inline void
world_measure_anew(World *w)
{
	w->most_sum = w->sum;
	w->most_mean = w->mean;
	w->sum_ms = w->above_ms = w->vacuums_ms = 0;
	w->steps = 0;
	for (int i = 0; i < w->n; i++)
	{
		Server	   *s = &w->servers[i];

		s->want_ms = s->share_ms = 0;
		s->direction = s->turns = s->begins = s->wanted_direction = s->wanted_turns = 0;
		s->turned_at = s->share;
	}
}

/* How equal are so many numbers?  1: all the same, 1/n: one has all (Jain's index). */
static inline double
world_fairness(const World *w, int from, int until)
{
	double		sum = 0;
	double		squares = 0;
	int			n = 0;

	for (int i = from; i < until; i++)
	{
		const Server *s = &w->servers[i];
		double		share = s->want_ms > 0 ? s->share_ms / s->want_ms : 0;

		if (s->want_ms <= 0)
			continue;
		sum += share;
		squares += share * share;
		n++;
	}
	return n > 0 && squares > 0 ? sum * sum / (n * squares) : 1;
}

/* The sum of the shares on average, while anybody vacuumed. */
static inline double
world_mean_sum(const World *w)
{
	return w->vacuums_ms > 0 ? w->sum_ms / w->vacuums_ms : 0;
}

#endif							/* SWEEP_HOST_WORLD_H */
