-- What core's views say of the whole cluster, in one row.
SELECT current_setting('server_version') AS version,
       pg_is_in_recovery() AS in_recovery,
       pg_postmaster_start_time() AS started_at,
       clock_timestamp() AS now,
       current_database()::text AS dbname,
       current_setting('block_size')::int4 AS block_size,
       current_setting('autovacuum')::bool AS autovacuum,
       current_setting('autovacuum_freeze_max_age')::int8 AS freeze_max_age,
       current_setting('autovacuum_multixact_freeze_max_age')::int8 AS multixact_freeze_max_age,
       pg_snapshot_xmax(pg_current_snapshot())::text::int8 AS next_xid,
       pg_has_role('pg_read_all_stats', 'USAGE') AS sees_everything,
       current_setting('archive_mode') <> 'off' AS archiving,
       a.archived_count, a.failed_count, a.last_archived_time, a.last_failed_time
FROM pg_stat_archiver a
