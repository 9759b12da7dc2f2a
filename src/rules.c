/*
 * rules.c
 *		The thresholds that hold for tables without any of their own.
 */
#include "rules.h"

#include "catalog/catalog.h"
#include "catalog/pg_largeobject.h"
#include "postmaster/autovacuum.h"
#include "storage/bufmgr.h"

#include "policy/min_interval.h"
#include "server/compat.h"
#include "server/standbys.h"
#include "settings.h"

bool
rules_is_catalog(Oid relid)
{
	return IsCatalogRelationOid(relid) && relid != LargeObjectRelationId;
}

RuleSettings
rules_settings(void)
{
	RuleSettings s = {
		.vacuum_threshold = sweep_vacuum_threshold,
		.vacuum_scale_factor = sweep_vacuum_scale_factor,
		.catalog_threshold = sweep_catalog_threshold,
		.catalog_scale_factor = sweep_catalog_scale_factor,
		.insert_cache_fraction = sweep_insert_cache_fraction,
		.min_interval_s = sweep_min_interval_s,
		.autovacuum = AutoVacuumingActive(),
		.autovacuum_naptime_s = autovacuum_naptime,
		.autovacuum_threshold = autovacuum_vac_thresh,
		.autovacuum_scale_factor = autovacuum_vac_scale,
		.autovacuum_max_threshold = compat_vacuum_max_threshold(NULL),
		.autovacuum_insert_threshold = autovacuum_vac_ins_thresh,
		.autovacuum_insert_scale_factor = autovacuum_vac_ins_scale,
		.autovacuum_analyze_threshold = autovacuum_anl_thresh,
		.autovacuum_analyze_scale_factor = autovacuum_anl_scale,
	};

	return s;
}

ThresholdSettings
rules_thresholds_by(const RuleSettings *s, bool catalog)
{
	ThresholdSettings t;

	t.vacuum_base = s->vacuum_threshold >= 0 ? s->vacuum_threshold : s->autovacuum_threshold;
	t.vacuum_scale = s->vacuum_scale_factor >= 0 ? s->vacuum_scale_factor : s->autovacuum_scale_factor;
	t.vacuum_max = s->autovacuum_max_threshold;
	t.insert_base = s->autovacuum_insert_threshold;
	t.insert_scale = s->autovacuum_insert_scale_factor;
	t.analyze_base = s->autovacuum_analyze_threshold;
	t.analyze_scale = s->autovacuum_analyze_scale_factor;

	/*
	 * Catalogs are small, and every query needs them.  So for these core's
	 * thresholds count whether core comes or not.
	 */
	t.core_counts = catalog || s->autovacuum;
	t.core_vacuum_base = s->autovacuum_threshold;
	t.core_vacuum_scale = s->autovacuum_scale_factor;
	t.core_insert_base = s->autovacuum_insert_threshold;
	t.core_insert_scale = s->autovacuum_insert_scale_factor;
	if (catalog && !standbys_can_conflict())
	{
		t.vacuum_base = s->catalog_threshold;
		t.vacuum_scale = s->catalog_scale_factor;
	}
	return t;
}

ThresholdSettings
rules_thresholds(bool catalog)
{
	RuleSettings s = rules_settings();

	return rules_thresholds_by(&s, catalog);
}

InsertSettings
rules_inserts_by(const RuleSettings *s, const ThresholdSettings *settings)
{
	InsertSettings inserts;

	inserts.base = settings->insert_base;
	inserts.scale = settings->insert_scale;
	inserts.cache_fraction = s->insert_cache_fraction;
	inserts.buffers = NBuffers;
	inserts.page_bytes = BLCKSZ;
	return inserts;
}

InsertSettings
rules_inserts(const ThresholdSettings *settings)
{
	RuleSettings s = rules_settings();

	return rules_inserts_by(&s, settings);
}

double
rules_min_interval_by(const RuleSettings *s, bool catalog)
{
	IntervalSettings interval = {
		.tables = s->min_interval_s < 0 ? LONGEST_MIN_INTERVAL_S : s->min_interval_s,
		.catalogs = CATALOG_MIN_INTERVAL_S,
		.core_counts = s->autovacuum,
		.core_naptime = s->autovacuum_naptime_s,
	};

	return min_interval_s(&interval, catalog);
}

bool
rules_worth_a_look(const ThresholdSettings *settings, int64 live, int64 ins)
{
	InsertSettings insert = rules_inserts(settings);
	double		least = insert_look_at(&insert, (double) live);

	return least >= 0 && (double) ins > least && !standbys_can_conflict();
}
