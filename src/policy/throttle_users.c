/*
 * policy/throttle_users.c
 *		Do users wait longer than they do without vacuums?  Pure.
 *
 * By Little's law the number of users who wait is how many transactions there are
 * a second, times how long each waits.  So the usual time is kept per transaction
 * where transactions are known (those that write: what waits for WAL), else as the
 * share of active users' time; a load that grows is not taken for a disk that
 * has become slower.
 *
 * A few users give a few samples: one of twenty finds one that waits.  So what is
 * beyond the usual is added up until it cannot be chance, what is below subtracted
 * (a cumulative sum), in user seconds: one second of one user, or 50 ms of twenty.
 *
 * What is usual is learned while no vacuum runs, and while it runs at the floor: then
 * it is not the vacuum that makes them wait.  So is how far the sum goes by itself there
 * (checkpoints, other servers): up to that it is no reason to yield.  In between only
 * downwards, and fast at first: what they did without a vacuum may be over.  If they
 * wait for far less than is usual they are others, and it falls at once.  Users
 * are listened to for LISTEN_S before a vacuum comes.  With users that it does not know
 * yet a vacuum begins by listening.
 *
 * That they wait longer is no reason to yield unless the vacuum can be the cause, and
 * yielding helps: throttle_cause.c.
 */
#include "throttle_users.h"

#include <math.h>

#include "throttle_cause.h"
#include "throttle_constants.h"

static double
smooth(double old, double now, double dt_s, double tau_s)
{
	return old + (now - old) * fmin(1.0, dt_s / tau_s);
}

static bool
by_commits(const ThrottleUsers *u, const ThrottleReading *r)
{
	return r->commits_s >= 0 && u->commits_s >= COMMITS_MIN;
}

double
throttle_users_expected(const ThrottleUsers *u, const ThrottleReading *r)
{
	double		per_commit = u->started ? u->per_commit_s : USUAL_PER_COMMIT_S;

	/*
	 * What has just begun counts at once, but for chance: two sigma of a
	 * step's count.  What seems to have become less may be chance, too: two
	 * sigma of a second's.
	 */
	if (by_commits(u, r))
		return per_commit * fmax(fmax(u->commits_s, r->commits_s - 4 * sqrt(r->commits_s)),
								 fmin(u->commits_long, u->commits_s + 2 * sqrt(u->commits_s)));
	/* above this share not even all of them waiting would be an excess */
	return fmin(u->share, NEAR / TOLERANCE) * r->active;
}

/* Nobody has been active for so long that they come back no more. */
static bool
have_left(const ThrottleUsers *u)
{
	return u->absent_s > fmax(GONE_S, u->patience_s);
}

bool
throttle_users_absent(const ThrottleUsers *u)
{
	return have_left(u) || u->active < FEW_USERS;
}

static bool
is_listening(const ThrottleUsers *u, const ThrottleValveStep *v)
{
	return v->running && u->listened_s < LISTEN_S;
}

bool
throttle_users_want_to_be_heard(const ThrottleUsers *u)
{
	return !throttle_users_absent(u) && u->listened_s < (u->listens ? LISTEN_AHEAD_S : LISTEN_S);
}

/* Are they looked at often enough for a step to say much? */
static bool
is_dense(const ThrottleReading *r, const ThrottleValveStep *v)
{
	return v->running || r->listens;
}

/* Users are by themselves: what they wait for is not the vacuum's doing. */
static bool
is_alone(const ThrottleUsers *u, const ThrottleReading *r, const ThrottleValveStep *v)
{
	bool		at_floor = v->running && u->alone_s > LISTEN_S;

	/* the vacuums of others do not wait until we have listened */
	if (r->watches)
		return at_floor;

	/*
	 * What users wait for may be the vacuums of other servers.  While ours is
	 * at the floor those are not far from theirs: they yield with it.
	 */
	if (v->share < 1 && u->learned_s >= LISTEN_S)
		return at_floor;
	return (!v->running && r->other_vacuums == 0) || is_listening(u, v) || at_floor;
}

static void
learn(ThrottleUsers *u, const ThrottleReading *r, const ThrottleValveStep *v)
{
	bool		alone = is_alone(u, r, v);
	double		s = v->dt_s * (is_dense(r, v) ? 1 : SPARSE);
	double		up = alone ? fmin(LEARN_S, u->learned_s + s) : LEARN_S;
	double		down = v->running && u->listened_s < NEAR * LISTEN_MOST_S ? fmin(up, LISTEN_S) : up;
	double		usual = u->waiting / u->active;

	if (u->active < 1e-6)
		return;
	if (!u->started)
	{
		u->per_commit_s = USUAL_PER_COMMIT_S;
		u->started = true;
	}
	if (alone || u->share > usual)
		u->share = smooth(u->share, usual, s, u->share > usual ? down : up);
	usual = u->commits_long > 0 ? u->waiting / u->commits_long : u->per_commit_s;
	if (by_commits(u, r) && (alone || u->per_commit_s > usual))
		u->per_commit_s = smooth(u->per_commit_s, usual, s, u->per_commit_s > usual ? down : up);
	if (alone)
		u->learned_s = fmin(u->learned_s + s, 3600);
}

/*
 * Are they still there?  The slow average would know of users who have left for a
 * minute.  The few samples that are taken where there is no vacuum, and nobody listens,
 * miss most users, so that time does not count.  But short vacuums follow each other,
 * and what was counted holds from one to the next.
 */
static void
observe_presence(ThrottleUsers *u, const ThrottleReading *r, const ThrottleValveStep *v)
{
	u->idle_s = is_dense(r, v) ? 0 : u->idle_s + v->dt_s;
	if (r->active > 0 || r->commits_s > 0 || u->idle_s > GONE_S)
		u->absent_s = 0;
	else if (is_dense(r, v))
		u->absent_s += v->dt_s;
}

/*
 * The slow averages begin anew after users have left, or others who share the device
 * would be told of them for minutes.
 */
static void
forget_absent(ThrottleUsers *u)
{
	if (have_left(u))
		u->active = u->waiting = u->commits_long = 0;
}

static void
observe(ThrottleUsers *u, const ThrottleValve *valve, const ThrottleReading *r,
		const ThrottleValveStep *v)
{
	double		s = v->dt_s * (is_dense(r, v) ? 1 : SPARSE);
	bool		yields = valve->allowed > 0 && valve->allowed <= v->floor * 1.001;
	double		tau = LEARN_S;

	/*
	 * what was before it listens (a load, a backup) has its time, but no
	 * longer
	 */
	if (is_dense(r, v) && u->listened_s < LISTEN_S)
		tau = fmin(tau, u->listened_s + s);

	u->alone_s = !v->running || yields ? u->alone_s + v->dt_s : 0;
	observe_presence(u, r, v);
	u->returned_s += v->dt_s;
	u->patience_s *= 1 - fmin(1, v->dt_s / LONG_S);
	if (is_dense(r, v) && !throttle_users_absent(u))
		u->listened_s = fmin(u->listened_s + v->dt_s, LISTEN_MOST_S);
	u->listens = r->listens;
	/* what users did long ago says less */
	u->ahead = !v->running && (r->listens || u->ahead);
	if (v->restart && !u->ahead)
		u->listened_s = 0;
	/* others may come in the place of those who have left */
	u->listened_s *= 1 - fmin(1, v->dt_s / LONG_S);
	u->waiting = smooth(u->waiting, r->waiting, s, tau);
	u->active = smooth(u->active, r->active, s, tau);
	if (r->commits_s >= 0)
	{
		u->commits_s = smooth(u->commits_s, r->commits_s, v->dt_s, REACTION_S);
		u->commits_long = smooth(u->commits_long, r->commits_s, s, tau);
	}
	forget_absent(u);
	learn(u, r, v);
}

/* A base backup: its share at once, and nothing of it is taken back soon. */
static bool
yield_to_backup(ThrottleUsers *u, ThrottleValve *valve, const ThrottleReading *r,
				const ThrottleValveStep *v)
{
	bool		more = r->base_backups > u->base_backups;

	u->base_backups = r->base_backups;
	if (r->base_backups <= 0)
		return false;
	if (more)
	{
		valve->since_cut_s = fmax(valve->since_cut_s, 1e6);
		throttle_valve_cut(valve, 1.0 / (1 + r->base_backups), v);
	}
	valve->cut = true;
	valve->climb_s = fmin(valve->climb_s, 1.0);
	return true;
}

/* So many more wait than usual, or fewer. */
static double
beyond_usual(const ThrottleUsers *u, double waiting)
{
	return waiting - u->usual * TOLERANCE - FEW_USERS;
}

static double
excess_after(const ThrottleUsers *u, double waiting, double dt_s)
{
	return fmax(0, u->excess + beyond_usual(u, waiting) * dt_s);
}

/* Adds up what is beyond the usual. */
static void
add_excess(ThrottleUsers *u, const ThrottleReading *r, const ThrottleValveStep *v)
{
	double		most;

	u->usual = throttle_users_expected(u, r);
	most = HURT_MAX_S + u->usual;
	u->excess = excess_after(u, r->waiting, v->dt_s);
	u->noise *= 1 - fmin(1, v->dt_s / CALM_S);
	if (v->running && is_alone(u, r, v))
	{
		u->noise = fmax(u->noise, fmin(u->excess, most / CLEARLY));
		if (u->excess > most)
			u->excess = 0;
	}
	u->hurt = fmax(HURT_S * (1 + u->usual), CLEARLY * u->noise);
}

/*
 * Users who wait for far less than those before are others: after a bulk load with its few
 * large commits come many small ones.  By what was usual they could wait for ever, and
 * nobody would see it.  How far they are below it is added up, as an excess is.
 */
static void
notice_others(ThrottleUsers *u, const ThrottleReading *r, const ThrottleValveStep *v)
{
	double		low = u->usual / (ABOUT * ABOUT);
	double		lately = u->cause.waiting;

	if (!by_commits(u, r) || !is_dense(r, v))
	{
		u->below = 0;
		return;
	}
	u->below = fmax(0, u->below + (low - r->waiting) * v->dt_s);
	if (u->below <= fmax(HURT_S, low * REACTION_S))
		return;
	u->below = 0;
	u->waiting = fmin(u->waiting, lately);
	u->commits_long = u->commits_s;
	u->per_commit_s = fmin(u->per_commit_s, fmax(USUAL_PER_COMMIT_S, ABOUT * lately / u->commits_s));
}

bool
throttle_users_hurt(const ThrottleUsers *u, const ThrottleValve *valve, double waiting, double dt_s)
{
	return u->started && !u->elsewhere && throttle_cause_may_cut(&u->cause) &&
		valve->since_cut_s + dt_s >= REACTION_S &&
		excess_after(u, waiting, dt_s) > u->hurt;
}

/*
 * What a rate that was too much has left in the device's queue is in the users' way
 * until the device has done it.  Beside half of that rate and what users write, this
 * takes many times as long as without.  So a cut rate begins when users wait as usual
 * again, or when another cut may be made.  Of the users of servers that watch only the
 * latter is known.
 */
static bool
drains(const ThrottleUsers *u, const ThrottleValve *valve, const ThrottleReading *r)
{
	return u->drains && valve->since_cut_s < REACTION_S &&
		(r->watched || beyond_usual(u, r->waiting) > 0);
}

/* It has been too long: less, from where it is. */
static void
yield(ThrottleUsers *u, ThrottleValve *valve, const ThrottleValveStep *v)
{
	double		before = valve->allowed;

	/* so slow it is hardly the vacuum: listen anew how it is without */
	if (valve->allowed <= v->floor * ABOUT)
	{
		u->listened_s = 0;
		u->noise = fmax(u->noise, fmin(u->excess, HURT_MAX_S));
	}
	throttle_valve_cut(valve, fmax(CUT_LEAVES, 1 - CUT_LEAVES / CLEARLY * u->excess / u->hurt), v);
	/* they had not left, they had paused */
	if (u->returned_s < LISTEN_S)
		u->patience_s = fmin(PATIENCE_GROWS * fmax(GONE_S, u->patience_s), LONG_S);
	u->returned_s = LISTEN_S;
	u->drains = true;
	/* less of a cut teaches nothing */
	if (valve->allowed < NEAR * before)
		throttle_cause_cut(&u->cause, before);
	/* what is seen before the cut can be felt counts no further */
	u->excess = 0;
}

/*
 * Another server was cut for its users.  That helps them if all yield who share the
 * device.  For our own users it is an experiment like any other cut.
 */
static void
follow(ThrottleUsers *u, ThrottleValve *valve, double to, const ThrottleValveStep *v)
{
	double		before = valve->allowed;

	throttle_valve_follow(valve, to, v);
	if (!valve->moved_down)
		return;
	u->drains = true;
	u->excess = 0;
	if (before > 0 && valve->allowed < NEAR * before)
		throttle_cause_cut(&u->cause, before);
}

ThrottleReason
throttle_users_step(ThrottleUsers *u, ThrottleValve *valve, const ThrottleReading *r,
					const ThrottleValveStep *v)
{
	bool		backup;
	bool		absent;
	bool		nobody;
	bool		listens;
	double		most;
	ThrottleReason calm = THROTTLE_REASON_CALM;

	observe(u, valve, r, v);
	add_excess(u, r, v);
	u->elsewhere = v->room && !throttle_processors_are_free(r);
	throttle_cause_observe(&u->cause, valve, r->waiting, beyond_usual(u, r->waiting), v);
	notice_others(u, r, v);
	backup = yield_to_backup(u, valve, r, v);
	absent = throttle_users_absent(u);
	if (backup)
		calm = THROTTLE_REASON_BASE_BACKUP;

	u->cut = false;
	u->drains = v->running && drains(u, valve, r);
	if (!v->running)
	{
		u->excess = 0;
		throttle_valve_grow(valve, 1.0, v);
		return calm;
	}
	if (r->others_cut_to > 0)
		follow(u, valve, r->others_cut_to * v->share, v);
	if (u->excess > u->hurt)
	{
		if (!u->elsewhere && throttle_cause_may_cut(&u->cause))
		{
			yield(u, valve, v);
			u->cut = true;
			return THROTTLE_REASON_USERS;
		}
		u->excess = 0;
		calm = u->elsewhere ? THROTTLE_REASON_NOT_DEVICE : THROTTLE_REASON_INNOCENT;
	}
	if (valve->since_cut_s < REACTION_S)
		u->excess = 0;

	if (u->drains)
		return THROTTLE_REASON_USERS;

	listens = !absent && u->listened_s < LISTEN_S && !r->watches;
	most = fmax(fmax(START, v->start), v->floor);
	if (listens && valve->allowed > most)
	{
		valve->allowed = most;
		valve->moved_down = true;
		/* what was too much a moment ago still is */
		valve->cut = valve->cut && valve->since_cut_s < RETRY_S;
		return THROTTLE_REASON_LISTENS;
	}
	nobody = absent && !r->others_users && !r->watched;
	if (nobody && !backup)
	{
		valve->cut = false;
		valve->climb_s = 0;
		u->returned_s = 0;
		if (have_left(u) && valve->allowed < NOBODY_RATE * v->share)
		{
			valve->allowed = NOBODY_RATE * v->share;
			valve->moved_up = true;
		}
	}
	/* what a growing table needs is not waited for, unless it was too much */
	if (!valve->cut && u->excess < u->hurt / 2 && valve->allowed > 0 && valve->allowed < v->start)
	{
		valve->allowed = v->start;
		valve->moved_up = true;
	}
	/* before a step is made nothing is cut, and then it is at its start */
	if (u->excess < u->hurt / 2 && (!listens || valve->allowed <= 0))
		throttle_valve_grow(valve, nobody ? FAST_STEP : GENTLE_STEP, v);
	return calm;
}
