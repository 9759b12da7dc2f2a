/*
 * weigh.c
 *		What follows from a table's numbers: thresholds, score, is it due?
 *
 * Where pg_class does not tell enough, the visibility map is counted.  One
 * page of it covers 32,000 pages of the table.  The result is kept in the
 * table's memory (TableMemory) until the table has changed.
 */
#include "worker/weigh.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/visibilitymap.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/autovacuum.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "policy/freeze.h"
#include "policy/garbage.h"
#include "policy/insert.h"
#include "rules.h"
#include "server/clock.h"
#include "server/compat.h"
#include "server/horizon.h"
#include "server/next_checkpoint.h"
#include "server/peek.h"
#include "server/residency.h"
#include "server/standbys.h"
#include "server/table_tree.h"
#include "shmem.h"
#include "state/carried.h"
#include "state/decision_expiry.h"
#include "state/trial.h"
#include "state/xid_rate.h"
#include "worker/insert_rules.h"
#include "worker/turn.h"

/* A count of the map is good until this share of the table has changed. */
#define COUNT_AGAIN			0.05

/*
 * A table is quiet if no more of its rows have changed since its last vacuum,
 * and if that was so many ids ago, as a share of the limit.  Right after a
 * vacuum nothing has changed in any table.
 */
#define QUIET_SHARE			0.01
#define QUIET_IDS			0.05

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

static double
ids_in_a_microsecond(void)
{
	XidRate		rate;

	return xid_rate_measure(&rate, 0) ? (double) rate.xids / (rate.seconds * USECS_PER_SEC) : 0;
}

static bool by_worker = false;

void
weighing_is_by_worker(void)
{
	by_worker = true;
}

static int64
age_of_horizon(bool catalog)
{
	FullTransactionId horizon = horizon_of_database(MyDatabaseId, catalog);

	return (int64) (U64FromFullTransactionId(ReadNextFullTransactionId()) - U64FromFullTransactionId(horizon));
}

void
weighing_begin(Weighing *w)
{
	PgStat_StatDBEntry *db = pgstat_fetch_stat_dbentry(MyDatabaseId);

	w->trial = by_worker && sweep_mode == SWEEP_OBSERVE;
	w->now = clock_now();
	w->checkpoint_ms = next_checkpoint_ms(w->now);
	SpinLockAcquire(&sweep_shared->mutex);
	w->history_begins = sweep_shared->launcher.started_at;
	SpinLockRelease(&sweep_shared->mutex);
	w->looked_at = last_looked_at();
	/* a time to come means that the clock was set back since */
	if (db && db->stat_reset_timestamp <= w->now)
		w->history_begins = Max(w->history_begins, db->stat_reset_timestamp);
	for (int catalog = 0; catalog < 2; catalog++)
		w->horizon_age[catalog] = age_of_horizon(catalog);
	w->mxid_horizon_age = (int32) (ReadNextMultiXactId() - GetOldestMultiXactId());
	w->ids_us = ids_in_a_microsecond();
	w->lossy_count = worth_tables_due(MyDatabaseId, w->lossy);
	w->carried = carried_is_known(MyDatabaseId, db ? db->stat_reset_timestamp : 0);
}

/* ----
 * The visibility map
 * ----
 */

static void
count_pages(Relation rel, void *pages)
{
	*(int64 *) pages = RelationGetNumberOfBlocks(rel);
}

/* One that is locked has none. */
static int64
pages_of(Oid index)
{
	int64		pages = 0;

	(void) peek(index, count_pages, &pages);
	return pages;
}

/*
 * Notes what the cleanup of an index without dead entries does.
 *
 * GiST, SP-GiST and GIN are read whole in search of empty pages, of which
 * there are none.  GIN's pending list is emptied, for which no VACUUM is needed
 * (pending_lists.c).  BRIN adds the new rows' ranges.  Of an access method that
 * is not core's nothing is known.
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
	m->index_pages += pages_of(index);

	if (am == BTREE_AM_OID || am == HASH_AM_OID)
		return;
	if (am != BRIN_AM_OID)
		m->whole_cleanup = true;
	if (am == GIN_AM_OID)
		m->pending_lists = true;
	else if (am != GIST_AM_OID && am != SPGIST_AM_OID)
		m->needs_cleanup = true;
}

static bool
count_is_good(const Candidate *c)
{
	const TableMemory *m = &c->memory;

	return m->counted_vacuums == c->counters.vacuums &&
		(double) (c->counters.inserted + c->counters.changed - m->counted_changes) <=
		COUNT_AGAIN * Max(c->row.reltuples, 1);
}

/*
 * The end of a vacuum sets the counter of inserted rows to nothing, although
 * rows have come while it ran.  Their pages lie beyond those that it has seen,
 * whose number pg_class has.  What sessions had not reported yet when it ended
 * is counted later, so a few pages say nothing.
 */
static void
find_unseen_rows(Candidate *c)
{
	double		pages = (double) (c->memory.pages - c->row.pages);
	double		unseen = pages * c->weight.rows_per_page - (double) c->counters.ins;

	if (c->tried || c->row.pages <= 0 || unseen < INSERT_AHEAD_PAGES * c->weight.rows_per_page)
		return;
	c->carried.on = true;
	c->carried.vacuums = c->counters.vacuums;
	c->carried.analyzes = c->counters.analyzes;
	c->carried.dead = 0;
	c->carried.ins = (int64) unseen;
	carry_add(&c->carried, c->counters.vacuums, c->counters.analyzes, &c->counters.dead, &c->counters.ins);
}

/* What is counted of a table, and for which. */
typedef struct Count
{
	const Candidate *c;
	TableMemory m;
} Count;

static void
look_at_map(Relation rel, void *arg)
{
	const Candidate *c = ((Count *) arg)->c;
	TableMemory *m = &((Count *) arg)->m;
	BlockNumber visible;
	BlockNumber frozen;
	List	   *indexes;
	ListCell   *lc;

	visibilitymap_count(rel, &visible, &frozen);
	m->pages = RelationGetNumberOfBlocks(rel);
	m->visible_pages = Min((int64) visible, m->pages);
	m->frozen_pages = Min((int64) frozen, m->pages);
	m->counted_vacuums = c->counters.vacuums;
	m->counted_changes = c->counters.inserted + c->counters.changed;
	if (c->trial.on)
	{
		m->visible_pages = Max(m->visible_pages, Min(c->trial.pages, m->pages));
		m->frozen_pages = Max(m->frozen_pages, Min(c->trial.frozen_pages, m->visible_pages));
	}
	m->unfrozen_pages = m->visible_pages - m->frozen_pages;
	m->cold_pages = c->trial.on ? 0 :
		m->unfrozen_pages - residency_of_unfrozen(rel, m->pages, m->unfrozen_pages);

	m->whole_cleanup = m->needs_cleanup = m->pending_lists = false;
	m->index_pages = 0;
	indexes = RelationGetIndexList(rel);
	foreach(lc, indexes)
		note_cleanup(m, lfirst_oid(lc));
	list_free(indexes);
}

/*
 * Counts what is in the table's map, if the table is free.  If it cannot be
 * read, nothing has been counted.
 */
static void
count_map(Candidate *c)
{
	bool		vacuumed = c->memory.counted_vacuums >= 0 &&
		c->memory.counted_vacuums < c->counters.vacuums;
	Count		count = {c, c->memory};
	PeekResult	result = peek(c->key.relid, look_at_map, &count);

	c->weight.unreadable = result == PEEK_FAILED;
	if (result != PEEK_SEEN)
		return;
	c->memory = count.m;
	if (vacuumed)
		find_unseen_rows(c);
}

/* ----
 * Thresholds
 * ----
 */

/* Do new pages fill their part of the cache again and again? */
static bool
is_followed(const Candidate *c)
{
	return c->weight.ins_follow >= 0 &&
		((double) c->counters.ins > c->weight.ins_follow ||
		 (c->weight.ins_fit > 0 && (double) c->counters.ins > c->weight.ins_fit));
}

/* Takes the insert rules for user tables that are large enough. */
static void
weigh_inserts(Candidate *c, const Weighing *w)
{
	InsertSettings settings = insert_rules_settings(c);
	InsertTable table;
	InsertThresholds t;
	bool		was_counted = c->memory.counted_vacuums >= 0;
	bool		matters;

	c->weight.checkpoint_aware = table_switch(c->rules.own, TABLE_CHECKPOINT_AWARE, sweep_checkpoint_aware);
	c->weight.rows_per_page = insert_rows_per_page(insert_rules_rows(c), c->row.pages, c->counters.live, c->memory.pages);
	c->weight.ins_early = c->weight.ins_follow = -1;
	c->weight.ins_fit = 0;
	c->weight.waits_for_checkpoint = false;
	if (!insert_rules_hold(c))
		return;

	/*
	 * Would the table be large enough to be counted even if all of it was
	 * frozen?  After a vacuum all is counted anew, to find out whether it was
	 * in vain, and because the scout goes by what comes out now.  So is what
	 * was counted before, and a table whose old pages are read again and
	 * again, to find out how large its indexes are.
	 */
	t = insert_rules_apply(c, 1, 1, &table);
	matters = t.due < c->weight.core_insert || t.early >= 0 || c->memory.read_again > 0 || was_counted;
	if ((c->vacuumed_now || (matters && c->counters.ins > 0)) && !count_is_good(c))
		count_map(c);

	if (settings.cache_fraction > 0)
		c->weight.ins_fit = pg_atomic_read_u32(&sweep_shared->fit_pages) * c->weight.rows_per_page;

	/* while the map is not counted no page is known to be frozen */
	t = insert_rules_apply(c, c->memory.pages, c->memory.frozen_pages, &table);
	insert_rules_take(c, &t);
	c->weight.waits_for_checkpoint = c->weight.checkpoint_aware &&
		insert_waits_for_checkpoint(&settings, &table, &t, (double) c->counters.ins,
									w->checkpoint_ms - decision_lead_ms(&c->memory),
									is_followed(c) ? INSERT_FOLLOW_MS : 1000 * candidate_min_interval_s(c));
}

static void
compute_score(Candidate *c)
{
	ScoreInput	in = {
		.thresholds = c->weight.thresholds,
		.dead_tuples = c->counters.dead,
		.ins_since_vacuum = c->counters.ins,
		.mod_since_analyze = c->counters.mod,
		.xid = {c->row.xid_age, c->rules.xid_limit, autovacuum_freeze_max_age, vacuum_failsafe_age},
		.mxid = {c->row.mxid_age, c->rules.mxid_limit, autovacuum_multixact_freeze_max_age,
		vacuum_multixact_failsafe_age},
		.weights = compat_score_weights(),
	};

	c->weight.score = score_compute(&in);
}

/*
 * How many ids have been used since the table was vacuumed?  Of a vacuum of
 * ours that is known.  One by somebody else may have come later, of which the
 * time is known.
 */
static double
ids_since_vacuum(const Candidate *c, const Weighing *w)
{
	TimestampTz vacuumed_at = c->counters.vacuumed_at != 0 ? clock_at(c->counters.vacuumed_at) : 0;
	double		ids = w->ids_us * (double) (w->now - Max(vacuumed_at, w->history_begins));

	if (c->memory.vacuumed)
		ids = Min(ids, (double) (U64FromFullTransactionId(ReadNextFullTransactionId()) - c->memory.vacuumed_xid));
	return ids;
}

/* Do its rows hardly change? */
static bool
is_quiet(const Candidate *c, const Weighing *w)
{
	return (double) (c->counters.dead + c->counters.ins) <= QUIET_SHARE * Max(c->row.reltuples, 0) &&
		ids_since_vacuum(c, w) >= QUIET_IDS * c->rules.xid_limit;
}

/*
 * Is it to be frozen ahead of autovacuum?  One that changes comes later: its
 * rows are frozen in vain if they change again.  Nor is one early where
 * standbys can conflict, because freezing cancels queries there.
 */
static void
weigh_age(Candidate *c, const Weighing *w)
{
	const AutoVacOpts *opts = c->rules.opts;
	FreezeAge	xid = {c->row.xid_age, c->rules.xid_limit, w->horizon_age[c->row.catalog_horizon]};
	FreezeAge	mxid = {c->row.mxid_age, c->rules.mxid_limit, w->mxid_horizon_age};

	c->weight.quiet = c->row.lane != LANE_CATALOG && !standbys_can_conflict() &&
		table_switch(c->rules.own, TABLE_EAGER_FREEZE, sweep_eager_freeze) && is_quiet(c, w);
	/* one that is frozen costs next to nothing, whenever that is */
	c->weight.freeze_share = freeze_ahead_share(c->key.relid, c->weight.quiet && !c->memory.frozen);
	/* what the settings leave unfrozen stays as old; core bounds them so, too */
	if (opts && opts->freeze_min_age >= 0)
		xid.least = Max(xid.least, Min(opts->freeze_min_age, autovacuum_freeze_max_age / 2));
	if (opts && opts->multixact_freeze_min_age >= 0)
		mxid.least = Max(mxid.least, Min(opts->multixact_freeze_min_age, mxid.limit / 2));
	else if (!c->weight.quiet)
		mxid.least = Max(mxid.least, Min(vacuum_multixact_freeze_min_age, mxid.limit / 2));
	/* an aggressive vacuum that met a pinned page is not tried again at once */
	c->weight.age_due = !c->row.temporary && w->now >= c->memory.catch_up_after &&
		!(c->trial.on && c->trial.aged) &&
		(freeze_ahead_is_due(&xid, c->weight.freeze_share) || freeze_ahead_is_due(&mxid, c->weight.freeze_share));
}

/*
 * Have index scans lost as many reads as a vacuum costs, together with the
 * plans that each session makes again after it?
 */
static bool
has_lost_reads(Candidate *c, const Weighing *w)
{
	for (int i = 0; i < w->lossy_count; i++)
	{
		if (w->lossy[i].relid != c->key.relid)
			continue;
		c->weight.lost_reads = w->lossy[i].lost_reads;
		c->weight.vacuum_blks = w->lossy[i].cost + worth_replans(CountDBBackends(MyDatabaseId), table_tree_size(c->key.relid));
		return !c->trial.on && c->weight.lost_reads >= c->weight.vacuum_blks;
	}
	return false;
}

static DueReason
due_reason(Candidate *c, const Weighing *w)
{
	if (threshold_vacuum_due(&c->weight.thresholds, c->counters.dead))
		return DUE_DEAD;
	if (threshold_insert_due(&c->weight.thresholds, c->counters.ins) ||
		(c->weight.ins_fit > 0 && c->counters.ins > c->weight.ins_fit))
		return c->weight.checkpoint_aware && decision_checkpoint_is_near(&c->memory, w->checkpoint_ms) ?
			DUE_CHECKPOINT : DUE_INSERTED;
	if (c->weight.ins_early >= 0 && c->counters.ins > c->weight.ins_early)
	{
		if (c->weight.checkpoint_aware && decision_checkpoint_is_near(&c->memory, w->checkpoint_ms))
			return DUE_CHECKPOINT;
		if (c->decision && decision_inserts_ended(c->decision, c->counters.ins, w->now))
			return DUE_INSERTS_ENDED;
	}
	/* what cannot be read is told by its vacuum, which fails */
	if (turn_is_now(c, w->now, w->looked_at) && c->weight.unreadable)
		return DUE_UNKNOWN;
	if (turn_is_now(c, w->now, w->looked_at) && !c->weight.uncounted &&
		garbage_guess(c->row.reltuples, c->memory.pages, c->memory.visible_pages) >
		c->weight.thresholds.vacuum)
		return DUE_UNKNOWN;
	if (has_lost_reads(c, w))
		return DUE_LOST_READS;
	return c->weight.age_due ? DUE_AGE : DUE_NOT;
}

/*
 * If the counters began anew, what is remembered of them means nothing any
 * more.
 */
static bool
counters_began_anew(const Candidate *c, const TableMemory *m)
{
	return c->counters.vacuums < m->counted_vacuums || c->counters.inserted < m->inserted ||
		c->counters.changed < m->changed ||
		(m->counted_vacuums >= 0 && c->counters.inserted + c->counters.changed < m->counted_changes);
}

/*
 * In mode observe a worker goes on as if the vacuums that it has noted had
 * been made, until others have vacuumed the table.  Otherwise what is
 * remembered of such vacuums must not count.
 */
static void
take_trial(Candidate *c, const Weighing *w, const Decision *decision)
{
	if (w->trial && trial_holds(&decision->trial, c->counters.vacuums, c->counters.ins))
	{
		int64		dead = c->counters.dead;

		c->trial = decision->trial;
		trial_take_off(&c->trial, c->counters.vacuums, c->counters.changed, &c->counters.dead, &c->counters.ins);
		c->trial.dead = dead - c->counters.dead;
		c->counters.history_lost = false;
		/* VACUUM would have counted these */
		c->row.pages = Max(c->row.pages, c->trial.pages);
		c->row.reltuples = Max(c->row.reltuples, (double) c->trial.rows);
	}
	if (c->trial.on == decision->trial.on && !counters_began_anew(c, &decision->memory))
		c->memory = decision->memory;
}

/*
 * Adds what was known before the counters began.  A worker keeps it as long
 * as it counts.
 */
static void
take_carried(Candidate *c, const Decision *decision)
{
	if (!decision->carried.on || decision->carried.vacuums != c->counters.vacuums)
		return;
	c->carried = decision->carried;
	carry_add(&c->carried, c->counters.vacuums, c->counters.analyzes, &c->counters.dead, &c->counters.ins);
}

/*
 * Where decisions have no room, the table's own may have been forgotten.  But
 * the statistics know when it was vacuumed, and the minimum interval holds.
 * The scout does the same.
 */
static Decision *
stand_in(const Candidate *c)
{
	Decision   *d;

	if (!decisions_are_many() || c->counters.vacuumed_at == 0)
		return NULL;
	d = palloc0(sizeof(Decision));
	d->key = c->key;
	d->kind = DECISION_VACUUMED;
	d->last_at = c->counters.vacuumed_at;
	d->not_before = clock_after(d->last_at, 1000 * candidate_min_interval_s(c));
	d->ins_early = d->ins_follow = -1;
	d->memory.counted_vacuums = -1;
	return d;
}

void
candidate_weigh(Candidate *c, const Weighing *w)
{
	Decision	decision;

	c->tried = w->trial;
	memset(&c->trial, 0, sizeof(c->trial));
	memset(&c->carried, 0, sizeof(c->carried));
	c->counters.history_lost = c->counters.history_lost && !w->carried;
	c->decision = NULL;
	memset(&c->memory, 0, sizeof(c->memory));
	c->memory.counted_vacuums = -1;
	if (decision_get(c->key, &decision))
	{
		c->decision = palloc(sizeof(Decision));
		*c->decision = decision;
		take_carried(c, &decision);
		take_trial(c, w, &decision);
	}

	c->weight.thresholds = threshold_compute(&c->rules.settings, c->row.reltuples, c->row.pages, c->row.frozen_pages);
	c->weight.core_insert = c->weight.thresholds.insert;
	c->weight.unreadable = false;
	weigh_inserts(c, w);

	turn_set(c, w->history_begins, w->now);
	if (turn_is_now(c, w->now, w->looked_at) && !count_is_good(c))
		count_map(c);
	c->weight.uncounted = c->rules.enabled && turn_is_now(c, w->now, w->looked_at) && !count_is_good(c) &&
		!c->weight.unreadable;
	compute_score(c);
	weigh_age(c, w);
	c->weight.due = due_reason(c, w);
	if (c->decision == NULL && c->weight.due != DUE_NOT)
		c->decision = stand_in(c);
}
