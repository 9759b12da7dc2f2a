-- Whether there is anything to ask where the extension is not: running vacuums, and holders of the
-- horizon whose age is not 0. To look at all of them costs ten times as much.
SELECT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') AS can_read_stats,
       EXISTS (SELECT FROM pg_stat_get_progress_info('VACUUM'))
       OR EXISTS (SELECT FROM pg_stat_get_progress_info('ANALYZE'))
       OR EXISTS (SELECT FROM pg_stat_get_progress_info('CLUSTER')) AS vacuums -- before 19
       OR EXISTS (SELECT FROM pg_stat_progress_cluster) AS vacuums -- from 19
       ,
       EXISTS (SELECT FROM pg_stat_get_activity(NULL) a
               WHERE a.pid <> pg_backend_pid()
                 AND (age(a.backend_xmin) > 0 OR age(a.backend_xid) > 0))
       OR EXISTS (SELECT FROM pg_prepared_xact())
       OR EXISTS (SELECT FROM pg_get_replication_slots() s
                  WHERE s.xmin IS NOT NULL OR s.catalog_xmin IS NOT NULL)
       OR coalesce(current_setting('vacuum_defer_cleanup_age', true), '0') <> '0' AS holders
