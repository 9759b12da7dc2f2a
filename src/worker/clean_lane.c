/*
 * clean_lane.c
 *		A worker cleans large tables whose garbage is sparse, without being
 *		asked.
 *
 * The scout has found tables with new dead rows, of which no vacuum is due.
 * Here each is looked at: may it be cleaned, does its garbage come slowly?
 * Then those of its pages are cleaned that are in memory and to be written
 * anyway.  What comes out is kept (state/cleanings), so that the scout does not
 * ask again too soon.
 */
#include "postgres.h"

#include "worker/clean_lane.h"

#include "miscadmin.h"

#include "policy/backoff.h"
#include "policy/clean_plan.h"
#include "server/clock.h"
#include "server/standbys.h"
#include "settings.h"
#include "state/budget.h"
#include "state/cleanings.h"
#include "state/hold.h"
#include "state/queue.h"
#include "state/run.h"
#include "state/worker_pool.h"
#include "state/worker_slot.h"
#include "worker/candidates.h"
#include "worker/table_clean.h"

#define RECHECK_MS			(10 * 60 * 1000)	/* what may change any time */
#define RECHECK_OFF_MS		(60 * 60 * 1000)	/* what hardly changes */
#define FAILED_MAX_MS		(60 * 60 * 1000)

/* What was seen in memory is not there for long.  The rest is looked for again. */
#define LANE_MS				(30 * 1000)

/* A table that is due is given to a free worker within a round or two. */
#define YIELDS_AFTER_MS		(3 * 1000)

static bool (*worker_must_stop) (void);
static const Candidate *cleaned;	/* NULL: none just now */

bool
clean_lane_allows(const Candidate *c)
{
	return table_switch(c->rules.own, TABLE_CLEANER, sweep_cleaner);
}

/* A vacuum that finds no worker goes before.  Asked between batches. */
static bool
must_stop(void)
{
	return worker_must_stop() || sweep_mode != SWEEP_ACT || hold_is_on() ||
		(cleaned != NULL && !clean_lane_allows(cleaned)) ||
		(queue_has_due(YIELDS_AFTER_MS) && worker_pool_count(false) >= budget_workers());
}

/* ----
 * What is said of a table
 * ----
 */

/* Beyond how many dead rows does the scout tell of it again?  See cleanings_are_due(). */
static int64
next_dead(const Cleaning *cleaning, const Candidate *c)
{
	return (int64) clean_threshold(c->row.reltuples) + (cleaning->again ? 0 : cleaning->dead);
}

/* Keeps it.  wait_ms is how long the table is not looked at again, at least. */
static void
keep(Cleaning *cleaning, const Candidate *c, CleaningKind kind, int64 wait_ms, const char *note)
{
	cleaning->key = c->key;
	cleaning->kind = kind;
	if (kind == CLEANING_NOT_NOW)
		cleaning->again = true; /* for the same dead rows */
	else if (kind == CLEANING_OFF || kind == CLEANING_LEFT_TO_VACUUM)
		cleaning->again = false;
	cleaning->last_at = clock_now();
	cleaning->not_before = clock_after(cleaning->last_at, Max(wait_ms, (int64) sweep_cleaner_naptime_s * 1000));
	cleaning->dead = c->counters.dead;
	cleaning->next_dead = next_dead(cleaning, c);
	if (kind != CLEANING_NOT_NOW)
		cleaning->failures = 0;
	strlcpy(cleaning->note, note, CLEANING_NOTE_LEN);
	strlcpy(cleaning->schemaname, c->row.schemaname, NAMEDATALEN);
	strlcpy(cleaning->relname, c->row.relname, NAMEDATALEN);
	cleaning_put(cleaning);
}

/* It is tried again, each time later. */
static void
keep_failure(Cleaning *cleaning, const Candidate *c, const char *note)
{
	cleaning->failures = Min(cleaning->failures + 1, 100);
	keep(cleaning, c, CLEANING_NOT_NOW,
		 backoff_ms((int64) sweep_cleaner_naptime_s * 1000, FAILED_MAX_MS, cleaning->failures), note);
}

/* ----
 * May it be cleaned?
 * ----
 */

/* NULL: it may. */
static const char *
why_off(const Candidate *c)
{
	if (!clean_lane_allows(c))
		return "the cleaner is off for this table";
	if (c->row.lane != LANE_USER)
		return "only tables of users are cleaned";
	if (!candidate_is_in_scope(c))
		return "the table is not in sweep.scope";
	if (!c->rules.enabled)
		return "autovacuum is disabled for this table";
	if (c->row.temporary)
		return "the table is temporary";
	if (c->row.pages < CLEAN_LEAST_PAGES)
		return "the table has less than 64 MB, and is vacuumed in no time";
	return NULL;
}

/* Does a vacuum come anyway? */
static const char *
why_vacuum(const Candidate *c)
{
	return c->weight.due != DUE_NOT ? "a vacuum is due" : NULL;
}

static bool
is_snoozed(const Candidate *c)
{
	return c->decision && c->decision->kind == DECISION_SNOOZED && clock_now() < c->decision->not_before;
}

/* Is it to be cleaned?  If it is not, that is kept. */
static bool
may_be_cleaned(Cleaning *cleaning, const Candidate *c)
{
	double		seconds = (double) (clock_now() - cleaning->last_at) / USECS_PER_SEC * sweep_debug_clock_rate;
	bool		seen = cleaning->last_at != 0 && cleaning->kind != CLEANING_WANTED;
	int64		dead_then = cleaning->dead;

	cleaning->wanted = !sweep_cleaner && clean_lane_allows(c);
	if (why_off(c))
		keep(cleaning, c, CLEANING_OFF, clean_lane_allows(c) ? RECHECK_OFF_MS : RECHECK_MS, why_off(c));
	else if (is_snoozed(c))
		keep(cleaning, c, CLEANING_NOT_NOW, 0, "the table is snoozed");
	else if (why_vacuum(c))
		keep(cleaning, c, CLEANING_LEFT_TO_VACUUM, 0, why_vacuum(c));
	else if (!seen)
		keep(cleaning, c, CLEANING_WATCHED, 0, "how fast its garbage comes is not known yet");
	else if (!clean_is_slow((double) dead_then, (double) c->counters.dead, seconds, c->weight.thresholds.vacuum))
		keep(cleaning, c, CLEANING_LEFT_TO_VACUUM, 0, "its garbage comes so fast that a vacuum is due within an hour");
	else
		return true;
	return false;
}

/* ----
 * Cleaning
 * ----
 */

/*
 * Cleans these pages.  Returns false if that came to nothing, which is kept.
 * `c` has the counters of afterwards.
 */
static bool
clean(Cleaning *cleaning, Candidate *c, const CleanPages *pages, const char *reason, CleanOutcome *outcome)
{
	cleaned = c;
	*outcome = table_clean(c, pages, reason, must_stop);
	cleaned = NULL;
	if (worker_slot_is_stopped() || !candidate_is_there(c))
		return false;
	(void) candidate_refresh(c);
	if (outcome->why_not)
		keep(cleaning, c, CLEANING_IMPOSSIBLE, RECHECK_OFF_MS, outcome->why_not);
	else if (outcome->outcome == RUN_SKIPPED)
		keep(cleaning, c, CLEANING_NOT_NOW, 0, "the lock was not available");	/* asking again costs
																				 * little */
	else if (outcome->outcome != RUN_DONE)
		keep_failure(cleaning, c, outcome->outcome == RUN_CANCELLED ? "it was cancelled" : "it has failed, see the log");
	else
		return true;
	return false;
}

/* What takes no I/O. */
static void
clean_pages(Cleaning *cleaning, Candidate *c, const CleanPages *pages)
{
	CleanOutcome outcome;
	char		reason[RUN_REASON_LEN];
	char		note[CLEANING_NOTE_LEN];
	int64		rows;

	snprintf(reason, sizeof(reason), "dead tuples " INT64_FORMAT ", %d changed pages in shared buffers",
			 c->counters.dead, pages->count);
	if (!clean(cleaning, c, pages, reason, &outcome))
		return;
	rows = outcome.counts.rows + outcome.counts.rows_hot;
	snprintf(note, sizeof(note), INT64_FORMAT " rows removed in memory, " INT64_FORMAT " left that would take I/O",
			 rows, outcome.counts.rows_costly);
	keep(cleaning, c, rows > 0 ? CLEANING_DONE : CLEANING_BELOW_THRESHOLD, 0, note);
}

/* ----
 * A visit
 * ----
 */

static void
recall(DecisionKey key, Cleaning *cleaning)
{
	if (!cleaning_get(key, cleaning))
		memset(cleaning, 0, sizeof(*cleaning));
}

static void
look_at(DecisionKey key, const CleanPages *pages, bool all_seen)
{
	Candidate  *c = candidate_find(key.relid);
	Cleaning	cleaning;

	if (c == NULL)
		return;
	recall(key, &cleaning);
	/* another worker may have cleaned it, and much may have changed */
	if (clock_now() < cleaning.not_before || !may_be_cleaned(&cleaning, c))
		return;
	cleaning.again = !all_seen;
	if (pages->count > 0)
		clean_pages(&cleaning, c, pages);
	else
		keep(&cleaning, c, CLEANING_BELOW_THRESHOLD, 0, "none of its dead rows can be removed in memory");
}

/* Keeps, in their order, those that may be cleaned.  Returns how many they are. */
static int
choose(DecisionKey *keys, int count)
{
	int			chosen = 0;

	for (int i = 0; i < count; i++)
	{
		Candidate  *c = candidate_find(keys[i].relid);
		Cleaning	cleaning;

		if (c == NULL)
			continue;
		recall(keys[i], &cleaning);
		if (may_be_cleaned(&cleaning, c))
			keys[chosen++] = keys[i];
	}
	return chosen;
}

void
clean_lane(bool (*stop) (void))
{
	int			count;
	DecisionKey *keys = queue_sparse(&count);
	CleanPages *pages;
	TimestampTz until;
	bool		all_seen;

	worker_must_stop = stop;
	if (count == 0 || !standbys_let_begin(MyDatabaseId) || !cleanings_begin())
	{
		pfree(keys);
		return;
	}
	count = choose(keys, count);
	pages = clean_pages_find(keys, count, must_stop, &all_seen);
	until = clock_after(clock_now(), LANE_MS);
	for (int i = 0; pages != NULL && i < count && clock_now() < until && standbys_let_begin(MyDatabaseId) && !must_stop(); i++)
	{
		if (!worker_slot_claim(keys[i]))
			continue;
		look_at(keys[i], &pages[i], all_seen);
		worker_slot_unclaim();
	}
	cleanings_end();
	if (pages != NULL)
		pfree(pages);
	pfree(keys);
}

static void
set_wanted(const Candidate *c, bool wanted)
{
	Cleaning	cleaning;

	recall(c->key, &cleaning);
	/* what was off by its own setting may be on now */
	if (cleaning.kind != CLEANING_NONE && cleaning.wanted == wanted && (cleaning.kind != CLEANING_OFF || !clean_lane_allows(c)))
		return;
	cleaning.wanted = wanted;
	cleaning.again = true;		/* for the garbage that is there already */
	keep(&cleaning, c, CLEANING_WANTED, 0, "a setting of the table has changed");
}

void
clean_lane_survey(const Candidate *c)
{
	if (c->rules.own && c->rules.own->is_set[TABLE_CLEANER] && clean_lane_allows(c))
		set_wanted(c, !sweep_cleaner);
}
