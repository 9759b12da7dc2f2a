/*
 * insert_rules.c
 *		What the rules for inserted rows (policy/insert) say of one table.
 *
 * Runs in a worker, and in the backends of views.  It reads the candidate.
 * The map is counted by weigh.c.
 */
#include "worker/insert_rules.h"

#include "rules.h"
#include "server/standbys.h"

/*
 * VACUUM takes pages that it never read for empty: those of COPY (FREEZE), as
 * long as nobody has analyzed the table.  Then the counters know more.
 */
double
insert_rules_rows(const Candidate *c)
{
	double		counted = (double) (c->counters.inserted - c->counters.changed - c->counters.ins);

	if (c->row.reltuples > 0)
		return Max(c->row.reltuples, counted);
	return (double) (c->counters.live > 0 ? Max(c->counters.live, counted) : c->counters.inserted);
}

/*
 * Do pg_sweep's own rules apply?  Not to a table whose pages were never
 * counted: rows do not say how many pages there are, and core comes soon.
 * Not where standbys can conflict either, because pages that become
 * all-visible early cancel queries there.
 */
bool
insert_rules_hold(const Candidate *c)
{
	return c->row.lane != LANE_CATALOG && !c->row.temporary && c->weight.core_insert >= 0 &&
		insert_rules_rows(c) > 0 && c->row.pages > 0 && !standbys_can_conflict();
}

InsertSettings
insert_rules_settings(const Candidate *c)
{
	InsertSettings settings = rules_inserts(&c->rules.settings);

	settings.cache_fraction = table_setting(c->rules.own, TABLE_INSERT_CACHE_FRACTION, settings.cache_fraction);
	return settings;
}

/* Applies the rules to that many pages, of which so many are frozen. */
InsertThresholds
insert_rules_apply(const Candidate *c, int64 pages, int64 frozen_pages, InsertTable *table)
{
	InsertSettings settings = insert_rules_settings(c);

	table->reltuples = insert_rules_rows(c);
	table->rows_per_page = c->weight.rows_per_page;
	table->core = c->weight.core_insert;
	table->costly = c->memory.costly;
	table->old_read = (double) c->memory.old_read;
	table->pages = pages;
	table->frozen_pages = frozen_pages;
	return insert_thresholds(&settings, table);
}

void
insert_rules_take(Candidate *c, const InsertThresholds *t)
{
	c->weight.thresholds.insert = t->due;
	c->weight.ins_early = t->early;
	c->weight.ins_follow = t->follow;
}

void
insert_rules_take_again(Candidate *c)
{
	InsertTable table;
	InsertThresholds t;

	if (!insert_rules_hold(c))
		return;
	t = insert_rules_apply(c, c->memory.pages, c->memory.frozen_pages, &table);
	insert_rules_take(c, &t);
}
