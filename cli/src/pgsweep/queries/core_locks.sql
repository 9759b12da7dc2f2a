-- Locks on this database's tables that conflict with VACUUM's own, and who holds them.
SELECT l.relation AS relid, l.pid, l.mode, x.gid, a.usename::text AS usename,
       nullif(a.application_name, '') AS application_name, a.backend_type, a.state,
       coalesce(a.xact_start, x.prepared) AS since, a.query
FROM pg_locks l
LEFT JOIN pg_stat_activity a ON a.pid = l.pid
LEFT JOIN pg_prepared_xacts x ON l.pid IS NULL AND l.virtualtransaction = '-1/' || x.transaction::text
WHERE l.locktype = 'relation' AND l.granted
  AND l.database IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
  AND l.mode IN ('ShareUpdateExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock',
                 'ExclusiveLock', 'AccessExclusiveLock')
  AND l.pid IS DISTINCT FROM pg_backend_pid()
  AND (%(relid)s::oid IS NULL OR l.relation = %(relid)s
       OR l.relation = (SELECT reltoastrelid FROM pg_class WHERE oid = %(relid)s))
ORDER BY l.relation, l.pid
LIMIT 1000
