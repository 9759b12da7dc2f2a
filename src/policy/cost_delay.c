/*
 * policy/cost_delay.c
 *		The cost limit and delay with which one vacuum keeps its rates.
 *
 * A vacuum naps for delay * balance / limit whenever its balance of credits
 * has reached the limit.  So a credit costs it delay / limit (`sleep`) beside
 * the work.  What is measured at a tick tells how long a credit took in all
 * and how many bytes came with it, and how much of a processor's time.  The
 * time that a credit took, less the sleep that was asked for, is what the next
 * sleep must leave room for.  It is called work, but naps that overshoot, or
 * that a tick cut short, are in it as well.  So it may be negative, and the
 * loop closes whatever the reason.
 *
 * What is wrong nevertheless (full-page images that come all at once) goes to
 * an account per rate, which is paid back over ACCOUNT_MS.  What was not used
 * may be made up for at CATCH_UP times the target.  The account does not hold
 * more than that takes.  Work that seems to be slower is believed little by
 * little for the same reason: after a stall there must not be a burst.  When
 * a slow disk becomes a fast one, there must not be a burst for longer than a
 * tick either.  GUARD sees to that.
 */
#include "cost_delay.h"

#define ACCOUNT_MS		1500.0	/* in which an account is paid back */
#define ACCOUNT_LEAK_MS	30000.0 /* in which it is forgotten */
#define CATCH_UP		1.2		/* of the target, at most */
#define PAY_BACK		0.25	/* of the target, at least */
#define DEBT_MS			5000.0	/* of the target, owed at most */
#define SLOWER			0.15	/* of the time of a credit, believed per tick */
#define GUARD			0.05	/* of the time of a credit, slept at least */
#define FORGET			0.5		/* of bytes per credit when they get fewer */

#define DELAY_MS		2.0
#define LIMIT_MAX		10000	/* of vacuum_cost_limit */
#define JUDGE_PAGES		4.0		/* dearest pages to judge from */
#define JUDGE_MS		1000.0	/* or that time */

static const CostDelayTick no_tick;

static const BudgetLimit limit_of[COST_DELAY_RATES] = {LIMIT_READ, LIMIT_WRITE, LIMIT_WAL, LIMIT_COUNT, LIMIT_CPU};

static double
at_least(double a, double b)
{
	return a > b ? a : b;
}

static double
at_most(double a, double b)
{
	return a < b ? a : b;
}

static void
to_array(const Rates *rates, double *array)
{
	array[0] = rates->read;
	array[1] = rates->write;
	array[2] = rates->wal;
	array[3] = rates->total;
	array[4] = rates->cpu;
}

static void
to_bytes(const Rates *bytes, double *array)
{
	to_array(bytes, array);
	array[3] = bytes->read + bytes->write + bytes->wal;
}

void
cost_delay_begin(CostDelayState *state)
{
	static const CostDelayState fresh;

	*state = fresh;
}

void
cost_delay_unpaced(CostDelayState *state, double sleep)
{
	state->sleep = sleep;
}

void
cost_delay_forgive(CostDelayState *state)
{
	for (int i = 0; i < COST_DELAY_RATES; i++)
		state->account[i] = 0;
}

static void
bound_accounts(CostDelayState *state, const double *target)
{
	for (int i = 0; i < COST_DELAY_RATES; i++)
	{
		double		per_ms = at_least(target[i], 0) / 1000.0;
		double	   *owed = &state->account[i];

		*owed = at_most(*owed, per_ms * DEBT_MS);
		*owed = at_least(*owed, -per_ms * ACCOUNT_MS * (CATCH_UP - 1));
	}
}

/* Accounts for a tick.  Without a target there is nothing to owe. */
static void
account(CostDelayState *state, const double *target, const CostDelayTick *tick, const double *bytes)
{
	for (int i = 0; i < COST_DELAY_RATES; i++)
	{
		double	   *owed = &state->account[i];

		*owed += bytes[i] - target[i] / 1000.0 * tick->dt_ms;
		*owed -= *owed * at_most(tick->dt_ms / ACCOUNT_LEAK_MS, 1);
	}
	bound_accounts(state, target);
}

/* The time in which a credit must be spent for rate i, or 0: any. */
static double
time_per_credit(const CostDelayState *state, double target, int i)
{
	double		per_ms = target / 1000.0;
	double		allowed;

	if (target <= 0 || state->per_credit[i] <= 0)
		return 0;
	allowed = per_ms - state->account[i] / ACCOUNT_MS;
	allowed = at_least(allowed, per_ms * PAY_BACK);
	allowed = at_most(allowed, per_ms * CATCH_UP);
	return state->per_credit[i] / allowed;
}

/* Learns from a tick with enough credits. */
static void
learn(CostDelayState *state, const CostDelayTick *tick, const double *bytes, double credit_ms)
{
	double		work = (tick->dt_ms - state->pending_sleep) / tick->credits;

	for (int i = 0; i < COST_DELAY_RATES; i++)
	{
		double		now = bytes[i] / tick->credits;

		if (!state->begun || now > state->per_credit[i])
			state->per_credit[i] = now;
		else
			state->per_credit[i] += (now - state->per_credit[i]) * FORGET;
	}
	if (!state->begun || work < state->work || credit_ms <= 0)
		state->work = work;
	else
		state->work = at_most(work, at_least(state->work, 0) + credit_ms * SLOWER);
	state->begun = true;
}

/*
 * Another target: of what was learned in much shorter or longer naps only so
 * much is believed as leaves it to the next tick to find out.
 */
static void
adjust_work(CostDelayState *state, double credit_ms)
{
	state->work = at_most(state->work, credit_ms * 0.5);
	state->work = at_least(state->work, -credit_ms * 0.5);
}

/* What was little beside the old target is not to be paid for long now. */
static void
scale_accounts(CostDelayState *state, const double *target, const double *old_target)
{
	for (int i = 0; i < COST_DELAY_RATES; i++)
	{
		if (target[i] < old_target[i])
			state->account[i] *= target[i] / old_target[i];
	}
}

static bool
changed(const double *a, const double *b)
{
	for (int i = 0; i < COST_DELAY_RATES; i++)
	{
		if (a[i] > b[i] * 1.5 || a[i] < b[i] / 1.5)
			return true;
	}
	return false;
}

/*
 * Chooses the limit and delay that ask for so much sleep.  Returns the sleep
 * that can be had.
 */
static double
choose(double sleep, const CostDelayMeans *means, CostDelayResult *result)
{
	double		longest = means->tick_ms / 4;
	double		limit = means->fixed_limit;
	double		delay;

	/* naps are hardly longer than the delay when the limit is many pages */
	if (means->fixed_limit > 0)
		delay = at_most(sleep * limit, limit > 4 * means->page ? means->tick_ms : longest);
	else if (sleep <= 0)
	{
		limit = LIMIT_MAX;
		delay = 0;
	}
	else
	{
		/* a nap comes between pages: not less than one */
		limit = at_most(at_least(DELAY_MS / sleep, means->page), LIMIT_MAX);
		limit = (double) (int) limit;
		limit = at_least(limit, 1);
		delay = sleep * limit;
		if (delay > longest)
		{
			delay = longest;
			limit = at_least((double) (int) (delay / sleep), 1);
		}
	}
	result->limit = (int) limit;
	result->delay_ms = delay;
	/* a nap is four delays at most, see vacuum_delay_point() */
	return at_most(delay / limit, means->page > 0 ? 4 * delay / means->page : delay / limit);
}

/* Adds a tick up to what is not judged yet.  Learns when it is enough. */
static void
gather(CostDelayState *state, const double *target, const CostDelayTick *tick, const CostDelayMeans *means)
{
	CostDelayTick *pending = &state->pending;
	double		bytes[COST_DELAY_RATES];
	double		credit_ms = 0;

	pending->dt_ms += tick->dt_ms;
	pending->credits += tick->credits;
	pending->used.read += tick->used.read;
	pending->used.write += tick->used.write;
	pending->used.wal += tick->used.wal;
	pending->used.cpu += tick->used.cpu;
	state->pending_sleep += state->sleep * tick->credits;
	/* with all of vacuum_cost_page_* at 0 there are never any */
	if (pending->credits <= 0 ||
		(pending->credits < JUDGE_PAGES * means->page && pending->dt_ms < JUDGE_MS))
		return;

	to_bytes(&pending->used, bytes);
	for (int i = 0; i < COST_DELAY_RATES; i++)
		credit_ms = at_least(credit_ms, time_per_credit(state, target[i], i));
	learn(state, pending, bytes, credit_ms);
	*pending = no_tick;
	state->pending_sleep = 0;
}

/*
 * The rate for which credits must be spent slowest, or -1.  Also tells how
 * slowly.
 */
static int
find_binding(const CostDelayState *state, const double *target, double *credit_ms)
{
	int			binding = -1;

	*credit_ms = 0;
	for (int i = 0; i < COST_DELAY_RATES; i++)
	{
		double		needed = time_per_credit(state, target[i], i);

		if (needed > *credit_ms)
		{
			*credit_ms = needed;
			binding = i;
		}
	}
	return binding;
}

/* Nothing is known yet: what holds the target in any case. */
static double
guess(const double *target, const Rates *most)
{
	double		bytes[COST_DELAY_RATES];
	double		sleep = 0;

	to_bytes(most, bytes);
	for (int i = 0; i < COST_DELAY_RATES; i++)
	{
		if (target[i] > 0)
			sleep = at_least(sleep, bytes[i] * 1000.0 / target[i]);
	}
	return sleep;
}

void
cost_delay_step(CostDelayState *state, const Rates *target_rates, const CostDelayTick *tick,
				const CostDelayMeans *means, CostDelayResult *result)
{
	bool		first = !state->begun;
	double		target[COST_DELAY_RATES];
	double		old_target[COST_DELAY_RATES];
	double		bytes[COST_DELAY_RATES];
	double		credit_ms;
	double		sleep;
	int			binding;
	bool		other;

	to_array(target_rates, target);
	to_array(first ? target_rates : &state->target, old_target);
	to_bytes(&tick->used, bytes);
	account(state, old_target, tick, bytes);
	gather(state, old_target, tick, means);

	other = !first && changed(target, old_target);
	if (other)
		scale_accounts(state, target, old_target);
	bound_accounts(state, target);
	binding = find_binding(state, target, &credit_ms);
	if (other && credit_ms > 0)
		adjust_work(state, credit_ms);
	state->target = *target_rates;

	if (state->begun)
		sleep = credit_ms - at_least(state->work, -0.9 * credit_ms);
	else
		sleep = guess(target, &means->most);
	sleep = at_least(sleep, credit_ms * GUARD);
	result->limited_by = LIMIT_NONE;
	if (binding >= 0 && sleep > credit_ms * GUARD && sleep > means->least_sleep)
		result->limited_by = limit_of[binding];
	state->sleep = choose(at_least(sleep, means->least_sleep), means, result);
}
