/*
 * candidates.c
 *		The tables of one database, with all that is needed to decide:
 *		pg_class, reloptions, counters, thresholds.
 *
 * Runs in a worker.  It takes AccessShareLock on pg_class only, and opens no
 * table.
 */
#include "worker/candidates.h"

#include "access/heapam.h"
#include "access/multixact.h"
#include "access/reloptions.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "commands/vacuum.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "policy/freeze.h"
#include "rules.h"
#include "server/compat.h"
#include "server/table_stats.h"
#include "settings.h"
#include "state/carried.h"
#include "worker/toast_owner.h"
#include "worker/weigh.h"

#define CANDIDATES_BLOCK	(64 * 1024) /* bytes, room for a hundred or so */

/* A survey looks at about so many of the tables that nothing is known of. */
#define UNKNOWN_LIMIT		1000

static uint32 unknown_before = 0;	/* in the last survey of this worker */

/* A table that has a TOAST table, with what that one inherits from it. */
typedef struct ToastOwner
{
	Oid			toastrelid;		/* hash key */
	Oid			relid;
	AutoVacOpts *opts;
	const TableSettings *own;
} ToastOwner;

/* Storage parameters beside those for autovacuum. */
typedef struct OtherOptions
{
	bool		user_catalog;
	bool		index_cleanup;	/* see CandidateRules */
} OtherOptions;

static AutoVacOpts *
read_options(HeapTuple tuple, TupleDesc desc, OtherOptions *others)
{
	StdRdOptions *options = (StdRdOptions *) extractRelOptions(tuple, desc, NULL);
	AutoVacOpts *opts;

	memset(others, 0, sizeof(*others));
	if (options == NULL)
		return NULL;
	others->user_catalog = options->user_catalog_table;
	others->index_cleanup = options->vacuum_index_cleanup != STDRD_OPTION_VACUUM_INDEX_CLEANUP_AUTO;
	opts = palloc(sizeof(AutoVacOpts));
	memcpy(opts, &options->autovacuum, sizeof(AutoVacOpts));
	pfree(options);
	return opts;
}

/* What sweep.set() said wins over the storage parameters. */
static void
apply_own(ThresholdSettings *s, const TableSettings *own)
{
	s->vacuum_base = table_setting(own, TABLE_VACUUM_THRESHOLD, s->vacuum_base);
	s->vacuum_scale = table_setting(own, TABLE_VACUUM_SCALE_FACTOR, s->vacuum_scale);
	s->insert_base = table_setting(own, TABLE_INSERT_THRESHOLD, s->insert_base);
	s->insert_scale = table_setting(own, TABLE_INSERT_SCALE_FACTOR, s->insert_scale);
}

/*
 * The table's own value is taken where it has one, as in
 * relation_needs_vacanalyze().
 */
ThresholdSettings
candidate_thresholds(const CandidateRules *rules, ThresholdSettings s)
{
	const AutoVacOpts *opts = rules->opts;
	const TableSettings *own = rules->own;

	if (opts == NULL)
	{
		apply_own(&s, own);
		return s;
	}
	if (opts->vacuum_threshold >= 0)
		s.vacuum_base = s.core_vacuum_base = opts->vacuum_threshold;
	if (opts->vacuum_scale_factor >= 0)
		s.vacuum_scale = s.core_vacuum_scale = opts->vacuum_scale_factor;
	if (opts->vacuum_ins_threshold >= -1)
		s.insert_base = s.core_insert_base = opts->vacuum_ins_threshold;
	if (opts->vacuum_ins_scale_factor >= 0)
		s.insert_scale = s.core_insert_scale = opts->vacuum_ins_scale_factor;
	if (compat_vacuum_max_threshold(opts) != compat_vacuum_max_threshold(NULL))
		s.vacuum_max = compat_vacuum_max_threshold(opts);
	if (opts->analyze_threshold >= 0)
		s.analyze_base = opts->analyze_threshold;
	if (opts->analyze_scale_factor >= 0)
		s.analyze_scale = opts->analyze_scale_factor;
	apply_own(&s, own);
	return s;
}

/*
 * How old are the table's oldest ids, and at which ages does core vacuum it
 * in any case?  An id may be moved on after we read the next one.  Then its
 * age is 0.
 */
static void
fill_ages(Candidate *c, Form_pg_class form, const AutoVacOpts *opts)
{
	c->rules.xid_limit = autovacuum_freeze_max_age;
	c->rules.mxid_limit = MultiXactMemberFreezeThreshold();
	if (opts && opts->freeze_max_age >= 0)
		c->rules.xid_limit = Min(c->rules.xid_limit, opts->freeze_max_age);
	if (opts && opts->multixact_freeze_max_age >= 0)
		c->rules.mxid_limit = Min(c->rules.mxid_limit, opts->multixact_freeze_max_age);

	c->row.frozenxid = form->relfrozenxid;
	c->row.minmxid = form->relminmxid;
	c->row.xid_age = c->row.mxid_age = 0;
	if (TransactionIdIsNormal(form->relfrozenxid))
		c->row.xid_age = Max((int32) (ReadNextTransactionId() - form->relfrozenxid), 0);
	if (MultiXactIdIsValid(form->relminmxid))
		c->row.mxid_age = Max((int32) (ReadNextMultiXactId() - form->relminmxid), 0);
}

static void
name_schema(Candidate *c, Oid namespace)
{
	char	   *name = get_namespace_name(namespace);

	strlcpy(c->row.schemaname, name ? name : "", NAMEDATALEN);
	if (name)
		pfree(name);
}

/* Takes what pg_class says. */
static void
fill(Candidate *c, Form_pg_class form, AutoVacOpts *opts, const OtherOptions *others)
{
	name_schema(c, form->relnamespace);
	strlcpy(c->row.relname, NameStr(form->relname), NAMEDATALEN);
	c->key.dboid = form->relisshared ? InvalidOid : MyDatabaseId;
	c->key.relid = form->oid;
	c->row.lane = lane_of(form->oid, c->row.schemaname);
	c->row.relkind = form->relkind;
	c->row.catalog_horizon = IsCatalogRelationOid(form->oid) || others->user_catalog;
	c->rules.index_cleanup = others->index_cleanup;
	c->row.temporary = form->relpersistence == RELPERSISTENCE_TEMP;
	c->rules.opts = opts;
	c->rules.settings = candidate_thresholds(&c->rules, rules_thresholds(c->row.lane == LANE_CATALOG));
	c->rules.enabled = table_switch(c->rules.own, TABLE_ENABLED, opts == NULL || opts->enabled);
	c->row.reltuples = form->reltuples;
	c->row.pages = form->relpages;
	c->row.frozen_pages = compat_relallfrozen(form);
	fill_ages(c, form, opts);

	/* core never analyzes these */
	if (form->relkind == RELKIND_TOASTVALUE || form->oid == StatisticRelationId)
		c->rules.settings.analyze_base = -1;
}

/* May it have to be frozen? */
static bool
is_old(const Candidate *c)
{
	return (double) c->row.xid_age > freeze_ahead_least() * c->rules.xid_limit ||
		(double) c->row.mxid_age > freeze_ahead_least() * c->rules.mxid_limit;
}

/*
 * Takes the counters of the statistics.  Returns false if there are none and
 * never were any, none were carried over, and the table is young.  A table may be known to have been vacuumed or analyzed
 * while its counters know of neither.  Then it has lost them in a crash, by a
 * promotion or by pg_stat_reset().
 */
static bool
count(Candidate *c)
{
	PgStat_StatTabEntry stats;
	bool		found = table_stats_read(c->key.dboid, c->key.relid, &stats);

	if (!found)
		memset(&stats, 0, sizeof(stats));
	c->counters.live = compat_tab_live(&stats);
	c->counters.dead = compat_tab_dead(&stats);
	c->counters.ins = compat_tab_ins(&stats);
	c->counters.mod = compat_tab_mod(&stats);
	c->counters.analyzed_at = compat_tab_analyzed(&stats);
	c->counters.autoanalyzed_at = compat_tab_autoanalyzed(&stats);
	c->counters.vacuumed_at = Max(compat_tab_vacuumed_at(&stats), compat_tab_autovacuumed_at(&stats));
	c->counters.inserted = stats.tuples_inserted;
	c->counters.changed = stats.tuples_updated + stats.tuples_deleted;
	c->counters.fetched = stats.blocks_fetched;
	c->counters.vacuums = compat_tab_vacuums(&stats);
	c->counters.analyzes = compat_tab_analyzes(&stats);
	c->counters.history_lost = !c->row.temporary && c->row.pages > 0 && c->row.reltuples > 0 &&
		c->counters.vacuums == 0 && c->counters.analyzes == 0 &&
		(double) c->counters.inserted < c->row.reltuples / 2;
	c->counters.unknown = !c->row.temporary && c->row.relkind != RELKIND_TOASTVALUE && c->row.reltuples < 0 &&
		c->counters.analyzes == 0 && c->counters.live == 0 && c->counters.dead == 0;
	c->counters.counted = found || c->counters.history_lost || carried_has(c->key);
	return c->counters.counted || is_old(c);
}

static HTAB *
create_toast_owners(void)
{
	HASHCTL		info = {0};

	info.keysize = sizeof(Oid);
	info.entrysize = sizeof(ToastOwner);
	info.hcxt = CurrentMemoryContext;
	return hash_create("sweep TOAST owners", 128, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* The passes over pg_class. */
typedef struct ReadPass
{
	bool		toast;			/* reads TOAST tables, or the others */
	bool		catalogs_only;
	CandidateVisitor visit;
	void	   *arg;
	Weighing	w;
	MemoryContext context;		/* of what outlives a table's look */
	MemoryContext kept;			/* of the candidates */
	List	   *list;
	bool		survey;			/* all tables are looked at for a worker */
	uint32		unknown;		/* tables that nothing is known of, so far */
	HTAB	   *toast_owners;	/* filled by the first pass */
	DatabaseSettings *settings; /* what sweep.set() has set */
} ReadPass;

static void *
copy_of(const void *from, size_t size)
{
	return from ? memcpy(palloc(size), from, size) : NULL;
}

static void
keep(ReadPass *pass, const Candidate *c)
{
	MemoryContext caller = MemoryContextSwitchTo(pass->kept);
	Candidate  *kept = copy_of(c, sizeof(Candidate));

	MemoryContextSwitchTo(pass->context);
	kept->rules.opts = copy_of(c->rules.opts, sizeof(AutoVacOpts));
	kept->decision = copy_of(c->decision, sizeof(Decision));
	pass->list = lappend(pass->list, kept);
	MemoryContextSwitchTo(caller);
}

/* What is the TOAST table of this one to inherit? */
static void
note_toast_owner(ReadPass *pass, Form_pg_class form, AutoVacOpts *opts, const TableSettings *own)
{
	ToastOwner *owner = hash_search(pass->toast_owners, &form->reltoastrelid, HASH_ENTER, NULL);
	MemoryContext caller = MemoryContextSwitchTo(pass->context);

	owner->relid = form->oid;
	owner->opts = copy_of(opts, sizeof(AutoVacOpts));
	owner->own = own;
	MemoryContextSwitchTo(caller);
}

static bool
is_table(char relkind)
{
	return relkind == RELKIND_RELATION || relkind == RELKIND_MATVIEW || relkind == RELKIND_TOASTVALUE;
}

/*
 * Of tables that no row is known of, each survey looks at another part.  Those
 * that are read or written have counters, and so are looked at each time.
 */
static bool
has_its_turn(ReadPass *pass, const Candidate *c)
{
	uint32		survey = (uint32) (GetCurrentTransactionStartTimestamp() / 1000);

	if (!pass->survey || !c->counters.unknown)
		return false;
	pass->unknown++;
	return murmurhash32(c->key.relid ^ survey) % (1 + unknown_before / UNKNOWN_LIMIT) == 0;
}

/* Looks at one row of pg_class, if it is a table with statistics. */
static void
read_row(ReadPass *pass, HeapTuple tuple, TupleDesc desc)
{
	Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);
	OtherOptions others;
	AutoVacOpts *opts;
	const TableSettings *own = table_settings_find(pass->settings, form);
	Candidate  *c;

	if (!is_table(form->relkind) || (pass->catalogs_only && !rules_is_catalog(form->oid)))
		return;

	c = palloc0(sizeof(Candidate));
	c->rules.settings_of = form->oid;
	opts = read_options(tuple, desc, &others);
	if (OidIsValid(form->reltoastrelid))
		note_toast_owner(pass, form, opts, own);
	if (form->relkind == RELKIND_TOASTVALUE)
	{
		ToastOwner *owner = hash_search(pass->toast_owners, &form->oid, HASH_FIND, NULL);

		/* made since the first pass: what its table says is not known yet */
		if (owner == NULL)
			return;
		opts = opts ? opts : owner->opts;
		own = owner->own;
		c->rules.settings_of = owner->relid;
	}
	c->rules.own = own;
	fill(c, form, opts, &others);
	if (!count(c) && !has_its_turn(pass, c))
		return;
	candidate_weigh(c, &pass->w);
	if (pass->visit == NULL || pass->visit(c, form, pass->arg))
		keep(pass, c);
}

static void
read_pass(ReadPass *pass, Relation rel)
{
	MemoryContext table = AllocSetContextCreate(CurrentMemoryContext, "sweep table", ALLOCSET_SMALL_SIZES);
	TableScanDesc scan = table_beginscan_catalog(rel, 0, NULL);
	HeapTuple	tuple;

	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);
		MemoryContext caller;

		CHECK_FOR_INTERRUPTS();
		if ((form->relkind == RELKIND_TOASTVALUE) != pass->toast)
			continue;
		caller = MemoryContextSwitchTo(table);
		read_row(pass, tuple, RelationGetDescr(rel));
		MemoryContextSwitchTo(caller);
		MemoryContextReset(table);
	}
	table_endscan(scan);
	MemoryContextDelete(table);
}

static List *
collect(bool catalogs_only, bool survey, CandidateVisitor visit, void *arg)
{
	ReadPass	pass = {.catalogs_only = catalogs_only,.survey = survey,.visit = visit,.arg = arg,.context = CurrentMemoryContext};
	Relation	rel;

	/* there may be a million, so the context must not round sizes up */
	pass.kept = SlabContextCreate(CurrentMemoryContext, "sweep candidates",
								  CANDIDATES_BLOCK, sizeof(Candidate));
	pass.toast_owners = create_toast_owners();
	pass.settings = table_settings_read();	/* candidates point into it */
	weighing_begin(&pass.w);
	rel = table_open(RelationRelationId, AccessShareLock);

	/* tables come before their TOAST tables, which inherit their options */
	pass.toast = false;
	read_pass(&pass, rel);
	pass.toast = true;
	read_pass(&pass, rel);

	table_close(rel, AccessShareLock);
	hash_destroy(pass.toast_owners);
	if (survey)
		unknown_before = pass.unknown;
	return pass.list;
}

List *
candidates_collect(bool catalogs_only, CandidateVisitor visit, void *arg)
{
	return collect(catalogs_only, false, visit, arg);
}

List *
candidates_read(bool catalogs_only, CandidateVisitor visit, void *arg)
{
	MemoryContext context = CurrentMemoryContext;
	List	   *list;

	StartTransactionCommand();
	MemoryContextSwitchTo(context);
	list = collect(catalogs_only, !catalogs_only, visit, arg);
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
	return list;
}

/* Finds what a TOAST table takes from its table.  rel is pg_class. */
static void
inherit(Candidate *c, Relation rel, const char *relname)
{
	HeapTuple	tuple = toast_owner_find(c->key.relid, relname);
	OtherOptions others;

	if (tuple == NULL)
		return;
	c->rules.settings_of = ((Form_pg_class) GETSTRUCT(tuple))->oid;
	c->rules.opts = read_options(tuple, RelationGetDescr(rel), &others);
	ReleaseSysCache(tuple);
}

/*
 * Reads one table by its OID, without a pass over pg_class.  NULL if there is
 * none, or it has no statistics.
 */
static Candidate *
read_one(DecisionKey key, Relation rel, DatabaseSettings *settings)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(key.relid));
	Form_pg_class form;
	Candidate  *c = NULL;
	OtherOptions others;
	AutoVacOpts *opts;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	form = (Form_pg_class) GETSTRUCT(tuple);
	if (form->relisshared == (key.dboid == InvalidOid) &&
		(form->relkind == RELKIND_RELATION || form->relkind == RELKIND_MATVIEW ||
		 form->relkind == RELKIND_TOASTVALUE))
	{
		c = palloc0(sizeof(Candidate));
		c->key = key;
		c->rules.settings_of = key.relid;
		if (form->relkind == RELKIND_TOASTVALUE)
			inherit(c, rel, NameStr(form->relname));
		c->rules.own = table_settings_by_oid(settings, c->rules.settings_of);
		opts = read_options(tuple, RelationGetDescr(rel), &others);
		fill(c, form, opts ? opts : c->rules.opts, &others);
		if (!count(c) && !c->counters.unknown)
			c = NULL;
	}
	ReleaseSysCache(tuple);
	return c;
}

List *
candidates_collect_named(const DecisionKey *keys, int n)
{
	List	   *list = NIL;
	DatabaseSettings *settings = table_settings_read(); /* candidates point into
														 * it */
	Relation	rel = table_open(RelationRelationId, AccessShareLock);
	Weighing	w;
	ListCell   *lc;

	for (int i = 0; i < n; i++)
	{
		Candidate  *c = read_one(keys[i], rel, settings);

		CHECK_FOR_INTERRUPTS();
		if (c != NULL)
			list = lappend(list, c);
	}
	table_close(rel, AccessShareLock);
	weighing_begin(&w);
	foreach(lc, list)
		candidate_weigh(lfirst(lc), &w);
	return list;
}

List *
candidates_named(const DecisionKey *keys, int n)
{
	MemoryContext context = CurrentMemoryContext;
	List	   *list;

	StartTransactionCommand();
	MemoryContextSwitchTo(context);
	list = candidates_collect_named(keys, n);
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
	return list;
}

/*
 * Reads the table's own settings again, because somebody may have changed
 * them.
 */
static void
read_own_again(Candidate *c)
{
	DatabaseSettings *settings = table_settings_read();
	const TableSettings *own = table_settings_by_oid(settings, c->rules.settings_of);

	c->rules.own = NULL;
	if (own != NULL)
	{
		TableSettings *copy = palloc(sizeof(TableSettings));

		*copy = *own;
		c->rules.own = copy;
	}
	table_settings_free(settings);
}

/*
 * Reads the table's row again.  Returns false when the table is gone.  The
 * options that a TOAST table inherits stay as they were read at first.
 */
static bool
read_again(Candidate *c, bool first)
{
	MemoryContext context = CurrentMemoryContext;
	Relation	rel;
	HeapTuple	tuple;
	bool		found;
	Weighing	w;

	StartTransactionCommand();
	MemoryContextSwitchTo(context);
	rel = table_open(RelationRelationId, AccessShareLock);
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(c->key.relid));
	found = HeapTupleIsValid(tuple);
	if (found)
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);
		OtherOptions others;
		AutoVacOpts *opts = read_options(tuple, RelationGetDescr(rel), &others);

		if (first && form->relkind == RELKIND_TOASTVALUE)
			inherit(c, rel, NameStr(form->relname));
		if (opts == NULL && form->relkind == RELKIND_TOASTVALUE)
			opts = c->rules.opts;
		read_own_again(c);
		fill(c, form, opts, &others);
		ReleaseSysCache(tuple);
	}
	table_close(rel, AccessShareLock);
	if (found)
	{
		(void) count(c);
		weighing_begin(&w);
		candidate_weigh(c, &w);
	}
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
	return found;
}

bool
candidate_refresh(Candidate *c)
{
	return candidate_is_there(c) && (c->counters.counted || c->weight.age_due);
}

bool
candidate_is_there(Candidate *c)
{
	return read_again(c, false);
}

Candidate *
candidate_find(Oid relid)
{
	Candidate  *c = palloc0(sizeof(Candidate));

	c->key.relid = relid;
	c->rules.settings_of = relid;
	return read_again(c, true) ? c : NULL;
}
