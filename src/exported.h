/*
 * exported.h
 *		The linker's names of what pg_sweep_simulate takes from pg_sweep.
 *
 * Libraries share one namespace (see exports.map), so what is visible has the
 * prefix.  A header that declares one of these functions PGDLLEXPORT includes
 * this file first.
 */
#ifndef SWEEP_EXPORTED_H
#define SWEEP_EXPORTED_H

#define archive_read			sweep_archive_read
#define candidate_thresholds	sweep_candidate_thresholds
#define candidates_collect		sweep_candidates_collect
#define clock_now				sweep_clock_now
#define compat_score_weights	sweep_compat_score_weights
#define feature_is_ok			sweep_feature_is_ok
#define lane_of					sweep_lane_of
#define ledger_last				sweep_ledger_last
#define peek					sweep_peek
#define relation_put_names		sweep_relation_put_names
#define row_put					sweep_row_put
#define row_put_float			sweep_row_put_float
#define row_put_interval		sweep_row_put_interval
#define row_put_oid				sweep_row_put_oid
#define row_put_text			sweep_row_put_text
#define row_put_time			sweep_row_put_time
#define row_readable			sweep_row_readable
#define row_store				sweep_row_store
#define rules_inserts_by		sweep_rules_inserts_by
#define rules_min_interval_by	sweep_rules_min_interval_by
#define rules_settings			sweep_rules_settings
#define rules_thresholds_by		sweep_rules_thresholds_by
#define settings_database_scope	sweep_settings_database_scope
#define settings_mode_by_name	sweep_settings_mode_by_name
#define settings_scope_by_name	sweep_settings_scope_by_name
#define standbys_can_conflict	sweep_standbys_can_conflict

#endif							/* SWEEP_EXPORTED_H */
