-- What keeps dead rows from being removed. A standby knows for how long it has needed them,
-- this server does not. Lazy vacuums hold nothing back, parallel workers
-- hold what their leader holds, and a slot that has been invalidated holds nothing any more.
SELECT 'backend' AS source, a.pid, a.datname::text AS datname, a.usename::text AS usename,
       nullif(a.application_name, '') AS name, a.state, a.backend_type,
       CASE WHEN EXISTS (SELECT FROM pg_stat_progress_create_index p WHERE p.pid = a.pid)
            THEN 'create index'
            WHEN EXISTS (SELECT FROM pg_stat_progress_analyze p WHERE p.pid = a.pid)
            THEN 'analyze'
            WHEN EXISTS (SELECT FROM pg_stat_progress_cluster p WHERE p.pid = a.pid)
            THEN 'rewrite' END AS doing,
       NULL::text AS slot_type, NULL::bool AS active,
       CASE WHEN age(a.backend_xmin) >= age(a.backend_xid) OR a.backend_xid IS NULL
            THEN a.backend_xmin ELSE a.backend_xid END::text::int8 AS xmin,
       greatest(age(a.backend_xmin), age(a.backend_xid)) AS xid_age,
       a.backend_xid::text::int8 AS xid,
       NULL::int4 AS catalog_xid_age, a.xact_start AS since, a.query
FROM pg_stat_activity a
WHERE (a.backend_xmin IS NOT NULL OR a.backend_xid IS NOT NULL)
  AND a.pid <> pg_backend_pid()
  AND a.backend_type IS DISTINCT FROM 'walsender'
  AND a.leader_pid IS NULL
  AND NOT EXISTS (SELECT FROM pg_stat_progress_vacuum v WHERE v.pid = a.pid)
UNION ALL
SELECT 'prepared', NULL, database::text, owner::text, gid, NULL, NULL, NULL, NULL, NULL,
       transaction::text::int8, age(transaction), transaction::text::int8, NULL, prepared, NULL
FROM pg_prepared_xacts
UNION ALL
SELECT 'slot', active_pid, database::text, NULL, slot_name::text, NULL, NULL, NULL,
       slot_type, active, coalesce(xmin, catalog_xmin)::text::int8, age(xmin), NULL, age(catalog_xmin),
       NULL::timestamptz, -- before 17
       inactive_since, -- from 17
       NULL
FROM pg_replication_slots
WHERE (xmin IS NOT NULL OR catalog_xmin IS NOT NULL) AND wal_status IS DISTINCT FROM 'lost'
UNION ALL
SELECT CASE WHEN EXISTS (SELECT FROM pg_replication_slots s
                         WHERE s.active_pid = r.pid AND s.slot_type = 'logical')
            THEN 'backend' ELSE 'standby' END,
       pid, NULL, usename::text, nullif(application_name, ''), state, 'walsender', NULL, NULL, NULL,
       backend_xmin::text::int8, age(backend_xmin), NULL, NULL, NULL, NULL
FROM pg_stat_replication r
WHERE backend_xmin IS NOT NULL
UNION ALL
SELECT 'setting', NULL, NULL, NULL, name, NULL, NULL, NULL, NULL, NULL, NULL, setting::int4, NULL, NULL, NULL, NULL
FROM pg_settings
WHERE name = 'vacuum_defer_cleanup_age' AND setting <> '0'
