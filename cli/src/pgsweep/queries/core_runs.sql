-- The last vacuum and the last analyze of each table of this database, by hand and by autovacuum
-- , the latest first. Statistics keep no more than these.
SELECT c.oid AS relid, n.nspname::text AS schemaname, c.relname::text AS relname, r.command,
       r.started_by, r.ended_at, r.times
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace,
     LATERAL (VALUES
         ('VACUUM', 'manual', pg_stat_get_last_vacuum_time(c.oid), pg_stat_get_vacuum_count(c.oid)),
         ('VACUUM', 'autovacuum', pg_stat_get_last_autovacuum_time(c.oid), pg_stat_get_autovacuum_count(c.oid)),
         ('ANALYZE', 'manual', pg_stat_get_last_analyze_time(c.oid), pg_stat_get_analyze_count(c.oid)),
         ('ANALYZE', 'autovacuum', pg_stat_get_last_autoanalyze_time(c.oid), pg_stat_get_autoanalyze_count(c.oid))
     ) AS r (command, started_by, ended_at, times)
WHERE c.relkind IN ('r', 'm', 't', 'p') AND r.ended_at IS NOT NULL
  AND (%(relid)s::oid IS NULL OR c.oid = %(relid)s::oid)
ORDER BY r.ended_at DESC
LIMIT %(limit)s
