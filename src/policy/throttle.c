/*
 * policy/throttle.c
 *		The governor's step.  Pure.
 *
 * The numbers are in throttle_constants.h, with their reasons.  How the users' waiting
 * is judged is in throttle_users.c.
 */
#include "throttle.h"

#include <math.h>
#include <string.h>

#include "throttle_cause.h"
#include "throttle_constants.h"
#include "throttle_users.h"
#include "throttle_valve.h"
#include "throttle_wal.h"

static const char *const reason_texts[THROTTLE_REASON_COUNT] = {
	[THROTTLE_REASON_NONE] = "nothing limits",
	[THROTTLE_REASON_CLOCK] = "the clock was moved, or the governor slept",
	[THROTTLE_REASON_CEILING] = "the limit is used up",
	[THROTTLE_REASON_LATENCY] = "the device takes longer than allowed",
	[THROTTLE_REASON_DEVICE] = "the device is busier than allowed",
	[THROTTLE_REASON_LAG] = "a standby falls behind",
	[THROTTLE_REASON_USERS] = "users wait longer for I/O than usual",
	[THROTTLE_REASON_LISTENS] = "it is not known yet how long users usually wait",
	[THROTTLE_REASON_NOT_DEVICE] = "users wait, but not for the device",
	[THROTTLE_REASON_INNOCENT] = "users wait as long without the vacuum",
	[THROTTLE_REASON_BASE_BACKUP] = "a base backup is running",
	[THROTTLE_REASON_ARCHIVER_FAILS] = "archiving of WAL fails",
	[THROTTLE_REASON_ARCHIVER_BEHIND] = "archiving of WAL is behind",
	[THROTTLE_REASON_SLOT] = "a replication slot is about to lose its WAL",
	[THROTTLE_REASON_WAL_DISK] = "the file system of WAL is filling up",
	[THROTTLE_REASON_SENSOR] = "a sensor is broken, the last rate is kept",
	[THROTTLE_REASON_CALM] = "nothing is over its limit",
	[THROTTLE_REASON_NEAR] = "close to its limit",
};

const char *
throttle_reason_text(ThrottleReason reason)
{
	return (unsigned int) reason < THROTTLE_REASON_COUNT ? reason_texts[reason] : "";
}

bool
throttle_has_users(const ThrottleState *state)
{
	/* writers who have just come are counted at once, others by samples */
	return state->users.active >= FEW_USERS || state->users.commits_s >= COMMITS_MIN;
}

bool
throttle_wants_to_listen(const ThrottleState *state)
{
	return throttle_has_users(state) && throttle_users_want_to_be_heard(&state->users);
}

bool
throttle_users_are_there(const ThrottleState *state)
{
	return !throttle_users_absent(&state->users);
}

bool
throttle_is_urgent(const ThrottleState *state, double waiting, double dt_s)
{
	return state->last.limits[LIMIT_USERS].used && !state->last.limits[LIMIT_USERS].broken &&
		state->last.decision != THROTTLE_NO_VACUUM &&
		throttle_users_hurt(&state->users, &state->valves[LIMIT_USERS], waiting, dt_s);
}

static double
smooth(double old, double now, double dt_s, double tau_s)
{
	return old + (now - old) * fmin(1.0, dt_s / tau_s);
}

/* A limit with a number: latency, device. */
static void
step_number(ThrottleState *state, BudgetLimit which, double measured, double limit,
			ThrottleReason reason, const ThrottleValveStep *v, ThrottleResult *out)
{
	ThrottleValve *valve = &state->valves[which];
	double		ratio = measured / limit;

	out->limits[which].reason = THROTTLE_REASON_CALM;
	if (ratio > 1.0)
	{
		throttle_valve_cut(valve, fmax(CUT_LEAVES, (1 + NEAR) / 2 / ratio), v);
		out->limits[which].reason = reason;
	}
	else if (ratio > NEAR)
		out->limits[which].reason = THROTTLE_REASON_NEAR;
	else
		throttle_valve_grow(valve, FAST_STEP, v);
}

/* The worse of the two limits of the lag, as a share of it. */
static double
lag_ratio(const ThrottleSettings *s, const ThrottleReading *r)
{
	double		by_bytes = s->replica_lag_bytes > 0 ? r->lag_bytes / s->replica_lag_bytes : 0;
	double		by_ms = s->replica_lag_ms > 0 ? r->lag_ms / s->replica_lag_ms : 0;

	return fmax(0, fmax(by_bytes, by_ms));
}

/*
 * Between FAR and NEAR its limit the rate falls from what it was to the floor, by the
 * same factor for each percent.  It does not rise before the lag is FAR from its limit
 * again: from there it grows slowly to what the standby can take.
 */
static void
step_lag(ThrottleState *state, const ThrottleSettings *s, const ThrottleReading *r,
		 const ThrottleValveStep *v, ThrottleResult *out)
{
	ThrottleValve *valve = &state->valves[LIMIT_REPLICA_LAG];
	double		before = valve->allowed > 0 ? valve->allowed : UNLIMITED;
	double		now = lag_ratio(s, r);
	double		ahead = now + fmax(0, (now - state->lag_ratio) / v->dt_s * REACTION_S);
	double		to;

	/* a jump from nothing is a standby that has just come */
	if (state->lag_ratio <= 0)
		ahead = now;
	state->lag_ratio = now;
	out->limits[LIMIT_REPLICA_LAG].reason = ahead < 1 - NEAR ? THROTTLE_REASON_CALM : THROTTLE_REASON_LAG;
	if (ahead < FAR)
	{
		state->lag_start = 0;
		/* with more of a lag it is no time for the first growth */
		if (ahead < 1 - NEAR || valve->cut)
			throttle_valve_grow(valve, GENTLE_STEP, v);
		return;
	}

	if (state->lag_start <= 0)
		state->lag_start = fmax(v->floor, fmin(before, v->used));
	to = v->floor;
	if (ahead < NEAR)
		to = state->lag_start * pow(v->floor / state->lag_start,
									(ahead - FAR) / (NEAR - FAR));
	valve->moved_down = to < before;
	valve->allowed = fmin(to, before);
	valve->cut = true;
	valve->climb_s = 0;
}

static bool
is_near_floor(const ThrottleState *state, double allowed)
{
	return allowed > 0 && allowed <= state->last.floor * ABOUT;
}

/*
 * Does a danger to WAL grow, or has it a moment ago?  A segment at a time is
 * seen.  What is merely as bad as it was does not.
 */
static bool
danger_grows(ThrottleState *state, const ThrottleReading *r, double dt_s)
{
	bool		archiver = state->valves[LIMIT_ARCHIVER].bad;
	bool		disk = state->valves[LIMIT_WAL_DISK].bad;
	bool		slots = state->valves[LIMIT_SLOTS].bad && r->slot_left_bytes >= 0;
	bool		grows = (archiver && state->danger_behind > 0 && r->archiver_behind_bytes > state->danger_behind) ||
		(disk && state->danger_disk_pct > 0 && r->wal_disk_used_pct > state->danger_disk_pct) ||
		(slots && state->danger_slot_left > 0 && r->slot_left_bytes < state->danger_slot_left);

	state->danger_behind = archiver ? fmax(state->danger_behind, r->archiver_behind_bytes) : 0;
	state->danger_disk_pct = disk ? fmax(state->danger_disk_pct, r->wal_disk_used_pct) : 0;
	if (!slots)
		state->danger_slot_left = 0;
	else if (state->danger_slot_left <= 0 || r->slot_left_bytes < state->danger_slot_left)
		state->danger_slot_left = fmax(r->slot_left_bytes, 1);
	state->danger_grows_s = grows ? DANGER_GROWS_S : fmax(state->danger_grows_s - dt_s, 0);
	return state->danger_grows_s > 0 && (archiver || disk || slots);
}

/*
 * The floor: what is set, and more while yielding lets garbage pile up.  Only time
 * that is spent at the floor counts: else it is not the yielding that does it.
 */
static double
step_floor(ThrottleState *state, const ThrottleSettings *s, const ThrottleReading *r, double dt_s)
{
	double		target = s->reclaim_rows_s;
	double		boosted;
	bool		behind;
	bool		at_floor = state->last.decision == THROTTLE_FLOOR ||
		is_near_floor(state, state->valves[LIMIT_USERS].allowed) ||
		is_near_floor(state, throttle_wal_allowed(state, NULL));

	if (r->vacuums > 0)
	{
		state->removed_rows_s = smooth(state->removed_rows_s, r->removed_rows_s, dt_s, CALM_S);
		state->reclaim_bytes = smooth(state->reclaim_bytes, r->used.total, dt_s, CALM_S);
	}
	if (r->produced_rows_s >= 0)
		state->produced_rows_s = smooth(state->produced_rows_s, r->produced_rows_s, dt_s, CALM_S);

	/* a floor that is not used need not rise */
	at_floor = at_floor && fmax(state->used, r->used.total) >= state->last.floor / 2;

	behind = state->produced_rows_s > state->removed_rows_s && state->produced_rows_s > 1;
	if (danger_grows(state, r, dt_s))
		state->boost = 0;		/* a full disk stops the server */
	else if (r->vacuums > 0 && at_floor && behind)
		state->boost = (1 + state->boost) * exp2(dt_s / CALM_S) - 1;
	else if (!behind)
		state->boost *= exp2(-dt_s / CALM_S);
	state->boost = fmin(state->boost, UNLIMITED / RATES_MB);
	boosted = s->floor * (1 + state->boost);

	/*
	 * the bytes that a dead row has cost so far tell those that the rows to
	 * keep up with will
	 */
	if (s->reclaim_auto)
		target = state->produced_rows_s;
	if (target > 0 && state->removed_rows_s >= 1 && state->reclaim_bytes > 0)
		boosted = fmax(boosted, target * state->reclaim_bytes / state->removed_rows_s);
	return fmin(boosted, UNLIMITED);
}

/* What each limit is set to, and what is measured of it. */
static void
describe(const ThrottleSettings *s, const ThrottleReading *r, ThrottleResult *out)
{
	SensorState users = isfinite(r->active) && isfinite(r->commits_s) ? r->users :
		SENSOR_BROKEN;
	const struct
	{
		BudgetLimit limit;
		double		configured;
		double		measured;
		SensorState sensor;
		bool		always;
	}			rows[] = {
#define SET(limit, measured, sensor) {limit, s->limits[limit], measured, sensor, false}
		SET(LIMIT_READ, r->used.read, SENSOR_OK),
		SET(LIMIT_WRITE, r->used.write, SENSOR_OK),
		SET(LIMIT_WAL, r->used.wal, SENSOR_OK),
		SET(LIMIT_IO_LATENCY, r->latency_ms, r->disk),
		SET(LIMIT_DEVICE, r->busy_pct, r->disk),
		SET(LIMIT_CPU, r->cpu_pct, r->cpu),
		{LIMIT_USERS, 0, r->waiting, users, s->adaptive},
		{LIMIT_ARCHIVER, ARCHIVER_BEHIND, r->archiver_behind_bytes, r->wal, false},
		{LIMIT_SLOTS, fmax(0, SLOT_LEFT * s->slot_keep_bytes), r->slot_left_bytes, r->wal, false},
		SET(LIMIT_WAL_DISK, r->wal_disk_used_pct, r->wal),
#undef SET
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
	{
		ThrottleLimit *limit = &out->limits[rows[i].limit];

		limit->configured = rows[i].configured;
		limit->used = (rows[i].configured > 0 || rows[i].always) &&
			(rows[i].sensor == SENSOR_OK || rows[i].sensor == SENSOR_BROKEN);
		limit->broken = limit->used &&
			(rows[i].sensor == SENSOR_BROKEN || !isfinite(rows[i].measured));
		limit->measured = limit->used && !limit->broken ? rows[i].measured : -1;
	}
	out->limits[LIMIT_READ].allowed = s->limits[LIMIT_READ];
	out->limits[LIMIT_WRITE].allowed = s->limits[LIMIT_WRITE];
	out->limits[LIMIT_WAL].allowed = s->limits[LIMIT_WAL];

	{
		ThrottleLimit *lag = &out->limits[LIMIT_REPLICA_LAG];
		bool		by_bytes = s->replica_lag_bytes > 0;

		lag->configured = by_bytes ? s->replica_lag_bytes : s->replica_lag_ms;
		lag->used = lag->configured > 0 &&
			(r->replicas == SENSOR_OK || r->replicas == SENSOR_BROKEN);
		lag->broken = lag->used && (r->replicas == SENSOR_BROKEN ||
									!isfinite(r->lag_bytes) || !isfinite(r->lag_ms));
		lag->measured = !lag->used || lag->broken ? -1 : by_bytes ? r->lag_bytes : r->lag_ms;
	}
}

/* Is it kept by each vacuum itself?  The others have a valve. */
static bool
is_ceiling(int limit)
{
	return (limit >= LIMIT_READ && limit <= LIMIT_WAL) || limit == LIMIT_CPU;
}

/* Valves whose limit is gone limit nothing; those without eyes keep what they know. */
static void
prepare_valves(ThrottleState *state, const ThrottleValveStep *v, ThrottleResult *out)
{
	for (int i = LIMIT_IO_LATENCY; i < LIMIT_COUNT; i++)
	{
		ThrottleValve *valve = &state->valves[i];

		if (is_ceiling(i))
			continue;
		valve->moved_down = valve->moved_up = false;
		if (!out->limits[i].used)
			memset(valve, 0, sizeof(*valve));
		else if (out->limits[i].broken)
		{
			throttle_valve_blind(valve, v);
			out->limits[i].reason = THROTTLE_REASON_SENSOR;
		}
		else
			valve->since_cut_s += v->dt_s;
	}
}

/* Of the vacuums that give way to users. */
static void
step_users(ThrottleState *state, const ThrottleReading *r, const ThrottleValveStep *v,
		   double floor, ThrottleResult *out)
{
	ThrottleValveStep yielding = *v;

	state->yielding_used = smooth(state->yielding_used, r->yielding_used, v->dt_s, REACTION_S / 2);
	state->yielding_peak = fmax(r->yielding_used, state->yielding_peak * exp(-v->dt_s / PEAK_TAU_S));
	state->yielding_calm_s = r->yielding > 0 ? 0 : state->yielding_calm_s + v->dt_s;
	yielding.floor = floor;
	yielding.used = fmax(state->yielding_used, r->yielding_used);
	yielding.peak = state->yielding_peak;
	yielding.running = r->yielding > 0;
	yielding.room = throttle_device_is_idle(r);
	yielding.restart = state->yielding_calm_s > CALM_S;
	yielding.start = fmax(v->start, r->pace);
	out->limits[LIMIT_USERS].reason =
		throttle_users_step(&state->users, &state->valves[LIMIT_USERS], r, &yielding);
	if (state->users.cut)
		out->users_cut_to = state->valves[LIMIT_USERS].allowed / v->share;
}

/* Every valve whose sensor works. */
static void
step_valves(ThrottleState *state, const ThrottleSettings *s, const ThrottleReading *r,
			const ThrottleValveStep *v, double raised_floor, ThrottleResult *out)
{

#define SEES(limit) (out->limits[limit].used && !out->limits[limit].broken)
	if (SEES(LIMIT_IO_LATENCY))
		step_number(state, LIMIT_IO_LATENCY, r->latency_ms, s->limits[LIMIT_IO_LATENCY], THROTTLE_REASON_LATENCY, v, out);
	if (SEES(LIMIT_DEVICE))
		step_number(state, LIMIT_DEVICE, r->busy_pct, s->limits[LIMIT_DEVICE], THROTTLE_REASON_DEVICE, v, out);
	if (SEES(LIMIT_REPLICA_LAG))
		step_lag(state, s, r, v, out);
	if (SEES(LIMIT_ARCHIVER))
		throttle_wal_step(state, s, r, raised_floor, v, out);
	if (SEES(LIMIT_USERS))
		step_users(state, r, v, raised_floor, out);
#undef SEES
}

/*
 * The smallest of all valves of the total; which one it is.  What users leave does
 * not hold for all.
 */
static BudgetLimit
smallest(const ThrottleState *state, ThrottleResult *out)
{
	BudgetLimit which = LIMIT_NONE;
	double		total = UNLIMITED;
	double		set_total = UNLIMITED;

	for (int i = LIMIT_IO_LATENCY; i < LIMIT_COUNT; i++)
	{
		double		allowed = state->valves[i].allowed;

		if (i == LIMIT_USERS && state->users.drains)
			allowed = fmin(allowed, out->floor);
		out->limits[i].allowed = allowed < UNLIMITED ? allowed : 0;
		if (allowed <= 0 || throttle_wal_is_danger(i))
			continue;
		if (i != LIMIT_USERS)
			set_total = fmin(set_total, allowed);
		if (allowed < total)
		{
			total = allowed;
			which = (BudgetLimit) i;
		}
	}
	out->allowed.total = which == LIMIT_NONE ? 0 : total;
	out->set_total = set_total < UNLIMITED ? set_total : 0;
	return which;
}

/* WAL: its ceiling, or what a danger to it leaves. */
static void
limit_wal(const ThrottleState *state, const ThrottleSettings *s, ThrottleResult *out)
{
	double		danger = throttle_wal_allowed(state, NULL);

	out->allowed.wal = s->limits[LIMIT_WAL];
	if (danger > 0 && danger < UNLIMITED && (s->limits[LIMIT_WAL] <= 0 || danger < s->limits[LIMIT_WAL]))
		out->allowed.wal = danger;
}

/* Which limit is felt: the valve that has just been cut, else what is used up most. */
static void
decide(const ThrottleState *state, const ThrottleReading *r, BudgetLimit valve, ThrottleResult *out)
{
	double		most = MOST;
	double		danger_allowed;
	BudgetLimit danger = LIMIT_NONE;
	const ThrottleLimit *limit;

	out->binding = LIMIT_NONE;
	if (out->allowed.total > 0)
	{
		bool		at_floor = out->allowed.total <= out->floor * 1.001;

		if (at_floor || state->valves[valve].moved_down)
			most = HUGE_VAL;
		if (at_floor || state->used / out->allowed.total > MOST || most == HUGE_VAL)
			out->binding = valve;
		if (most != HUGE_VAL)
			most = fmax(most, state->used / out->allowed.total);
	}
	danger_allowed = throttle_wal_allowed(state, &danger);
	if (danger_allowed > 0 && (state->valves[danger].bad || r->used.wal / danger_allowed > most))
	{
		most = HUGE_VAL;
		out->binding = danger;
	}
	for (int i = LIMIT_READ; i < LIMIT_COUNT; i++)
	{
		limit = &out->limits[i];
		if (is_ceiling(i) && limit->configured > 0 && limit->measured / limit->configured > most)
		{
			most = limit->measured / limit->configured;
			out->binding = (BudgetLimit) i;
			out->limits[i].reason = THROTTLE_REASON_CEILING;
		}
	}

	limit = &out->limits[out->binding];
	out->reason = out->binding == LIMIT_NONE ? THROTTLE_REASON_NONE : limit->reason;
	out->reason_measured = limit->measured;
	out->reason_limit = out->binding == LIMIT_USERS ? out->users_expected : limit->configured;
	out->decision = THROTTLE_STEADY;
	if (r->vacuums <= 0)
		out->decision = THROTTLE_NO_VACUUM;
	else if (out->limits[valve].broken || out->limits[danger].broken)
	{
		out->decision = THROTTLE_SENSOR_LOST;
		out->reason = THROTTLE_REASON_SENSOR;
	}
	else if (throttle_wal_is_danger(out->binding))
		out->decision = state->valves[danger].moved_down ? THROTTLE_BACK_OFF :
			danger_allowed <= out->floor * 1.001 ? THROTTLE_FLOOR :
			state->valves[danger].moved_up ? THROTTLE_RECOVER : THROTTLE_STEADY;
	else if (valve != LIMIT_NONE && state->valves[valve].moved_down)
		out->decision = THROTTLE_BACK_OFF;
	else if (valve != LIMIT_NONE && out->allowed.total <= out->floor * 1.001)
		out->decision = THROTTLE_FLOOR;
	else if (valve != LIMIT_NONE && state->valves[valve].moved_up)
		out->decision = THROTTLE_RECOVER;
}

/* Where the floor asks for more than a ceiling leaves: by how much bloat grows. */
static double
bloat_growth(const ThrottleState *state, const ThrottleReading *r, double wanted,
			 const ThrottleResult *out)
{
	double		left = state->produced_rows_s - state->removed_rows_s;
	bool		short_of = out->allowed.total > 0 && out->allowed.total < wanted * 0.999;

	for (int i = LIMIT_READ; i < LIMIT_COUNT; i++)
		if (is_ceiling(i) && out->limits[i].configured > 0 &&
			out->limits[i].measured >= NEAR * out->limits[i].configured)
			short_of = true;
	if (!short_of || r->vacuums <= 0 || left <= 0)
		return 0;
	return left * r->dead_row_bytes * 3600;
}

static double
share_of(const ThrottleSettings *s)
{
	return s->device_share > 0 ? fmin(s->device_share, 1) : 1;
}

void
throttle_step(ThrottleState *state, const ThrottleSettings *s, const ThrottleReading *r,
			  double dt_s, ThrottleResult *out)
{
	ThrottleValveStep v;
	double		wanted;

	if (!(dt_s > 0 && dt_s <= 10))
	{
		*out = state->last;
		out->users_cut_to = 0;
		out->decision = r->vacuums > 0 ? THROTTLE_STEADY : THROTTLE_NO_VACUUM;
		out->reason = THROTTLE_REASON_CLOCK;
		if (!state->started)
			out->floor = s->floor;
		if (!state->started && s->adaptive)
			out->allowed.total = fmax(START * share_of(s), s->floor);
		out->allowed.read = s->limits[LIMIT_READ];
		out->allowed.write = s->limits[LIMIT_WRITE];
		out->allowed.wal = s->limits[LIMIT_WAL];
		out->allowed.cpu = s->limits[LIMIT_CPU] * RATES_CPU_PCT;
		return;
	}

	memset(out, 0, sizeof(*out));
	state->started = true;
	state->used = smooth(state->used, r->used.total, dt_s, REACTION_S / 2);
	state->peak = fmax(r->used.total, state->peak * exp(-dt_s / PEAK_TAU_S));
	state->calm_s = r->vacuums > 0 ? 0 : state->calm_s + dt_s;

	wanted = step_floor(state, s, r, dt_s);
	v.dt_s = dt_s;
	v.floor = s->floor;
	v.used = fmax(state->used, r->used.total);
	v.peak = state->peak;
	v.running = r->vacuums > 0;
	v.restart = state->calm_s > CALM_S;
	v.room = false;
	v.share = share_of(s);
	v.start = START * v.share;

	describe(s, r, out);
	prepare_valves(state, &v, out);
	step_valves(state, s, r, &v, wanted, out);

	out->allowed.read = s->limits[LIMIT_READ];
	out->allowed.write = s->limits[LIMIT_WRITE];
	out->allowed.cpu = s->limits[LIMIT_CPU] * RATES_CPU_PCT;
	limit_wal(state, s, out);
	out->floor = wanted;
	out->users_expected = throttle_users_expected(&state->users, r);
	{
		BudgetLimit valve = smallest(state, out);

		/* ceilings hold over what the floor asks for */
		if (out->allowed.total > 0)
			out->floor = fmin(wanted, fmax(out->allowed.total, s->floor));
		decide(state, r, valve, out);
	}
	out->bloat_bytes_h = bloat_growth(state, r, wanted, out);
	state->last = *out;
}
