-- What goes on where the extension is not. The first statement says whether the role sees it all. The
-- next three count the vacuums that run, and the others have rows while somebody may hold a horizon
-- of an age that is not 0. Statements of their own cost a new session less than one of subqueries.
SELECT pg_has_role('pg_read_all_stats', 'USAGE') AS can_read_stats;
SELECT count(*)::int4 AS vacuums FROM pg_stat_get_progress_info('VACUUM');
SELECT count(*)::int4 AS vacuums FROM pg_stat_get_progress_info('ANALYZE');
-- VACUUM FULL is one of these, by the definition of pg_stat_progress_cluster.
SELECT count(*)::int4 AS vacuums FROM pg_stat_get_progress_info('CLUSTER') WHERE param1 = 2; -- before 19
SELECT count(*)::int4 AS vacuums FROM pg_stat_get_progress_info('REPACK') -- from 19
WHERE param1 = 3 OR (param1 = 2 AND param3 = 0); -- from 19
SELECT 1 FROM pg_stat_get_activity(NULL) a
WHERE a.pid <> pg_backend_pid() AND (age(a.backend_xmin) > 0 OR age(a.backend_xid) > 0)
LIMIT 1;
SELECT 1 FROM pg_prepared_xact() LIMIT 1;
SELECT 1 FROM pg_get_replication_slots() s
WHERE s.xmin IS NOT NULL OR s.catalog_xmin IS NOT NULL
LIMIT 1
-- Before 16 a setting can hold it back as well.
; SELECT 1 WHERE current_setting('vacuum_defer_cleanup_age') <> '0' -- before 16
