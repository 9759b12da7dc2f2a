-- Whether there is anything to ask where the extension is not. The first statement says whether the
-- role sees it all. The next three have rows while vacuums run, and the others while somebody may
-- hold a horizon of an age that is not 0. To look at all of them costs ten times as much. Statements
-- of their own cost a new session less than one with EXISTS.
SELECT pg_has_role('pg_read_all_stats', 'USAGE') AS can_read_stats;
SELECT 1 FROM pg_stat_get_progress_info('VACUUM') LIMIT 1;
SELECT 1 FROM pg_stat_get_progress_info('ANALYZE') LIMIT 1;
SELECT 1 FROM pg_stat_get_progress_info('CLUSTER') LIMIT 1; -- before 19
SELECT 1 FROM pg_stat_get_progress_info('REPACK') LIMIT 1; -- from 19
SELECT 1 FROM pg_stat_get_activity(NULL) a
WHERE a.pid <> pg_backend_pid() AND (age(a.backend_xmin) > 0 OR age(a.backend_xid) > 0)
LIMIT 1;
SELECT 1 FROM pg_prepared_xact() LIMIT 1;
SELECT 1 FROM pg_get_replication_slots() s
WHERE s.xmin IS NOT NULL OR s.catalog_xmin IS NOT NULL
LIMIT 1
-- Before 16 a setting can hold it back as well.
; SELECT 1 WHERE current_setting('vacuum_defer_cleanup_age') <> '0' -- before 16
