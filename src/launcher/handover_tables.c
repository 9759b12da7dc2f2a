/*
 * handover_tables.c
 *		The tables of which a note tells: those with garbage, new rows or a
 *		wait.
 *
 * A pass over the statistics and the decisions finds them.  Locks, as in the
 * scout: LOCK_DECISIONS, and in it the lock of one partition of the
 * statistics, all shared.
 */
#include "launcher/handover_tables.h"

#include "pgstat.h"

#include "launcher/databases.h"
#include "rules.h"
#include "server/compat.h"
#include "server/stats_scan.h"
#include "server/table_stats.h"

#define STALE_SHARE		(1.0 / 8)	/* of counters of an earlier time */

static int
by_rank(const void *a, const void *b)
{
	const Pick *x = a;
	const Pick *y = b;

	if (x->class != y->class)
		return x->class > y->class ? -1 : 1;
	return x->share > y->share ? -1 : (x->share < y->share ? 1 : 0);
}

int
handover_tables_compare(const Pick *x, const Pick *y)
{
	if (x->key.dboid != y->key.dboid)
		return x->key.dboid < y->key.dboid ? -1 : 1;
	return x->key.relid < y->key.relid ? -1 : (x->key.relid > y->key.relid ? 1 : 0);
}

static int
by_key(const void *a, const void *b)
{
	return handover_tables_compare(a, b);
}

/* Leaves as many as a note has room for. */
static void
cut(HandoverLook *look)
{
	if (look->count <= CARRIED_TABLES_LIMIT)
		return;
	qsort(look->picks, look->count, sizeof(Pick), by_rank);
	look->count = CARRIED_TABLES_LIMIT;
	look->floor = look->picks[look->count].class == PICK_SHARE ?
		Max(look->floor, look->picks[look->count].share) : 1;
}

static PickClass
class_of(const Decision *d, TimestampTz now)
{
	if (d->kind == DECISION_BELOW_THRESHOLD)
		return PICK_SHARE;
	if (d->kind == DECISION_SNOOZED)
		return now < d->not_before ? PICK_SNOOZED : PICK_SHARE;
	return now < d->not_before || FullTransactionIdIsValid(d->horizon) ? PICK_WAITS : PICK_SHARE;
}

/*
 * Is what is known of the table's new rows worth more than its share?  Its next
 * vacuum goes by that.
 */
static bool
is_growing(const Decision *d)
{
	return d->memory.vacuumed && d->ins_early >= 0;
}

static void
set_thresholds(Pick *p, const HandoverLook *look, const Decision *d, const PgStat_StatTabEntry *stats)
{
	Thresholds	t;

	p->dead_threshold = d ? d->dead_threshold : 0;
	p->ins_threshold = d ? d->ins_threshold : 0;
	/* a table that was snoozed before anybody looked at it has none */
	if (d && (d->dead_threshold != 0 || d->ins_threshold != 0))
		return;
	t = threshold_compute(&look->settings[rules_is_catalog(p->key.relid)], compat_tab_live(stats), 0, 0);
	p->dead_threshold = t.vacuum;
	p->ins_threshold = t.insert;
}

static void
see_table(HandoverLook *look, DecisionKey key, const PgStat_StatTabEntry *stats)
{
	const Decision *d = decision_find(key);
	Pick		p = {.key = key};

	p.counts.vacuums = compat_tab_vacuums(stats);
	p.counts.analyzes = compat_tab_analyzes(stats);
	p.counts.dead = compat_tab_dead(stats);
	p.counts.ins = compat_tab_ins(stats);
	p.inserted = stats->tuples_inserted;
	p.changed = stats->tuples_updated + stats->tuples_deleted;
	if (look->only_stale && d)
		return;
	if (d)
	{
		carry_add(&d->carried, p.counts.vacuums, p.counts.analyzes, &p.counts.dead, &p.counts.ins);
		p.class = class_of(d, look->now);
		p.snoozed_until = p.class == PICK_SNOOZED ? d->not_before : 0;
	}
	if (p.class == PICK_SHARE && p.counts.dead <= 0 && p.counts.ins <= 0)
		return;
	set_thresholds(&p, look, d, stats);
	p.share = carry_share((double) p.counts.dead, p.dead_threshold, (double) p.counts.ins, p.ins_threshold);
	if (p.class == PICK_SHARE && p.share < (look->only_stale ? STALE_SHARE : look->floor) && !(d && is_growing(d)))
		return;
	if (OidIsValid(key.dboid) && !databases_is_ours(key.dboid))
		return;
	if (look->count == 2 * CARRIED_TABLES_LIMIT)
		cut(look);
	look->picks[look->count++] = p;
}

/* A table that nobody has touched since the server's start has no counters. */
static void
see_decision(const Decision *d, void *arg)
{
	HandoverLook *look = arg;
	PgStat_StatTabEntry stats;

	if ((class_of(d, look->now) == PICK_SHARE && !d->carried.on) ||
		table_stats_read(d->key.dboid, d->key.relid, &stats))
		return;
	memset(&stats, 0, sizeof(stats));
	see_table(look, d->key, &stats);
}

static void
note_reset(const PgStatShared_HashEntry *entry)
{
	const PgStatShared_Database *shared = dsa_get_address(pgStatLocal.dsa, entry->body);
	LauncherDatabase *db = databases_find(entry->key.dboid);

	if (db != NULL)
		db->reset_at = shared->stats.stat_reset_timestamp;
}

void
handover_tables_pick(HandoverLook *look)
{
	StatsScan	scan;
	PgStatShared_HashEntry *entry;

	decisions_lock();
	stats_scan_begin(&scan);
	while ((entry = stats_scan_next(&scan)) != NULL)
	{
		PgStatShared_Relation *shared;
		DecisionKey key;

		if (entry->dropped)
			continue;
		if (entry->key.kind == PGSTAT_KIND_DATABASE)
			note_reset(entry);
		if (entry->key.kind != PGSTAT_KIND_RELATION)
			continue;
		shared = dsa_get_address(pgStatLocal.dsa, entry->body);
		key.dboid = entry->key.dboid;
		key.relid = (Oid) compat_stat_objid(&entry->key);
		see_table(look, key, &shared->stats);
	}
	stats_scan_end(&scan);
	if (!look->only_stale)
		decision_visit(see_decision, look);
	decisions_unlock();
	cut(look);
	qsort(look->picks, look->count, sizeof(Pick), by_key);
}

void
handover_tables_begin(HandoverLook *look, TimestampTz now)
{
	memset(look, 0, sizeof(*look));
	look->picks = palloc_extended(sizeof(Pick) * 2 * CARRIED_TABLES_LIMIT, MCXT_ALLOC_HUGE);
	look->floor = CARRY_LEAST;
	look->now = now;
	look->settings[false] = rules_thresholds(false);
	look->settings[true] = rules_thresholds(true);
}

void
handover_tables_decide(Decision *d, const Pick *p, TimestampTz now)
{
	memset(d, 0, sizeof(*d));
	d->key = p->key;
	d->kind = DECISION_BELOW_THRESHOLD;
	d->last_at = now;
	d->dead_threshold = p->dead_threshold;
	d->ins_threshold = p->ins_threshold;
	d->ins_early = d->ins_follow = -1;
	d->memory.counted_vacuums = -1;
}

StatsMark
handover_tables_statistics(void)
{
	StatsMark	mark;

	mark.reset_at[0] = pgstat_fetch_stat_bgwriter()->stat_reset_timestamp;
	mark.reset_at[1] = pgstat_fetch_stat_archiver()->stat_reset_timestamp;
	return mark;
}
