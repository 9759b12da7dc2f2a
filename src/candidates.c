/*
 * candidates.c
 *		The tables of one database, with all that is needed to decide: pg_class,
 *		reloptions, counters, thresholds.
 *
 * Runs in a worker.  AccessShareLock on pg_class only; no table is opened.
 */
#include "candidates.h"

#include "access/genam.h"
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
#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "compat.h"
#include "scout.h"
#include "weigh.h"

#define CANDIDATES_BLOCK	(64 * 1024) /* of memory: a hundred or so */

/* Within this share of the limit a table is core's anti-wraparound work. */
#define WRAPAROUND_NEAR		0.95

/* Of a table that has a TOAST table: what that one inherits. */
typedef struct ToastOwner
{
	Oid			toastrelid;		/* hash key */
	Oid			relid;
	AutoVacOpts *opts;
	const TableSettings *own;
} ToastOwner;

static AutoVacOpts *
read_options(HeapTuple tuple, TupleDesc desc, bool *user_catalog)
{
	bytea	   *options = extractRelOptions(tuple, desc, NULL);
	AutoVacOpts *opts;

	*user_catalog = options != NULL && ((StdRdOptions *) options)->user_catalog_table;
	if (options == NULL)
		return NULL;
	opts = palloc(sizeof(AutoVacOpts));
	memcpy(opts, &((StdRdOptions *) options)->autovacuum, sizeof(AutoVacOpts));
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

/* A table's own value where it has one, as relation_needs_vacanalyze() does. */
static ThresholdSettings
settings_of_table(const AutoVacOpts *opts, const TableSettings *own, Lane lane)
{
	ThresholdSettings s = scout_server_settings(lane == LANE_CATALOG);

	if (opts == NULL)
	{
		apply_own(&s, own);
		return s;
	}
	if (opts->vacuum_threshold >= 0)
		s.vacuum_base = opts->vacuum_threshold;
	if (opts->vacuum_scale_factor >= 0)
		s.vacuum_scale = opts->vacuum_scale_factor;
	if (opts->vacuum_ins_threshold >= -1)
		s.insert_base = opts->vacuum_ins_threshold;
	if (opts->vacuum_ins_scale_factor >= 0)
		s.insert_scale = opts->vacuum_ins_scale_factor;
	s.vacuum_max = compat_vacuum_max_threshold(opts);
	if (opts->analyze_threshold >= 0)
		s.analyze_base = opts->analyze_threshold;
	if (opts->analyze_scale_factor >= 0)
		s.analyze_scale = opts->analyze_scale_factor;
	apply_own(&s, own);
	return s;
}

/*
 * How old its oldest ids are, and the ages at which core vacuums it in any
 * case.  An id that was moved on after we read the next one is of age 0.
 */
static void
fill_ages(Candidate *c, Form_pg_class form, const AutoVacOpts *opts)
{
	c->xid_limit = autovacuum_freeze_max_age;
	c->mxid_limit = MultiXactMemberFreezeThreshold();
	if (opts && opts->freeze_max_age >= 0)
		c->xid_limit = Min(c->xid_limit, opts->freeze_max_age);
	if (opts && opts->multixact_freeze_max_age >= 0)
		c->mxid_limit = Min(c->mxid_limit, opts->multixact_freeze_max_age);

	c->xid_age = c->mxid_age = 0;
	if (TransactionIdIsNormal(form->relfrozenxid))
		c->xid_age = Max((int32) (ReadNextTransactionId() - form->relfrozenxid), 0);
	if (MultiXactIdIsValid(form->relminmxid))
		c->mxid_age = Max((int32) (ReadNextMultiXactId() - form->relminmxid), 0);

	c->wraparound_near = c->xid_age > WRAPAROUND_NEAR * c->xid_limit ||
		c->mxid_age > WRAPAROUND_NEAR * c->mxid_limit;
}

const char *
lane_name(Lane lane)
{
	static const char *const names[] = {"catalog", "aux", "user"};

	return names[lane];
}

static Lane
lane_of(Form_pg_class form, const char *schemaname)
{
	if (IsCatalogRelationOid(form->oid))
		return LANE_CATALOG;
	if (IsToastNamespace(form->relnamespace) || settings_schema_is_aux(schemaname))
		return LANE_AUX;
	return LANE_USER;
}

int64
candidate_min_interval_s(const Candidate *c)
{
	return (int64) table_setting(c->own, TABLE_MIN_INTERVAL,
								 c->lane == LANE_CATALOG ? sweep_catalog_min_interval_s : sweep_min_interval_s);
}

bool
candidate_is_in_scope(const Candidate *c)
{
	return c->lane == LANE_CATALOG || sweep_scope == SCOPE_ALL ||
		(c->lane == LANE_AUX && sweep_scope == SCOPE_CATALOG_AUX);
}

static void
name_schema(Candidate *c, Oid namespace)
{
	char	   *name = get_namespace_name(namespace);

	strlcpy(c->schemaname, name ? name : "", NAMEDATALEN);
	if (name)
		pfree(name);
}

/* What pg_class tells. */
static void
fill(Candidate *c, Form_pg_class form, AutoVacOpts *opts, bool user_catalog)
{
	name_schema(c, form->relnamespace);
	strlcpy(c->relname, NameStr(form->relname), NAMEDATALEN);
	c->key.dboid = form->relisshared ? InvalidOid : MyDatabaseId;
	c->key.relid = form->oid;
	c->lane = lane_of(form, c->schemaname);
	c->relkind = form->relkind;
	c->catalog_horizon = IsCatalogRelationOid(form->oid) || user_catalog;
	c->temporary = form->relpersistence == RELPERSISTENCE_TEMP;
	c->opts = opts;
	c->settings = settings_of_table(opts, c->own, c->lane);
	c->enabled = table_switch(c->own, TABLE_ENABLED, opts == NULL || opts->enabled);
	c->reltuples = form->reltuples;
	c->pages = form->relpages;
	c->frozen_pages = compat_relallfrozen(form);
	fill_ages(c, form, opts);

	/* what core never analyzes */
	if (form->relkind == RELKIND_TOASTVALUE || form->oid == StatisticRelationId)
		c->settings.analyze_base = -1;
}

/*
 * The statistics' counters; false when there are none, nor ever were.  A table
 * that has been vacuumed or analyzed, but whose counters know of neither, has
 * lost them: in a crash, by a promotion or by pg_stat_reset().
 */
static bool
count(Candidate *c)
{
	PgStat_StatTabEntry stats;
	bool		found = scout_read_relation(c->key.dboid, c->key.relid, &stats);

	if (!found)
		memset(&stats, 0, sizeof(stats));
	c->live = compat_tab_live(&stats);
	c->dead = compat_tab_dead(&stats);
	c->ins = compat_tab_ins(&stats);
	c->mod = compat_tab_mod(&stats);
	c->analyzed_at = compat_tab_analyzed(&stats);
	c->autoanalyzed_at = compat_tab_autoanalyzed(&stats);
	c->vacuumed_at = Max(compat_tab_vacuumed_at(&stats), compat_tab_autovacuumed_at(&stats));
	c->inserted = stats.tuples_inserted;
	c->changed = stats.tuples_updated + stats.tuples_deleted;
	c->vacuums = compat_tab_vacuums(&stats);
	c->history_lost = !c->temporary && c->pages > 0 && c->reltuples > 0 &&
		c->vacuums == 0 && compat_tab_analyzes(&stats) == 0 &&
		(double) c->inserted < c->reltuples / 2;
	c->counted = found || c->history_lost;
	return c->counted;
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

/* One pass over pg_class. */
typedef struct ReadPass
{
	bool		toast;			/* TOAST tables, or the others */
	bool		catalogs_only;
	MemoryContext context;		/* of the candidates */
	HTAB	   *toast_owners;	/* filled by the first one */
	HTAB	   *settings;		/* by sweep.set() */
} ReadPass;

/* Reads one pg_class row into the list, if it is a table with statistics. */
static List *
read_row(List *list, HeapTuple tuple, TupleDesc desc, const ReadPass *pass)
{
	Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);
	bool		user_catalog;
	AutoVacOpts *opts;
	Oid			settings_of = form->oid;
	const TableSettings *own = table_settings_find(pass->settings, form->oid);
	Candidate  *c;

	if (pass->catalogs_only && !IsCatalogRelationOid(form->oid))
		return list;
	if (form->relkind != RELKIND_RELATION && form->relkind != RELKIND_MATVIEW &&
		form->relkind != RELKIND_TOASTVALUE)
		return list;

	opts = read_options(tuple, desc, &user_catalog);
	if (OidIsValid(form->reltoastrelid))
	{
		ToastOwner *owner = hash_search(pass->toast_owners, &form->reltoastrelid, HASH_ENTER, NULL);

		owner->relid = form->oid;
		owner->opts = opts;
		owner->own = own;
	}
	if (form->relkind == RELKIND_TOASTVALUE)
	{
		ToastOwner *owner = hash_search(pass->toast_owners, &form->oid, HASH_FIND, NULL);

		if (owner != NULL)
		{
			opts = opts ? opts : owner->opts;
			own = owner->own;
			settings_of = owner->relid;
		}
	}

	c = MemoryContextAllocZero(pass->context, sizeof(Candidate));
	c->own = own;
	c->settings_of = settings_of;
	fill(c, form, opts, user_catalog);
	if (!count(c))
	{
		pfree(c);
		return list;
	}
	return lappend(list, c);
}

static List *
read_pass(List *list, Relation rel, const ReadPass *pass)
{
	TableScanDesc scan = table_beginscan_catalog(rel, 0, NULL);
	HeapTuple	tuple;

	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

		CHECK_FOR_INTERRUPTS();
		if ((form->relkind == RELKIND_TOASTVALUE) == pass->toast)
			list = read_row(list, tuple, RelationGetDescr(rel), pass);
	}
	table_endscan(scan);
	return list;
}

List *
candidates_collect(bool catalogs_only)
{
	List	   *list = NIL;
	ReadPass	pass;
	Relation	rel;
	Weighing	w;
	ListCell   *lc;

	pass.catalogs_only = catalogs_only;

	/* there may be a million: nothing is rounded up here */
	pass.context = SlabContextCreate(CurrentMemoryContext, "sweep candidates",
									 CANDIDATES_BLOCK, sizeof(Candidate));
	pass.toast_owners = create_toast_owners();
	pass.settings = table_settings_read();	/* candidates point into it */
	rel = table_open(RelationRelationId, AccessShareLock);

	/* tables before their TOAST tables, which inherit their options */
	pass.toast = false;
	list = read_pass(list, rel, &pass);
	pass.toast = true;
	list = read_pass(list, rel, &pass);

	table_close(rel, AccessShareLock);
	hash_destroy(pass.toast_owners);

	weighing_begin(&w);
	foreach(lc, list)
	{
		CHECK_FOR_INTERRUPTS();
		candidate_weigh(lfirst(lc), &w);
	}
	return list;
}

List *
candidates_read(bool catalogs_only)
{
	MemoryContext context = CurrentMemoryContext;
	List	   *list;

	StartTransactionCommand();
	MemoryContextSwitchTo(context);
	list = candidates_collect(catalogs_only);
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
	return list;
}

/* What a TOAST table takes from its table. */
static void
find_toast_owner(Candidate *c, Relation rel)
{
	TableScanDesc scan = table_beginscan_catalog(rel, 0, NULL);
	HeapTuple	tuple;

	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);
		bool		user_catalog;

		CHECK_FOR_INTERRUPTS();
		if (form->reltoastrelid != c->key.relid)
			continue;
		c->settings_of = form->oid;
		c->opts = read_options(tuple, RelationGetDescr(rel), &user_catalog);
		break;
	}
	table_endscan(scan);
}

/* Those that somebody may have changed since they were read. */
static void
read_own_again(Candidate *c)
{
	HTAB	   *settings = table_settings_read();
	const TableSettings *own = table_settings_find(settings, c->settings_of);

	c->own = NULL;
	if (own != NULL)
	{
		TableSettings *copy = palloc(sizeof(TableSettings));

		*copy = *own;
		c->own = copy;
	}
	if (settings != NULL)
		hash_destroy(settings);
}

/*
 * Reads the table's row again; false when it is gone.  The options that a TOAST
 * table inherits stay as they were read at first.
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
		bool		user_catalog;
		AutoVacOpts *opts = read_options(tuple, RelationGetDescr(rel), &user_catalog);

		if (first && form->relkind == RELKIND_TOASTVALUE)
			find_toast_owner(c, rel);
		if (opts == NULL && form->relkind == RELKIND_TOASTVALUE)
			opts = c->opts;
		read_own_again(c);
		fill(c, form, opts, user_catalog);
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
	return candidate_is_there(c) && c->counted;
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
	c->settings_of = relid;
	return read_again(c, true) ? c : NULL;
}
