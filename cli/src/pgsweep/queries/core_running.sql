-- Running vacuums and analyzes of all databases, and the parallel workers that help them. Names are
-- known of this database's tables only. VACUUM FULL shares its view with CLUSTER.
WITH doing AS (
    SELECT pid, datid, relid, 'VACUUM' AS command, phase,
           CASE phase WHEN 'scanning heap' THEN heap_blks_scanned
                      WHEN 'vacuuming heap' THEN heap_blks_vacuumed
                      WHEN 'vacuuming indexes' THEN indexes_processed -- from 17
                      WHEN 'cleaning up indexes' THEN indexes_processed -- from 17
                      END AS done,
           CASE WHEN phase LIKE '%heap' THEN heap_blks_total
                WHEN phase LIKE '%indexes' THEN indexes_total -- from 17
                END AS total,
           heap_blks_total AS pages, index_vacuum_count + (phase = 'vacuuming indexes')::int AS index_pass
    FROM pg_stat_progress_vacuum
    UNION ALL
    SELECT pid, datid, relid, 'ANALYZE', phase,
           CASE WHEN phase LIKE 'acquiring%' THEN sample_blks_scanned END, sample_blks_total, NULL, NULL
    FROM pg_stat_progress_analyze
    UNION ALL
    SELECT pid, datid, relid, command, phase,
           CASE WHEN phase LIKE '%scanning heap' THEN heap_blks_scanned END, heap_blks_total, heap_blks_total, NULL
    FROM pg_stat_progress_cluster
    WHERE command = 'VACUUM FULL')
SELECT a.pid, a.leader_pid, d.datid, b.datname::text AS datname, d.relid, n.nspname::text AS schemaname,
       c.relname::text AS relname, d.command, a.backend_type, d.phase, d.done, d.total, d.pages,
       d.index_pass::int8 AS index_pass, coalesce(a.xact_start, a.query_start) AS started_at,
       a.wait_event_type, a.wait_event, a.query,
       (SELECT count(*) FROM pg_stat_activity w WHERE w.leader_pid = a.pid)::int4 AS parallel_workers,
       (SELECT count(*) FROM pg_locks l
        WHERE NOT l.granted AND l.locktype = 'relation' AND l.database = d.datid
          AND l.relation = d.relid AND l.pid <> a.pid)::int4 AS waiters,
       -- a prepared transaction has no pid
       CASE WHEN a.wait_event_type = 'Lock' THEN (
           SELECT string_agg(coalesce('pid ' || nullif(h.pid, 0), 'a prepared transaction'), ', ')
           FROM unnest(pg_blocking_pids(a.pid)) AS h (pid)) END AS waits_for
FROM doing d
JOIN pg_stat_activity a ON a.pid = d.pid OR a.leader_pid = d.pid
LEFT JOIN pg_database b ON b.oid = d.datid
LEFT JOIN pg_class c ON c.oid = d.relid AND b.datname = current_database()
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
ORDER BY a.xact_start, a.pid
