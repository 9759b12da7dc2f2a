-- Running vacuums of all databases, and autovacuum's workers whatever they do.
SELECT a.pid, a.datname::text AS datname, v.relid, v.phase,
       a.backend_type IS NOT DISTINCT FROM 'autovacuum worker' AS is_worker,
       a.xact_start AS since, a.query
FROM pg_stat_activity a
LEFT JOIN pg_stat_progress_vacuum v ON v.pid = a.pid
WHERE a.backend_type = 'autovacuum worker' OR v.pid IS NOT NULL
ORDER BY a.xact_start, a.pid
