/*
 * rules.c
 *		The thresholds that hold for tables without any of their own.
 */
#include "rules.h"

#include "postmaster/autovacuum.h"
#include "storage/bufmgr.h"

#include "server/compat.h"
#include "server/standbys.h"
#include "settings.h"

ThresholdSettings
rules_thresholds(bool catalog)
{
	ThresholdSettings settings;

	settings.vacuum_base = sweep_vacuum_threshold >= 0 ?
		sweep_vacuum_threshold : autovacuum_vac_thresh;
	settings.vacuum_scale = sweep_vacuum_scale_factor >= 0 ?
		sweep_vacuum_scale_factor : autovacuum_vac_scale;
	settings.vacuum_max = compat_vacuum_max_threshold(NULL);
	settings.insert_base = sweep_insert_threshold >= 0 ?
		sweep_insert_threshold : autovacuum_vac_ins_thresh;
	settings.insert_scale = sweep_insert_scale_factor >= 0 ?
		sweep_insert_scale_factor : autovacuum_vac_ins_scale;
	settings.analyze_base = autovacuum_anl_thresh;
	settings.analyze_scale = autovacuum_anl_scale;

	/*
	 * Catalogs are small, and every query needs them.  So for these core's
	 * thresholds count whether core comes or not.
	 */
	settings.core_counts = catalog || AutoVacuumingActive();
	settings.core_vacuum_base = autovacuum_vac_thresh;
	settings.core_vacuum_scale = autovacuum_vac_scale;
	settings.core_insert_base = autovacuum_vac_ins_thresh;
	settings.core_insert_scale = autovacuum_vac_ins_scale;
	if (catalog && !standbys_can_conflict())
	{
		settings.vacuum_base = sweep_catalog_threshold;
		settings.vacuum_scale = sweep_catalog_scale_factor;
	}
	return settings;
}

InsertSettings
rules_inserts(const ThresholdSettings *settings)
{
	InsertSettings s;

	s.base = settings->insert_base;
	s.scale = settings->insert_scale;
	s.cache_fraction = sweep_insert_cache_fraction;
	s.buffers = NBuffers;
	s.page_bytes = BLCKSZ;
	s.least_bytes = sweep_insert_min_size_kb < 0 ? -1 : sweep_insert_min_size_kb * 1024.0;
	return s;
}

bool
rules_worth_a_look(const ThresholdSettings *settings, int64 live, int64 ins)
{
	InsertSettings insert = rules_inserts(settings);
	double		least = insert_look_at(&insert, (double) live);

	return least >= 0 && (double) ins > least && !standbys_can_conflict();
}
