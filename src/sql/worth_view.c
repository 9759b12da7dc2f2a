/*
 * worth_view.c
 *		sweep.worth: what garbage costs index scans, and what vacuums brought.
 *
 * Runs in any backend.  It counts its copy once more by the statistics of
 * now, so that it is up to date.  It takes AccessShareLock on pg_class and
 * pg_index, on pg_inherits where advice is given, and the locks that
 * candidates.c takes.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/lsyscache.h"

#include "server/clock.h"
#include "server/features.h"
#include "server/table_indexes.h"
#include "server/table_tree.h"
#include "shmem.h"
#include "sql/row.h"
#include "state/worth_tables.h"
#include "worker/candidates.h"

#define BASIS_LEN	160

#define SECONDS_PER_HOUR	3600.0

/* A table, and what is known of it now. */
typedef struct Shown
{
	const Candidate *c;
	WorthTable	table;
	bool		stale;			/* its indexes are others */
	WorthRate	clean;
	WorthRate	now;
} Shown;

/* Has it still the indexes that were counted? */
static bool
has_other_indexes(const Shown *s)
{
	const WorthIndexes *counted = &s->table.indexes;
	Oid			oids[WORTH_INDEXES_LIMIT];
	int64		index_pages[WORTH_INDEXES_LIMIT];
	int			count = table_indexes(s->table.key.relid, WORTH_INDEXES_LIMIT, oids, index_pages);

	return count != counted->count || memcmp(oids, counted->oids, sizeof(Oid) * count) != 0;
}

/* What was counted up to this moment, unless a vacuum's own fetches may be in it. */
static void
bring_up_to_date(Shown *s, TimestampTz now)
{
	WorthCounters counters;
	double		dead_share;

	s->stale = has_other_indexes(s);
	if (s->stale)
	{
		/* what was measured of other indexes tells nothing */
		memset(&s->table.worth, 0, sizeof(s->table.worth));
		s->table.vacuumed_at = 0;
	}
	else if (s->table.settling_pid == 0 && s->table.counted &&
			 worth_tables_read(&s->table, &counters, &dead_share))
		worth_tables_count(&s->table, &counters, dead_share, now);
	worth_settle(&s->table.worth);
	worth_rates(&s->table.worth, &s->clean, &s->now);
}

static void
describe_basis(const Shown *s, char *text)
{
	const Worth *w = &s->table.worth;
	const char *parts = s->now.known && !s->now.with_table ?
		"indexes only, because there are sequential scans" : "table and indexes";

	if (s->stale)
		snprintf(text, BASIS_LEN, "its indexes have changed, and are counted anew after the next survey");
	else if (s->table.settling_pid != 0)
		snprintf(text, BASIS_LEN, "not counted until the process that vacuumed or analyzed it has reported what it fetched");
	else if (w->open)
		snprintf(text, BASIS_LEN, "being measured: %.0f of %d scans %s", w->opened.scans, WORTH_SCANS,
				 w->vacuumed ? "since the last vacuum" : "while there are hardly any dead rows");
	else if (!s->clean.known)
		snprintf(text, BASIS_LEN, "no vacuum of it was seen yet");
	else if (w->at_most)
		snprintf(text, BASIS_LEN, "%s. A vacuum that reads and dirties all of its pages, because none tells what it costs", parts);
	else if (w->costs == 1)
		snprintf(text, BASIS_LEN, "%s. Cost of the last vacuum", parts);
	else
		snprintf(text, BASIS_LEN, "%s. Cost of the last %d vacuums, the latest counts half", parts, w->costs);
}

static void
put_rate(Row *row, const WorthRate *rate)
{
	row_put_float(row, rate->known ? rate->fetched : -1);
	row_put_float(row, rate->known ? rate->read : -1);
}

static double
elapsed_s(const WorthTable *t, TimestampTz now)
{
	return t->vacuumed_at == 0 ? 0 : Max((double) (now - t->vacuumed_at) / USECS_PER_SEC, 0);
}

static void
put_losses(Row *row, const Shown *s)
{
	const Worth *w = &s->table.worth;
	bool		known = s->clean.known && !w->open;

	row_put_int64(row, known ? (int64) w->lost_fetched : -1);
	row_put_int64(row, known ? (int64) w->lost_read : -1);
	row_put_int64(row, w->costs > 0 && (s->clean.known || !w->at_most) ? (int64) (w->cost + 0.5) : -1);
}

/* The last vacuum: when it was, and what it brought. */
static void
put_last_vacuum(Row *row, const Shown *s, TimestampTz now)
{
	const Worth *w = &s->table.worth;
	double		elapsed = elapsed_s(&s->table, now);
	double		even = worth_breaks_even(w, elapsed);
	double		per_hour = elapsed > 0 ? w->scans * SECONDS_PER_HOUR / elapsed : 0;
	WorthRate	before;
	WorthRate	after;
	WorthRate	saved;

	worth_brought(w, &before, &after);
	saved = worth_difference(&before, &after);
	row_put_time(row, s->table.vacuumed_at);
	row_put_time(row, even < 0 || even > SECS_PER_YEAR ? 0 : s->table.vacuumed_at + (TimestampTz) (even * USECS_PER_SEC));
	row_put_float(row, before.known ? before.fetched : -1);
	row_put_float(row, after.known ? after.fetched : -1);
	row_put_float(row, saved.known && per_hour > 0 ? saved.fetched * per_hour : -1);
	row_put_float(row, saved.known && per_hour > 0 ? saved.read * per_hour : -1);
	row_put_float(row, w->changed > 0 ? 100 * w->cold / w->changed : -1);
}

static const char *
advice_of(const Shown *s)
{
	const Candidate *c = s->c;
	Worth		worth = s->table.worth;
	WorthThreshold t;

	if (!c->rules.enabled)
		return NULL;
	t.scale = c->rules.settings.vacuum_scale;
	t.own = (c->rules.opts != NULL && c->rules.opts->vacuum_scale_factor >= 0) ||
		(c->rules.own != NULL && c->rules.own->is_set[TABLE_VACUUM_SCALE_FACTOR]);
	t.rows = Max(c->row.reltuples, 0);
	t.dead = (double) c->counters.dead;
	t.threshold = c->weight.thresholds.vacuum;
	if (worth_advice(&worth, &t) == WORTH_VACUUM_EARLIER)
		worth.cost += worth_replans(CountDBBackends(MyDatabaseId), table_tree_size(c->key.relid));
	switch (worth_advice(&worth, &t))
	{
		case WORTH_VACUUM_EARLIER:
			return "vacuum earlier: scale factor 0.05";
		case WORTH_VACUUM_LATER:
			return "vacuum later: scale factor 0.2";
		default:
			return NULL;
	}
}

static void
put_table(Row *row, Shown *s, TimestampTz now)
{
	char		basis[BASIS_LEN];

	describe_basis(s, basis);
	row_put_oid(row, s->table.key.relid);
	row_put_text(row, s->c->row.schemaname);
	row_put_text(row, s->c->row.relname);
	row_put_int64(row, s->stale ? -1 : (int64) s->table.worth.scans);
	put_rate(row, &s->clean);
	put_rate(row, &s->now);
	put_losses(row, s);
	put_last_vacuum(row, s, now);
	row_put_text(row, advice_of(s));
	row_put_text(row, basis);
}

static const WorthTable *
find_followed(const WorthTable *tables, int count, Oid relid)
{
	for (int i = 0; i < count; i++)
	{
		if (tables[i].key.relid == relid)
			return &tables[i];
	}
	return NULL;
}

/* Keeps the tables of this database, or the one that is asked for, and reads them. */
static List *
read_candidates(WorthTable *tables, int *count, Oid only)
{
	DecisionKey *keys = palloc(sizeof(DecisionKey) * WORTH_TABLES_LIMIT);
	int			n = 0;

	for (int i = 0; i < *count; i++)
	{
		if (tables[i].key.dboid != MyDatabaseId || (OidIsValid(only) && tables[i].key.relid != only))
			continue;
		keys[n] = tables[i].key;
		tables[n++] = tables[i];
	}
	*count = n;
	return candidates_collect_named(keys, n);
}

PG_FUNCTION_INFO_V1(sweep_worth_0_1);
Datum
sweep_worth_0_1(PG_FUNCTION_ARGS)
{
	Oid			only = PG_GETARG_OID(0);
	TimestampTz now = clock_now();
	Row			row = {0};
	WorthTable *tables;
	ListCell   *lc;
	int			count;

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);

	/* both are of the server's private structures */
	if (!feature_is_ok(FEATURE_SCOUT) || !feature_is_ok(FEATURE_WORKER))
		return (Datum) 0;
	tables = worth_tables_copy(&count);
	foreach(lc, read_candidates(tables, &count, only))
	{
		Shown		s = {.c = lfirst(lc)};
		const WorthTable *t = find_followed(tables, count, s.c->key.relid);

		CHECK_FOR_INTERRUPTS();
		if (t == NULL)
			continue;
		s.table = *t;
		bring_up_to_date(&s, now);
		put_table(&row, &s, now);
		row_store(fcinfo, &row);
	}
	pfree(tables);
	return (Datum) 0;
}

/* For sweep.runs: what the last vacuum of each table brought, in all databases. */
PG_FUNCTION_INFO_V1(sweep_run_worth_0_1);
Datum
sweep_run_worth_0_1(PG_FUNCTION_ARGS)
{
	Row			row = {0};
	WorthTable *tables;
	int			count;

	shmem_require();
	InitMaterializedSRF(fcinfo, 0);
	tables = worth_tables_copy(&count);
	for (int i = 0; i < count; i++)
	{
		WorthRate	before;
		WorthRate	after;

		if (tables[i].run_id == 0)
			continue;
		worth_settle(&tables[i].worth);
		worth_brought(&tables[i].worth, &before, &after);
		row_put(&row, Int64GetDatum(tables[i].run_id));
		row_put_float(&row, before.known ? before.fetched : -1);
		row_put_float(&row, after.known ? after.fetched : -1);
		row_store(fcinfo, &row);
	}
	pfree(tables);
	return (Datum) 0;
}
