/*
 * scout.c
 *		Finds tables in need in all databases at once, without connecting to
 *		any: the cumulative statistics are one hash table in shared memory.
 *
 * Runs in the launcher.  It takes the partition locks of that hash one by
 * one, shared (stats_scan.c).  For the whole round it holds LOCK_DECISIONS,
 * shared, and inside them it takes ProcArrayLock, shared.  Nothing here takes
 * those in another order, and nothing in core that holds ProcArrayLock reads
 * statistics.
 *
 * What it finds is a suspicion.  It knows the server's settings, but neither
 * a table's reloptions nor its pg_class row.  The worker looks again, and
 * decisions.c remembers what it finds out.
 */
#include "launcher/scout.h"

#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "lib/dshash.h"
#include "postmaster/autovacuum.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/pgstat_internal.h"

#include "launcher/table_activity.h"
#include "policy/insert.h"
#include "policy/score.h"
#include "rules.h"
#include "server/clock.h"
#include "server/compat.h"
#include "server/horizon.h"
#include "server/next_checkpoint.h"
#include "server/standbys.h"
#include "server/stats_scan.h"
#include "shmem.h"
#include "state/cleanings.h"
#include "state/decision_expiry.h"
#include "state/decisions.h"
#include "state/queue.h"
#include "state/trial.h"
#include "state/worker_claims.h"

#define SCOUT_CACHE		1024

/*
 * Most of a round would be spent waiting for memory, because every entry is
 * somewhere else.  The order hardly changes from round to round.  So the way
 * taken last time tells what to ask for early.  These are only hints: nothing
 * is read through them, and an address that is not valid any more does no
 * harm.
 */
#define SCOUT_TRAIL		(1024 * 1024)	/* relations: at most 16 MB */
#define SCOUT_AHEAD		32
#define SCOUT_LINK_BYTES	16

typedef struct ScoutStep
{
	const void *entry;			/* of the hash table */
	const void *body;			/* the counters */
} ScoutStep;

static ScoutStep *trail = NULL; /* of the last round */
static int	trail_length = 0;

typedef struct ScoutRound
{
	HTAB	   *databases;
	ScoutDatabase *cache[SCOUT_CACHE];	/* of that hash, by the OID's low bits */
	int64		never_due_dead; /* no table is due with so few */
	int64		never_due_ins;
	int64		clean_least;	/* see cleanings_least() */
	ThresholdSettings settings[2];	/* of tables, of catalogs */
	int64		interval_ms[2]; /* of the same: the shortest between two
								 * vacuums of a table that has no decision (0:
								 * none) */
	ScoreWeights weights;
	WorkerClaims claims;
	DecisionMoment moment;
	InsertSizes new_pages;		/* of growing tables */
	TimestampTz wake_at;		/* see ScoutReport */
	bool		catalogs_due;
	bool		checkpoint_wanted;
} ScoutRound;

HTAB *
scout_create_databases(MemoryContext context)
{
	HASHCTL		info = {0};

	info.keysize = sizeof(Oid);
	info.entrysize = sizeof(ScoutDatabase);
	info.hcxt = context;
	return hash_create("sweep scout", 64, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

static bool
is_claimed(const WorkerClaims *claims, DecisionKey key)
{
	for (int i = 0; i < claims->count; i++)
	{
		if (claims->keys[i].dboid == key.dboid && claims->keys[i].relid == key.relid)
			return true;
	}
	return false;
}

static ScoutDatabase *
database_entry(ScoutRound *round, Oid dboid)
{
	ScoutDatabase **cached = &round->cache[dboid % SCOUT_CACHE];
	bool		found;

	/* neighbours in the statistics are of any database */
	if (*cached == NULL || (*cached)->dboid != dboid)
	{
		*cached = hash_search(round->databases, &dboid, HASH_ENTER, &found);
		if (!found)
			memset((char *) *cached + sizeof(Oid), 0, sizeof(ScoutDatabase) - sizeof(Oid));
	}
	return *cached;
}

static FullTransactionId
round_horizon(bool catalog, void *arg)
{
	ScoutDatabase *db = arg;

	if (!db->horizon_known[catalog])
	{
		db->horizon[catalog] = horizon_of_database(db->dboid, catalog);
		db->horizon_known[catalog] = true;
	}
	return db->horizon[catalog];
}

/* Is only time missing, and less than until the next round? */
static void
wake_for(ScoutRound *round, const Decision *decision, int64 dead, int64 ins, ScoutDatabase *db)
{
	DecisionMoment then = {decision_time(decision, ins), PG_INT64_MAX};

	if (then.now > round->moment.now &&
		then.now < clock_after(round->moment.now, sweep_naptime_ms) &&
		(round->wake_at == 0 || then.now < round->wake_at) &&
		decision_is_over(decision, dead, ins, &then, round_horizon, db))
		round->wake_at = then.now;
}

/* Returns false if no vacuum of the table is due, nor waits for anything. */
static bool
look_for_vacuum(ScoutRound *round, ScoutDatabase *db, DecisionKey key, const PgStat_StatTabEntry *stats)
{
	int64		dead = compat_tab_dead(stats);
	int64		ins = compat_tab_ins(stats);
	int64		left_dead;
	int64		left_ins;
	const Decision *decision;
	bool		catalog = rules_is_catalog(key.relid);
	Thresholds	t = {.analyze = -1};
	ScoreInput	in = {.weights = round->weights};
	DecisionMoment moment = round->moment;

	if (dead <= round->never_due_dead && ins <= round->never_due_ins)
		return false;
	if (!catalog && sweep_scope == SCOPE_CATALOG)
		return false;

	decision = decision_find(key);
	if (decision)
	{
		carry_add(&decision->carried, compat_tab_vacuums(stats), compat_tab_analyzes(stats), &dead, &ins);
		left_dead = dead;
		left_ins = ins;
		trial_take_off(&decision->trial, compat_tab_vacuums(stats), stats->tuples_updated + stats->tuples_deleted,
					   &left_dead, &left_ins);
		decision_see_dead(decision, left_dead);
		if (decision->ins_follow >= 0 && decision->rows_per_page > 0)
			insert_sizes_add(&round->new_pages, (double) left_ins / decision->rows_per_page);
		if (decision->ins_early >= 0 && (double) left_ins > decision->ins_early)
			decision_see(decision, left_ins, round->moment.now);
		round->checkpoint_wanted |= decision->ins_threshold >= 0 && !catalog &&
			(double) left_ins > (decision->ins_early >= 0 ? decision->ins_early : decision->ins_threshold);
		moment.vacuums = compat_tab_vacuums(stats);
		moment.vacuumed_at = Max(compat_tab_vacuumed_at(stats), compat_tab_autovacuumed_at(stats));
		if (!decision_is_over(decision, left_dead, left_ins, &moment, round_horizon, db))
		{
			bool		waits = queue_note_waiting(decision, dead, ins);

			wake_for(round, decision, left_dead, left_ins, db);
			db->waiting += waits;
			return waits;
		}
		t.vacuum = decision->dead_threshold;
		t.insert = decision->ins_threshold;
	}
	else
	{
		t = threshold_compute(&round->settings[catalog], compat_tab_live(stats), 0, 0);
		if (!threshold_vacuum_due(&t, dead) && !threshold_insert_due(&t, ins) &&
			(catalog ||
			 !rules_worth_a_look(&round->settings[false], compat_tab_live(stats), ins)))
			return false;
		if (round->interval_ms[catalog] > 0 &&
			clock_after(Max(compat_tab_vacuumed_at(stats), compat_tab_autovacuumed_at(stats)),
						round->interval_ms[catalog]) > round->moment.now)
			return false;
	}

	if (is_claimed(&round->claims, key))
		return true;
	queue_note(key, &t, dead, ins, true);
	in.thresholds = t;
	in.dead_tuples = dead;
	in.ins_since_vacuum = ins;
	db->due++;
	db->waiting++;
	db->due_catalogs += catalog;
	round->catalogs_due |= catalog;
	db->urgency = Max(db->urgency, score_compute(&in).score);
	return true;
}

/* Has the table so much garbage that its rows may be removed one by one? */
static void
look_for_garbage(ScoutRound *round, ScoutDatabase *db, DecisionKey key, const PgStat_StatTabEntry *stats)
{
	int64		dead = compat_tab_dead(stats);
	int64		live = compat_tab_live(stats);
	double		threshold;
	Thresholds	t;

	if (!cleanings_are_due(key, dead, live, &threshold) || IsCatalogRelationOid(key.relid) ||
		is_claimed(&round->claims, key))
		return;
	t = threshold_compute(&round->settings[false], live, 0, 0);
	queue_note_sparse(key, dead, threshold, (double) dead / Max(t.vacuum, 1));
	db->sparse++;
}

static void
look_at(ScoutRound *round, DecisionKey key, const PgStat_StatTabEntry *stats)
{
	ScoutDatabase *db = database_entry(round, key.dboid);
	int64		dead = compat_tab_dead(stats);

	db->relations++;
	db->dead_tuples += dead;
	db->changes += dead + compat_tab_ins(stats) + compat_tab_mod(stats);
	if (key.relid == RelationRelationId)
		db->class_changes = stats->tuples_inserted + stats->tuples_updated + stats->tuples_deleted;
	if (!look_for_vacuum(round, db, key, stats) && round->clean_least >= 0 && dead > round->clean_least)
		look_for_garbage(round, db, key, stats);
}

/* Prefetches from there to there, at most two cache lines. */
static inline void
prefetch(const void *from, const void *to)
{
#ifdef __GNUC__
	__builtin_prefetch(from);
	__builtin_prefetch(to);
#endif
}

/* Asks for what comes a little later, and notes what came now. */
static inline void
follow_trail(int64 n, const void *entry, const void *body)
{
	if (n + SCOUT_AHEAD < trail_length)
	{
		const PgStatShared_HashEntry *next = trail[n + SCOUT_AHEAD].entry;
		const PgStatShared_Relation *shared = trail[n + SCOUT_AHEAD].body;

		/* dshash's link to the next entry comes before it */
		prefetch((const char *) next - SCOUT_LINK_BYTES, &next->body);
		prefetch(&compat_tab_live(&shared->stats), &compat_tab_ins(&shared->stats));
	}
	if (n < SCOUT_TRAIL)
	{
		trail[n].entry = entry;
		trail[n].body = body;
	}
}

/* Notes when the counters of a database's tables may have been lost. */
static void
note_reset(ScoutRound *round, const PgStatShared_HashEntry *entry)
{
	const PgStatShared_Database *shared = dsa_get_address(pgStatLocal.dsa, entry->body);

	database_entry(round, entry->key.dboid)->reset_at = shared->stats.stat_reset_timestamp;
}

ScoutReport
scout_round(HTAB *databases, TimestampTz now)
{
	ScoutRound	round = {.databases = databases};
	StatsScan	scan;
	PgStatShared_HashEntry *entry;
	ScoutReport report = {.cpu_ms = clock_cpu_ms()};

	queue_begin();
	round.moment.now = now;
	round.moment.checkpoint_ms = next_checkpoint_ms(now);
	round.moment.fit_pages = pg_atomic_read_u32(&sweep_shared->fit_pages);
	round.settings[false] = rules_thresholds(false);
	round.settings[true] = rules_thresholds(true);
	/* decisions may have been forgotten for want of room */
	if (decisions_are_many())
	{
		RuleSettings rules = rules_settings();

		for (int catalog = 0; catalog < 2; catalog++)
			round.interval_ms[catalog] = (int64) (1000 * rules_min_interval_by(&rules, catalog));
	}
	round.weights = compat_score_weights();
	worker_claims_get(&round.claims);
	cleanings_begin_round(now);
	round.clean_least = sweep_mode == SWEEP_ACT && sweep_scope == SCOPE_ALL ? cleanings_least() : -1;
	if (trail == NULL)
		trail = MemoryContextAlloc(TopMemoryContext, sizeof(ScoutStep) * SCOUT_TRAIL);

	decisions_lock();

	/* most tables have few rows of these, and need not be looked up */
	round.never_due_dead = Min(round.settings[false].vacuum_base,
							   round.settings[true].vacuum_base);
	round.never_due_dead = Min(round.never_due_dead, round.settings[true].core_vacuum_base);
	round.never_due_dead = Min(round.never_due_dead, sweep_shared->lowest_dead_threshold);
	if (round.settings[false].vacuum_max >= 0)
		round.never_due_dead = Min(round.never_due_dead, round.settings[false].vacuum_max);
	round.never_due_ins = sweep_shared->lowest_ins_threshold;
	if (round.settings[false].insert_base >= 0)
		round.never_due_ins = Min(round.never_due_ins, round.settings[false].insert_base);
	if (round.settings[false].core_counts && round.settings[false].core_insert_base >= 0)
		round.never_due_ins = Min(round.never_due_ins, round.settings[false].core_insert_base);
	stats_scan_begin(&scan);
	while ((entry = stats_scan_next(&scan)) != NULL)
	{
		PgStatShared_Relation *shared;
		DecisionKey key;

		if (entry->dropped)
			continue;
		if (entry->key.kind == PGSTAT_KIND_DATABASE)
			note_reset(&round, entry);
		if (entry->key.kind != PGSTAT_KIND_RELATION)
			continue;
		shared = dsa_get_address(pgStatLocal.dsa, entry->body);
		follow_trail(report.relations, entry, shared);
		key.dboid = entry->key.dboid;
		key.relid = (Oid) compat_stat_objid(&entry->key);

		/*
		 * The entry's own lock is not taken.  A counter that is being changed
		 * is seen as before or as after.
		 */
		look_at(&round, key, &shared->stats);
		if (activity_is_walking)
			activity_see(key.dboid, key.relid, &shared->stats);
		report.relations++;
	}
	stats_scan_end(&scan);
	decisions_unlock();
	pg_atomic_write_u32(&sweep_shared->fit_pages,
						(uint32) insert_fit_pages(&round.new_pages, sweep_insert_cache_fraction, NBuffers));
	report.max_lock_ms = scan.max_lock_ms;
	trail_length = (int) Min(report.relations, SCOUT_TRAIL);

	report.cpu_ms = clock_cpu_ms() - report.cpu_ms;
	report.wake_at = round.wake_at;
	report.catalogs_due = round.catalogs_due;
	report.checkpoint_wanted = round.checkpoint_wanted;
	return report;
}
