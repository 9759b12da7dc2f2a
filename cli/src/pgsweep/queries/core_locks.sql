-- Locks on this database's tables that conflict with VACUUM's own, and who holds them. Those who wait
-- for any lock on a table are there as well, with the vacuum that they wait for.
SELECT l.relation AS relid, l.pid, l.mode, x.gid, a.usename::text AS usename,
       nullif(a.application_name, '') AS application_name, a.backend_type, a.state,
       coalesce(a.xact_start, x.prepared) AS since, a.query, l.granted,
       b.pid AS behind, b.relid AS behind_relid, b.query AS behind_query
FROM pg_locks l
LEFT JOIN pg_stat_activity a ON a.pid = l.pid
LEFT JOIN pg_prepared_xacts x ON l.pid IS NULL AND l.virtualtransaction = '-1/' || x.transaction::text
LEFT JOIN LATERAL (
    -- The vacuum that it waits for, itself or behind others who do. None if that waits as well.
    WITH RECURSIVE ahead AS (
        SELECT b.pid FROM unnest(pg_blocking_pids(CASE a.wait_event_type WHEN 'Lock' THEN a.pid END)) AS b (pid)
        UNION
        SELECT b.pid FROM ahead CROSS JOIN LATERAL unnest(pg_blocking_pids(ahead.pid)) AS b (pid))
    SELECT v.pid, v.relid, s.query
    FROM ahead JOIN pg_stat_get_progress_info('VACUUM') v ON v.pid = ahead.pid
         LEFT JOIN LATERAL pg_stat_get_activity(v.pid) s ON true
    WHERE cardinality(pg_blocking_pids(v.pid)) = 0
    LIMIT 1) b ON true
WHERE l.locktype = 'relation'
  AND l.database IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
  AND (NOT l.granted
       OR l.mode IN ('ShareUpdateExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock',
                     'ExclusiveLock', 'AccessExclusiveLock'))
  AND l.pid IS DISTINCT FROM pg_backend_pid()
  AND (%(relid)s::oid IS NULL OR l.relation = %(relid)s
       OR l.relation = (SELECT reltoastrelid FROM pg_class WHERE oid = %(relid)s))
ORDER BY l.relation, l.pid
LIMIT 1000
