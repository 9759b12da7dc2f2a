SELECT recorded_from, recorded_until, hours, missing_hours, tables, unlearned_tables, changes_left_out_pct,
       xid_age, xids_per_hour, freeze_max_age, freeze_max_age_at, wraparound_at, tables_to_freeze, pages_to_freeze,
       (SELECT mode FROM sweep.status) AS mode, current_setting('block_size')::int AS block_size
FROM sweep.simulate_summary(%(settings)s::text[], %(since)s::interval)
