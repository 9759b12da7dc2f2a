/*
 * simulate_input.c
 *		What a simulation goes through: the recorded hours, and what is known of
 *		their tables.
 *
 * Runs in the backend of who asks.  Hours come from the archive, which is
 * read without a lock.  Rules and sizes of this database's tables come from
 * its catalogs, as for sweep.tables.  A table or index that is locked is taken
 * to be as large as pg_class says.  Of tables of other databases nothing is
 * known but what their vacuums told.
 *
 * Intervals are those of the settings, and hours those of pg_sweep's clock.
 * sweep.debug_clock_rate makes that one fast for tests.  What lasts by the
 * real clock, vacuums and their limits, is converted.
 */
#include "simulate_input.h"

#include <math.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "commands/dbcommands.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "pgtime.h"
#include "postmaster/bgwriter.h"
#include "storage/bufmgr.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "server/clock.h"
#include "server/compat.h"
#include "server/features.h"
#include "server/peek.h"
#include "server/standbys.h"
#include "settings.h"
#include "state/archive.h"
#include "state/ledger.h"
#include "state/queue.h"
#include "worker/candidates.h"

/* With fewer hours in which something happened nothing can be said. */
#define LEAST_HOURS			2

/*
 * A session adds what it has done to the statistics at most so often
 * (PGSTAT_MIN_INTERVAL).
 */
#define REPORT_S			1.0

/* Rows on a page, and pages of indexes for each of a table, where nothing is known. */
#define GUESSED_ROWS		50
#define GUESSED_INDEXES		0.5

/* What is read of a table.  An entry of a hash. */
typedef struct InputTable
{
	DecisionKey key;
	SimulateActivity *activity;
	int			count;
	int			room;
	double		changes;
	double		inserted;
	double		runs;
	double		dead_before;	/* negative: unknown */
	char		schemaname[NAMEDATALEN];
	char		relname[NAMEDATALEN];
} InputTable;

typedef struct Reading
{
	MemoryContext context;
	TimestampTz since;
	bool		act;
	HTAB	   *tables;
	SimulateHour *hours;
	int			count;
	int			room;
	int			active;			/* hours in which something happened */
	double		ids;			/* that were used, in so many seconds */
	double		ids_in_s;
	SimulateInput *in;
} Reading;

/* ----
 * The archive
 * ----
 */

static InputTable *
table_of(Reading *r, Oid dboid, Oid relid)
{
	DecisionKey key = {IsSharedRelation(relid) ? InvalidOid : dboid, relid};
	bool		found;
	InputTable *t = hash_search(r->tables, &key, HASH_ENTER, &found);

	if (!found)
	{
		memset((char *) t + sizeof(DecisionKey), 0, sizeof(*t) - sizeof(DecisionKey));
		t->dead_before = -1;
	}
	return t;
}

/* What the table did in the last hour that is being read. */
static SimulateActivity *
activity_of(InputTable *t, int hour)
{
	SimulateActivity *a;

	if (t->count > 0 && t->activity[t->count - 1].hour == hour)
		return &t->activity[t->count - 1];
	if (t->count == t->room)
	{
		t->room = t->room == 0 ? 16 : 2 * t->room;
		t->activity = t->activity == NULL ? palloc(sizeof(SimulateActivity) * t->room) :
			repalloc(t->activity, sizeof(SimulateActivity) * t->room);
	}
	a = &t->activity[t->count++];
	memset(a, 0, sizeof(*a));
	a->hour = hour;
	a->dead = -1;
	a->live = t->count > 1 ? a[-1].live : -1;
	return a;
}

static double
changes_of(const ActivityHour *a)
{
	return (double) a->inserted + a->updated + a->deleted;
}

static void
take_activity(Reading *r, const ActivityHour *from, int hour)
{
	InputTable *t;
	SimulateActivity *a;

	r->in->changes += changes_of(from);
	if (!OidIsValid(from->relid))
	{
		r->in->changes_left_out += changes_of(from);
		return;
	}
	t = table_of(r, from->dboid, from->relid);
	a = activity_of(t, hour);
	a->inserted = from->inserted;
	a->updated = from->updated;
	a->hot_updated = from->hot_updated;
	a->deleted = from->deleted;
	a->live = from->live;
	a->dead = from->dead;
	t->changes += changes_of(from);
	t->inserted += from->inserted;
}

/* What the server's own daemon sleeps is a part of the time that its vacuums take. */
static void
take_sum(Reading *r, const HistoryRecord *record, int hour)
{
	const HistorySum *sum = &record->sum;
	InputTable *t;
	SimulateActivity *a;

	/* a clean-up of pending lists removes no rows */
	if (sum->kind != HISTORY_TABLE || sum->command == RUN_ANALYZE ||
		(sum->command == RUN_CLEAN && sum->tuples_removed == 0))
		return;
	t = table_of(r, sum->dboid, sum->relid);
	a = activity_of(t, hour);
	if (sum->command != RUN_VACUUM ||
		(sum->starter != RUN_BY_SWEEP && sum->starter != RUN_BY_AUTOVACUUM))
	{
		a->others += sum->ended[RUN_DONE];
		return;
	}
	a->runs += sum->ended[RUN_DONE];
	a->removed += sum->tuples_removed;
	a->made.read += sum->used.blks_read;
	a->made.dirtied += sum->used.blks_dirtied;
	a->made.seconds += (double) Max(sum->run_us - (r->act ? sum->delay_us : 0), 0) / USECS_PER_SEC *
		sweep_debug_clock_rate;
	t->runs += sum->ended[RUN_DONE];
	if (record->relname[0] != '\0')
	{
		strlcpy(t->schemaname, record->schemaname, NAMEDATALEN);
		strlcpy(t->relname, record->relname, NAMEDATALEN);
	}
}

static int
minute_of_day(TimestampTz at)
{
	pg_time_t	seconds = timestamptz_to_time_t(at);
	struct pg_tm *local = pg_localtime(&seconds, log_timezone);

	return local == NULL ? 0 : local->tm_hour * 60 + local->tm_min;
}

static void
make_room(Reading *r)
{
	if (r->count < r->room)
		return;
	r->room = r->room == 0 ? 256 : 2 * r->room;
	if (r->hours == NULL)
	{
		r->hours = palloc(sizeof(SimulateHour) * r->room);
		r->in->begins = palloc(sizeof(TimestampTz) * r->room);
		return;
	}
	r->hours = repalloc(r->hours, sizeof(SimulateHour) * r->room);
	r->in->begins = repalloc(r->in->begins, sizeof(TimestampTz) * r->room);
}

/* Of the hour before the first one only the dead rows at its end count. */
static void
take_before(Reading *r, const ArchivedHour *hour)
{
	for (int i = 0; i < hour->table_count; i++)
	{
		if (OidIsValid(hour->tables[i].relid))
			table_of(r, hour->tables[i].dboid, hour->tables[i].relid)->dead_before = hour->tables[i].dead;
	}
}

static void
take_hour(const ArchivedHour *hour, void *arg)
{
	Reading    *r = arg;
	MemoryContext caller = MemoryContextSwitchTo(r->context);
	TimestampTz begin = hour->since != 0 ? hour->since : hour->begin;
	double		before = r->in->changes;

	if (hour->begin < r->since)
		take_before(r, hour);
	else if (hour->span_us > 0)
	{
		int			n = r->count;

		make_room(r);
		r->count++;
		r->in->begins[n] = hour->begin;
		if (n > 0)
			r->in->missing += (int) Max((hour->begin - r->in->begins[n - 1]) / USECS_PER_HOUR - 1, 0);
		r->hours[n].begin = (double) (begin - r->in->begins[0]) / USECS_PER_SEC;
		r->hours[n].seconds = (double) hour->span_us / USECS_PER_SEC;
		r->hours[n].minute = minute_of_day(begin);
		if (hour->xids >= 0)
		{
			r->ids += hour->xids;
			r->ids_in_s += r->hours[n].seconds;
		}
		for (int i = 0; i < hour->table_count; i++)
			take_activity(r, &hour->tables[i], n);
		for (int i = 0; i < hour->sum_count; i++)
			take_sum(r, &hour->sums[i], n);
		r->active += r->in->changes > before;
	}
	MemoryContextSwitchTo(caller);
}

static void
read_archive(Reading *r)
{
	HASHCTL		info = {0};

	info.keysize = sizeof(DecisionKey);
	info.entrysize = sizeof(InputTable);
	info.hcxt = r->context;
	r->tables = hash_create("sweep simulated tables", 256, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	archive_read(r->since - USECS_PER_HOUR, take_hour, r);
	if (r->active < LEAST_HOURS)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("too little is recorded for a simulation"),
				 errdetail("Hours in which rows were changed, since %s: %d.  At least %d are needed.",
						   timestamptz_to_str(r->since), r->active, LEAST_HOURS),
				 errhint("An hour is recorded when it is over, while sweep.mode is not off.  Wait, or ask for a longer time.")));
}

/* ----
 * Tables
 * ----
 */

/* What is known of a table in this database. */
typedef struct KnownTable
{
	Oid			relid;			/* hash key */
	const Candidate *candidate;
} KnownTable;

static HTAB *
known_tables(void)
{
	HASHCTL		info = {0};
	HTAB	   *hash;
	ListCell   *lc;

	info.keysize = sizeof(Oid);
	info.entrysize = sizeof(KnownTable);
	info.hcxt = CurrentMemoryContext;
	hash = hash_create("sweep known tables", 1024, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	/* both are of the server's private structures */
	if (!feature_is_ok(FEATURE_SCOUT) || !feature_is_ok(FEATURE_WORKER))
		return hash;
	foreach(lc, candidates_collect(false, NULL, NULL))
	{
		const Candidate *c = lfirst(lc);
		KnownTable *known;

		CHECK_FOR_INTERRUPTS();
		known = hash_search(hash, &c->key.relid, HASH_ENTER, NULL);
		known->candidate = c;
	}
	return hash;
}

static double
pages_by_class(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	double		pages = 0;

	if (HeapTupleIsValid(tuple))
	{
		pages = Max(((Form_pg_class) GETSTRUCT(tuple))->relpages, 0);
		ReleaseSysCache(tuple);
	}
	return pages;
}

static void
count_pages(Relation rel, void *pages)
{
	*(double *) pages = RelationGetNumberOfBlocks(rel);
}

static double
pages_of(Oid relid)
{
	double		pages;

	return peek(relid, count_pages, &pages) == PEEK_SEEN ? pages : pages_by_class(relid);
}

static void
measure(Relation rel, void *arg)
{
	SimulateTable *t = arg;
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *lc;

	t->pages = RelationGetNumberOfBlocks(rel);
	t->index_pages = 0;
	foreach(lc, indexes)
		t->index_pages += pages_of(lfirst_oid(lc));
	t->indexes = list_length(indexes);
	list_free(indexes);
}

static void
fill_sizes(SimulateTable *t, const Candidate *c)
{
	if (peek(c->key.relid, measure, t) == PEEK_SEEN)
		return;
	t->pages = Max((double) c->row.pages, 1);
	t->index_pages = GUESSED_INDEXES * t->pages;
	t->indexes = 1;
}

static void
guess_sizes(SimulateTable *t, DecisionKey key)
{
	RunRecord	run;

	t->pages = ceil(t->rows / GUESSED_ROWS);
	if (ledger_last(key.dboid ? key.dboid : MyDatabaseId, key.relid, RUN_VACUUM, &run) && run.pages >= 0)
		t->pages = (double) run.pages;
	t->index_pages = GUESSED_INDEXES * t->pages;
	t->indexes = 1;
}

/* Is the table looked after at all? */
static bool
is_ours(DecisionKey key, const char *schemaname, const SimulatedSettings *s)
{
	Lane		lane = lane_of(key.relid, schemaname);
	char	   *datname = OidIsValid(key.dboid) ? get_database_name(key.dboid) : NULL;

	if (datname != NULL && settings_database_scope(datname) != DATABASE_OURS)
		return false;
	return lane == LANE_CATALOG || s->scope == SCOPE_ALL || (lane == LANE_AUX && s->scope == SCOPE_CATALOG_AUX);
}

static void
fill_rules(SimulateTable *t, const SimulatedSettings *s, const Candidate *c, bool act)
{
	const TableSettings *own = c ? c->rules.own : NULL;

	t->settings = rules_thresholds_by(&s->rules, t->catalog);
	if (c != NULL)
		t->settings = candidate_thresholds(&c->rules, t->settings);
	t->own_inserts = act && !t->catalog && !standbys_can_conflict();
	t->checkpoint_aware = table_switch(own, TABLE_CHECKPOINT_AWARE, s->checkpoint_aware);
	t->inserts = rules_inserts_by(&s->rules, &t->settings);
	t->inserts.cache_fraction = table_setting(own, TABLE_INSERT_CACHE_FRACTION, t->inserts.cache_fraction);
	t->write_s = (double) CheckPointTimeout * sweep_debug_clock_rate;
	t->short_intervals = act && !t->catalog && s->rules.min_interval_s < 0 && !(own && own->is_set[TABLE_MIN_INTERVAL]);
	t->interval_s = act ? table_setting(own, TABLE_MIN_INTERVAL, rules_min_interval_by(&s->rules, t->catalog)) :
		(double) s->rules.autovacuum_naptime_s * sweep_debug_clock_rate;
}

/*
 * Unknown is how many of its inserted rows have come since the last vacuum,
 * unless there was none in all that time.
 */
static double
inserted_at_begin(const InputTable *from, const Candidate *c)
{
	return c != NULL && from->runs <= 0 ? Max((double) c->counters.ins - from->inserted, 0) : -1;
}

static double
frozen_pages(const Candidate *c)
{
	return (double) (c->memory.counted_vacuums >= 0 ? c->memory.frozen_pages : c->row.frozen_pages);
}

static void
fill_table(SimulateTable *t, SimulatedTable *info, const InputTable *from, const Candidate *c,
		   const SimulatedSettings *s, bool act)
{
	info->key = from->key;
	info->estimated = c == NULL;
	strlcpy(info->schemaname, c ? c->row.schemaname : from->schemaname, NAMEDATALEN);
	strlcpy(info->relname, c ? c->row.relname : from->relname, NAMEDATALEN);
	t->activity = from->activity;
	t->activities = from->count;
	t->rows = from->activity[from->count - 1].live;
	for (int i = 0; i < from->count && from->activity[i].live < 0; i++)
		from->activity[i].live = Max(t->rows, 0);
	t->rows = Max(t->rows, 0);
	t->catalog = lane_of(from->key.relid, info->schemaname) == LANE_CATALOG;
	t->enabled = (c == NULL || (c->rules.enabled && !c->row.temporary)) &&
		(!act || is_ours(from->key, info->schemaname, s));
	t->dead_begin = from->dead_before;
	t->inserted_begin = inserted_at_begin(from, c);
	if (c != NULL)
	{
		fill_sizes(t, c);
		t->frozen_pages = frozen_pages(c);
	}
	else
		guess_sizes(t, from->key);
	fill_rules(t, s, c, act);
}

static void
add_recorded(SimulateInput *in, SimulatedTable *info, const SimulateTable *t)
{
	for (int i = 0; i < t->activities; i++)
	{
		const SimulateActivity *a = &t->activity[i];
		RecordedSum *sums[2] = {&in->recorded[a->hour], &info->recorded};

		for (int j = 0; j < 2; j++)
		{
			sums[j]->vacuums += a->runs;
			sums[j]->read += a->made.read;
			sums[j]->dirtied += a->made.dirtied;
		}
		in->recorded[a->hour].dead += Max(a->dead, 0);
		info->recorded.dead = Max(a->dead, 0);
	}
}

/*
 * The age at which the table's vacuum goes through all that is not frozen.
 * vacuumed: others come, too, and autovacuum takes the opportunity.  Source:
 * vacuum_get_cutoffs() in PostgreSQL's vacuum.c.
 */
static double
freeze_age(const Candidate *c, bool vacuumed, const SimulatedSettings *s, bool act)
{
	const AutoVacOpts *opts = c->rules.opts;
	double		limit = s->freeze_max_age;
	double		table_age = vacuum_freeze_table_age;

	if (opts != NULL && opts->freeze_max_age >= 0)
		limit = Min(limit, opts->freeze_max_age);
	if (opts != NULL && opts->freeze_table_age >= 0)
		table_age = opts->freeze_table_age;
	if (act && is_ours(c->key, c->row.schemaname, s))
		return c->weight.freeze_share * limit;
	return vacuumed ? Min(table_age, 0.95 * limit) : limit;
}

/* Tables that nobody changes are frozen as well, so all of this database count. */
static void
foretell_freezing(Reading *r, const SimulatedSettings *s, HTAB *known)
{
	const SimulateHour *last = &r->hours[r->count - 1];
	double		seconds = last->begin + last->seconds;
	HASH_SEQ_STATUS status;
	KnownTable *table;

	hash_seq_init(&status, known);
	while ((table = hash_seq_search(&status)) != NULL)
	{
		const Candidate *c = table->candidate;
		const InputTable *from = hash_search(r->tables, &c->key, HASH_FIND, NULL);
		double		age = freeze_age(c, from != NULL && from->runs > 0, s, r->act);
		double		until = simulate_seconds_to_age(c->row.xid_age, age, r->in->ids_s);

		if (c->row.temporary || until < 0 || until > seconds)
			continue;
		r->in->to_freeze++;
		r->in->pages_to_freeze += Max((double) c->row.pages - frozen_pages(c), 0);
	}
}

/* Tables whose rows nobody has changed need no vacuum, and are left out. */
static void
take_tables(Reading *r, const SimulatedSettings *s, bool back_test)
{
	SimulateInput *in = r->in;
	Simulation *sim = &in->simulation;
	HTAB	   *known = known_tables();
	HASH_SEQ_STATUS status;
	InputTable *from;
	long		most = hash_get_num_entries(r->tables);

	sim->tables = palloc0(sizeof(SimulateTable) * Max(most, 1));
	in->tables = palloc0(sizeof(SimulatedTable) * Max(most, 1));
	in->recorded = palloc0(sizeof(RecordedSum) * sim->hours_count);
	hash_seq_init(&status, r->tables);
	while ((from = hash_seq_search(&status)) != NULL)
	{
		SimulateTable *t = &sim->tables[sim->tables_count];
		SimulatedTable *info = &in->tables[sim->tables_count];
		KnownTable *here = NULL;

		CHECK_FOR_INTERRUPTS();
		if (from->changes <= 0)
			continue;
		if (from->key.dboid == MyDatabaseId || from->key.dboid == InvalidOid)
			here = hash_search(known, &from->key.relid, HASH_FIND, NULL);
		fill_table(t, info, from, here ? here->candidate : NULL, s, r->act);
		add_recorded(in, info, t);
		sim->tables_count++;
	}
	foretell_freezing(r, s, known);
	hash_destroy(known);
	simulate_learn(sim, back_test);
}

/* ----
 * Rules
 * ----
 */

static SimulateRules
rules_of(const SimulatedSettings *s, bool act)
{
	double		fast = sweep_debug_clock_rate;
	SimulateRules r = {
		.act = act,
		.core_knows_frozen = COMPAT_HAS_RELALLFROZEN,
		.workers = act ? s->max_workers : s->autovacuum_max_workers,
		.catalog_place = act && s->max_workers > 0,
		.look_s = act ? s->naptime_ms / 1000.0 : s->rules.autovacuum_naptime_s * fast,
		.report_s = REPORT_S * fast,
		.max_wait_s = QUEUE_MAX_WAIT_S,
		.follow_s = INSERT_FOLLOW_MS / 1000.0,
		.checkpoint_s = s->checkpoint_timeout_s * fast,
		.write_s = s->checkpoint_timeout_s * fast,
		.page_bytes = BLCKSZ,
		.weights = compat_score_weights(),
		.cost_hit = VacuumCostPageHit,
		.cost_miss = VacuumCostPageMiss,
		.cost_dirty = VacuumCostPageDirty,
	};

	if (act)
	{
		r.read_limit = s->read_limit / fast;
		r.write_limit = s->write_limit / fast;
		r.windows = s->windows;
		for (int i = 0; i < r.windows.count; i++)
		{
			r.windows.windows[i].value[LIMIT_READ] /= fast;
			r.windows.windows[i].value[LIMIT_WRITE] /= fast;
		}
	}
	return r;
}

static void
interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

SimulateInput *
simulate_input_read(const SimulatedSettings *settings, TimestampTz since, bool back_test)
{
	SimulateInput *in = palloc0(sizeof(SimulateInput));
	Simulation *sim = &in->simulation;
	Reading		r = {
		.context = CurrentMemoryContext,
		.since = since,
		.act = settings->mode == SWEEP_ACT,
		.in = in,
	};

	read_archive(&r);
	in->ids_s = r.ids_in_s > 0 ? r.ids / r.ids_in_s : -1;
	sim->rules = rules_of(settings, r.act);
	sim->hours = r.hours;
	sim->hours_count = r.count;
	sim->half = r.count / 2;
	sim->interrupts = interrupts;
	take_tables(&r, settings, back_test);
	sim->by_hour = palloc0(sizeof(SimulateSum) * r.count);
	sim->next_at = palloc(sizeof(double) * Max(sim->tables_count, 1));
	sim->waiting = palloc(sizeof(int) * Max(sim->tables_count, 1));
	hash_destroy(r.tables);
	return in;
}
