/*
 * weigh.c
 *		What follows from a table's numbers: thresholds, score, is it due?
 *
 * Where pg_class does not tell enough the visibility map is counted: 32,000
 * pages of the table on each of its own.  What came out is kept in the table's
 * memory (TableMemory) until the table has changed.
 */
#include "weigh.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/visibilitymap.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/autovacuum.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "clock.h"
#include "compat.h"
#include "decisions.h"
#include "next_checkpoint.h"
#include "peek.h"
#include "policy/garbage.h"
#include "policy/insert.h"
#include "scout.h"

/* Tables whose counters were lost have their turn within so long. */
#define LOST_SPREAD_MS		(10 * 60 * 1000)

/* A count of the map is good until so much of the table has changed. */
#define COUNT_AGAIN			0.05

static TimestampTz
last_looked_at(void)
{
	TimestampTz at = 0;

	LWLockAcquire(shmem_lock(LOCK_DATABASES), LW_SHARED);
	for (int i = 0; i < sweep_shared->databases_count; i++)
	{
		if (sweep_shared->databases[i].dboid == MyDatabaseId)
			at = sweep_shared->databases[i].looked_at;
	}
	LWLockRelease(shmem_lock(LOCK_DATABASES));
	return at;
}

void
weighing_begin(Weighing *w)
{
	PgStat_StatDBEntry *db = pgstat_fetch_stat_dbentry(MyDatabaseId);

	w->now = clock_now();
	w->checkpoint_ms = next_checkpoint_ms(w->now);
	SpinLockAcquire(&sweep_shared->mutex);
	w->history_begins = sweep_shared->launcher_started_at;
	SpinLockRelease(&sweep_shared->mutex);
	w->looked_at = last_looked_at();
	if (db)
		w->history_begins = Max(w->history_begins, db->stat_reset_timestamp);
}

/* ----
 * The visibility map
 * ----
 */

/*
 * What the cleanup of an index without dead entries does.  GiST and SP-GiST
 * are read whole in search of empty pages, of which there are none.  GIN's
 * pending list is emptied until nothing is left, however fast rows come in:
 * only a core autovacuum worker may stop at what was there when it began
 * (ginInsertCleanup's full_clean).  Autoanalyze does that, and an insert for
 * which the list is too long.  BRIN adds the new rows' ranges.  Of an access
 * method that is not core's nothing is known.
 */
static void
note_cleanup(TableMemory *m, Oid index)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(index));
	Oid			am;

	if (!HeapTupleIsValid(tuple))
		return;
	am = ((Form_pg_class) GETSTRUCT(tuple))->relam;
	ReleaseSysCache(tuple);

	if (am == BTREE_AM_OID || am == HASH_AM_OID)
		return;
	if (am != BRIN_AM_OID)
		m->whole_cleanup = true;
	if (am != GIN_AM_OID && am != GIST_AM_OID && am != SPGIST_AM_OID)
		m->needs_cleanup = true;
}

static bool
count_is_good(const Candidate *c)
{
	const TableMemory *m = &c->memory;

	return m->counted_vacuums == c->vacuums &&
		(double) (c->inserted + c->changed - m->counted_changes) <=
		COUNT_AGAIN * Max(c->reltuples, 1);
}

/* Is the table free?  Then what is in its map. */
static void
count_map(Candidate *c)
{
	TableMemory *m = &c->memory;
	BlockNumber visible;
	BlockNumber frozen;
	Relation	rel = peek_open(c->key.relid);
	List	   *indexes;
	ListCell   *lc;

	if (rel == NULL)
		return;

	visibilitymap_count(rel, &visible, &frozen);
	m->pages = RelationGetNumberOfBlocks(rel);
	m->visible_pages = Min((int64) visible, m->pages);
	m->frozen_pages = Min((int64) frozen, m->pages);
	m->counted_vacuums = c->vacuums;
	m->counted_changes = c->inserted + c->changed;

	m->whole_cleanup = m->needs_cleanup = false;
	indexes = RelationGetIndexList(rel);
	foreach(lc, indexes)
		note_cleanup(m, lfirst_oid(lc));
	list_free(indexes);
	peek_close(rel);
}

/* ----
 * Thresholds
 * ----
 */

InsertSettings
weigh_insert_settings(const ThresholdSettings *settings)
{
	InsertSettings s;

	s.base = settings->insert_base;
	s.scale = settings->insert_scale;
	s.active_part = sweep_insert_active_part;
	s.cache_fraction = sweep_insert_cache_fraction;
	s.buffers = NBuffers;
	s.page_bytes = BLCKSZ;
	s.least_bytes = sweep_insert_min_size_kb < 0 ? -1 : sweep_insert_min_size_kb * 1024.0;
	return s;
}

/*
 * Do pg_sweep's own rules apply?  Of one that was never counted, rows are no
 * measure of its pages, and core does not wait long.
 */
static bool
has_insert_rules(const Candidate *c)
{
	return c->lane != LANE_CATALOG && !c->temporary && c->core_insert >= 0 &&
		c->reltuples > 0 && c->pages > 0;
}

static InsertSettings
insert_settings_of(const Candidate *c)
{
	InsertSettings settings = weigh_insert_settings(&c->settings);

	settings.cache_fraction = table_setting(c->own, TABLE_INSERT_CACHE_FRACTION, settings.cache_fraction);
	return settings;
}

/* With so many pages, so many of them frozen. */
static InsertThresholds
apply_insert_rules(const Candidate *c, int64 pages, int64 frozen_pages, InsertTable *table)
{
	InsertSettings settings = insert_settings_of(c);

	table->reltuples = c->reltuples;
	table->rows_per_page = c->rows_per_page;
	table->core = c->core_insert;
	table->costly = c->memory.costly;
	table->pages = pages;
	table->frozen_pages = frozen_pages;
	return insert_thresholds(&settings, table);
}

/* For user tables that are large enough. */
static void
weigh_inserts(Candidate *c, const Weighing *w)
{
	InsertSettings settings = insert_settings_of(c);
	InsertTable table;
	InsertThresholds t;
	bool		was_counted = c->memory.counted_vacuums >= 0;
	bool		matters;

	c->checkpoint_aware = table_switch(c->own, TABLE_CHECKPOINT_AWARE, sweep_checkpoint_aware);
	c->rows_per_page = insert_rows_per_page(c->reltuples, c->pages, c->live, c->memory.pages);
	c->ins_early = -1;
	c->waits_for_checkpoint = false;
	if (!has_insert_rules(c))
		return;

	/*
	 * Is it large enough to count, were all of it frozen?  A vacuum has just
	 * changed that, and the scout goes by what comes out now.  What was
	 * counted before a vacuum is counted after it, too: was it in vain?
	 */
	t = apply_insert_rules(c, 1, 1, &table);
	matters = t.due < c->core_insert || t.early >= 0;
	if (((matters && c->ins > 0) || (c->vacuumed_now && (matters || was_counted))) &&
		!count_is_good(c))
		count_map(c);

	/* not counted: none is known to be frozen */
	t = apply_insert_rules(c, c->memory.pages, c->memory.frozen_pages, &table);
	c->thresholds.insert = t.due;
	c->ins_early = t.early;
	c->waits_for_checkpoint = c->checkpoint_aware &&
		insert_waits_for_checkpoint(&settings, &table, &t, (double) c->ins,
									w->checkpoint_ms - decision_lead_ms(&c->memory),
									1000 * candidate_min_interval_s(c));
}

void
weigh_again(Candidate *c)
{
	InsertTable table;
	InsertThresholds t;

	if (!has_insert_rules(c))
		return;
	t = apply_insert_rules(c, c->memory.pages, c->memory.frozen_pages, &table);
	c->thresholds.insert = t.due;
	c->ins_early = t.early;
}

static void
compute_score(Candidate *c)
{
	ScoreInput	in = {
		.thresholds = c->thresholds,
		.dead_tuples = c->dead,
		.ins_since_vacuum = c->ins,
		.mod_since_analyze = c->mod,
		.xid = {c->xid_age, c->xid_limit, autovacuum_freeze_max_age, vacuum_failsafe_age},
		.mxid = {c->mxid_age, c->mxid_limit, autovacuum_multixact_freeze_max_age,
		vacuum_multixact_failsafe_age},
		.weights = compat_score_weights(),
	};

	c->score = score_compute(&in);
}

/* ----
 * Lost counters
 * ----
 */

/* Decided when it had its turn, and to be done once it can be. */
static bool
is_put_off(const Decision *d)
{
	return d->kind == DECISION_LOCKED || d->kind == DECISION_CANCELLED ||
		d->kind == DECISION_FAILED || d->kind == DECISION_SNOOZED;
}

/*
 * Each table is looked at once, by the first visit after its turn: what is
 * found in order then need not be remembered.  Another visit that has ended
 * since this one found it due left it to this one.
 */
static bool
it_is_its_turn(const Candidate *c, const Weighing *w)
{
	if (!c->history_lost || w->now < c->turn_at)
		return false;
	return c->turn_at > w->looked_at || c->due == DUE_UNKNOWN ||
		(c->decision && (is_put_off(c->decision) || c->decision->kind == DECISION_OBSERVED));
}

bool
weigh_turn_comes(const Candidate *c, TimestampTz *at)
{
	Decision	d;

	if (!c->history_lost)
		return false;
	/* by the time when it was weighed: by now it may be over, and was missed */
	if (c->turn_to_come)
	{
		*at = c->turn_at;
		return true;
	}
	/* it was its turn; decided since */
	if ((c->due == DUE_UNKNOWN || c->uncounted) && decision_get(c->key, &d) && is_put_off(&d))
	{
		*at = d.not_before;
		return true;
	}
	return false;
}

static DueReason
due_reason(const Candidate *c, const Weighing *w)
{
	if (threshold_vacuum_due(&c->thresholds, c->dead))
		return DUE_DEAD;
	if (threshold_insert_due(&c->thresholds, c->ins))
		return c->checkpoint_aware && decision_checkpoint_is_near(&c->memory, w->checkpoint_ms) ?
			DUE_CHECKPOINT : DUE_INSERTED;
	if (c->ins_early >= 0 && c->ins > c->ins_early)
	{
		if (c->checkpoint_aware && decision_checkpoint_is_near(&c->memory, w->checkpoint_ms))
			return DUE_CHECKPOINT;
		if (c->decision && decision_inserts_ended(c->decision, c->ins, w->now))
			return DUE_INSERTS_ENDED;
	}
	if (it_is_its_turn(c, w) && !c->uncounted &&
		garbage_guess(c->reltuples, c->memory.pages, c->memory.visible_pages) >
		c->thresholds.vacuum)
		return DUE_UNKNOWN;
	return DUE_NOT;
}

/* Then what is remembered of them means nothing any more. */
static bool
counters_began_anew(const Candidate *c, const TableMemory *m)
{
	return c->vacuums < m->counted_vacuums || c->inserted < m->inserted ||
		c->changed < m->changed ||
		(m->counted_vacuums >= 0 && c->inserted + c->changed < m->counted_changes);
}

void
candidate_weigh(Candidate *c, const Weighing *w)
{
	Decision	decision;

	c->decision = NULL;
	memset(&c->memory, 0, sizeof(c->memory));
	c->memory.counted_vacuums = -1;
	if (decision_get(c->key, &decision))
	{
		c->decision = palloc(sizeof(Decision));
		*c->decision = decision;
		if (!counters_began_anew(c, &decision.memory))
			c->memory = decision.memory;
	}

	c->thresholds = threshold_compute(&c->settings, c->reltuples, c->pages, c->frozen_pages);
	c->core_insert = c->thresholds.insert;
	weigh_inserts(c, w);

	c->turn_at = clock_after(w->history_begins,
							 garbage_turn_ms(c->key.dboid, c->key.relid, c->pages, LOST_SPREAD_MS));
	c->turn_to_come = c->turn_at > w->now;
	if (it_is_its_turn(c, w) && !count_is_good(c))
		count_map(c);
	c->uncounted = c->enabled && it_is_its_turn(c, w) && !count_is_good(c);
	compute_score(c);
	c->due = due_reason(c, w);
}

void
candidate_why_due(const Candidate *c, char *text, size_t size)
{
	switch (c->due)
	{
		case DUE_DEAD:
			snprintf(text, size, "dead tuples " INT64_FORMAT " > %.0f",
					 c->dead, c->thresholds.vacuum);
			break;
		case DUE_CHECKPOINT:
			snprintf(text, size, INT64_FORMAT " tuples inserted before a checkpoint", c->ins);
			break;
		case DUE_INSERTS_ENDED:
			snprintf(text, size, "inserts have ended after " INT64_FORMAT " tuples", c->ins);
			break;
		case DUE_UNKNOWN:
			snprintf(text, size, "statistics lost, " INT64_FORMAT " of " INT64_FORMAT " pages all-visible",
					 c->memory.visible_pages, c->memory.pages);
			break;
		default:
			snprintf(text, size, "inserted tuples " INT64_FORMAT " > %.0f",
					 c->ins, c->thresholds.insert);
			break;
	}
}
