SELECT since, until, datid, datname, relid, schemaname, relname,
       vacuums, insert_vacuums, first_at, last_at,
       blks_read_min, blks_read_max, blks_dirtied_min, blks_dirtied_max, blks_frozen,
       waiting_since, dead_tuples, autovacuum_threshold, ins_since_vacuum, autovacuum_insert_threshold,
       autovacuums, autovacuum_blks_read, autovacuum_blks_dirtied,
       manual_vacuums, followed, earlier, blks_grown,
       current_setting('block_size')::int AS block_size
FROM sweep.trial
ORDER BY vacuums DESC, autovacuums DESC, datname, schemaname, relname
