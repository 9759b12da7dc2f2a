-- What keeps dead rows from being removed. A standby knows for how long it has needed them,
-- this server does not. Lazy vacuums hold nothing back, parallel workers
-- hold what their leader holds, and a slot that has been invalidated holds nothing any more.
-- The functions under core's views are asked, because to plan the views takes most of the time.
WITH activity AS MATERIALIZED (
    SELECT s.*, d.datname::text AS datname, pg_get_userbyid(s.usesysid)::text AS usename
    FROM pg_stat_get_activity(NULL) s LEFT JOIN pg_database d ON d.oid = s.datid
), slots AS MATERIALIZED (
    SELECT * FROM pg_get_replication_slots()
)
SELECT 'backend' AS source, a.pid, a.datname, a.usename,
       nullif(a.application_name, '') AS name, a.state, a.backend_type,
       CASE WHEN EXISTS (SELECT FROM pg_stat_get_progress_info('CREATE INDEX') p WHERE p.pid = a.pid)
            THEN 'create index'
            WHEN EXISTS (SELECT FROM pg_stat_get_progress_info('ANALYZE') p WHERE p.pid = a.pid)
            THEN 'analyze'
            WHEN EXISTS (SELECT FROM pg_stat_get_progress_info('CLUSTER') p WHERE p.pid = a.pid) -- before 19
            WHEN EXISTS (SELECT FROM pg_stat_get_progress_info('REPACK') p WHERE p.pid = a.pid) -- from 19
            THEN 'rewrite' END AS doing,
       NULL::text AS slot_type, NULL::bool AS active,
       CASE WHEN age(a.backend_xmin) >= age(a.backend_xid) OR a.backend_xid IS NULL
            THEN a.backend_xmin ELSE a.backend_xid END::text::int8 AS xmin,
       greatest(age(a.backend_xmin), age(a.backend_xid)) AS xid_age,
       a.backend_xid::text::int8 AS xid,
       NULL::int4 AS catalog_xid_age, a.xact_start AS since, a.query,
       b.pid AS behind, b.query AS behind_query
FROM activity a LEFT JOIN LATERAL (
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
WHERE (a.backend_xmin IS NOT NULL OR a.backend_xid IS NOT NULL)
  AND a.pid <> pg_backend_pid()
  AND a.backend_type IS DISTINCT FROM 'walsender'
  AND a.leader_pid IS NULL
  AND NOT EXISTS (SELECT FROM pg_stat_get_progress_info('VACUUM') v WHERE v.pid = a.pid)
UNION ALL
SELECT 'prepared', NULL, d.datname::text, pg_get_userbyid(p.ownerid)::text, p.gid, NULL, NULL, NULL, NULL, NULL,
       p.transaction::text::int8, age(p.transaction), p.transaction::text::int8, NULL, p.prepared, NULL, NULL, NULL
FROM pg_prepared_xact() p LEFT JOIN pg_database d ON d.oid = p.dbid
UNION ALL
SELECT 'slot', s.active_pid, d.datname::text, NULL, s.slot_name::text, NULL, NULL, NULL,
       s.slot_type, s.active, coalesce(s.xmin, s.catalog_xmin)::text::int8, age(s.xmin), NULL, age(s.catalog_xmin),
       NULL::timestamptz, -- before 17
       s.inactive_since, -- from 17
       NULL, NULL, NULL
FROM slots s LEFT JOIN pg_database d ON d.oid = s.datoid
WHERE (s.xmin IS NOT NULL OR s.catalog_xmin IS NOT NULL) AND s.wal_status IS DISTINCT FROM 'lost'
UNION ALL
SELECT CASE WHEN EXISTS (SELECT FROM slots s WHERE s.active_pid = a.pid AND s.slot_type = 'logical')
            THEN 'backend' ELSE 'standby' END,
       a.pid, NULL, a.usename, nullif(a.application_name, ''), w.state, 'walsender', NULL, NULL, NULL,
       a.backend_xmin::text::int8, age(a.backend_xmin), NULL, NULL, NULL, NULL, NULL, NULL
FROM activity a JOIN pg_stat_get_wal_senders() w ON w.pid = a.pid
WHERE a.backend_xmin IS NOT NULL
UNION ALL
SELECT 'setting', NULL, NULL, NULL, 'vacuum_defer_cleanup_age', NULL, NULL, NULL, NULL, NULL, NULL,
       setting::int4, NULL, NULL, NULL, NULL, NULL, NULL
FROM current_setting('vacuum_defer_cleanup_age', true) AS g (setting)
WHERE setting <> '0'
UNION ALL
-- Temporary tables of this database that no vacuum but their own session's can freeze, and that are
-- older than autovacuum lets others become. None is older than the oldest id of the database, which
-- spares nearly always the look at pg_class.
SELECT 'temporary', t.pid, current_database()::text, pg_get_userbyid(coalesce(a.usesysid, t.relowner))::text, t.oid::regclass::text,
       a.state, NULL, NULL, NULL, NULL,
       t.relfrozenxid::text::int8, age(t.relfrozenxid), NULL, NULL, a.backend_start, nullif(a.query, ''), NULL, NULL
FROM (SELECT c.oid, c.relowner, c.relfrozenxid,
             pg_stat_get_backend_pid(substring(n.nspname FROM '^pg_temp_(\d+)$')::int) AS pid -- from 16
             NULL::int AS pid -- before 16
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relpersistence = 't' AND c.relkind IN ('r', 'm')
        AND age(c.relfrozenxid) > current_setting('autovacuum_freeze_max_age')::int
        AND (SELECT age(datfrozenxid) FROM pg_database WHERE datname = current_database())
            > current_setting('autovacuum_freeze_max_age')::int) t
     LEFT JOIN activity a ON a.pid = t.pid
