-- What keeps dead rows from being removed, by the age of what it still needs. Lazy vacuums
-- hold nothing back; what a walsender shows is its standby's feedback.
SELECT *
FROM (SELECT 'transaction' AS kind, nullif(a.application_name, '') AS name, a.pid,
             a.datname::text AS datname, a.usename::text AS usename, a.state,
             a.xact_start AS since, age(coalesce(a.backend_xmin, a.backend_xid)) AS xid_age,
             NULL::int4 AS catalog_xid_age, NULL::bool AS active
      FROM pg_stat_activity a
      WHERE coalesce(a.backend_xmin, a.backend_xid) IS NOT NULL
        AND a.pid <> pg_backend_pid()
        AND a.backend_type IS DISTINCT FROM 'walsender'
        AND NOT EXISTS (SELECT FROM pg_stat_progress_vacuum v WHERE v.pid = a.pid)
      UNION ALL
      SELECT 'prepared transaction', gid, NULL, database::text, owner::text, NULL, prepared,
             age(transaction), NULL, NULL
      FROM pg_prepared_xacts
      UNION ALL
      SELECT 'replication slot', slot_name::text, active_pid, database::text, NULL,
             slot_type, NULL, age(xmin), age(catalog_xmin), active
      FROM pg_replication_slots
      WHERE xmin IS NOT NULL OR catalog_xmin IS NOT NULL
      UNION ALL
      SELECT 'standby feedback', nullif(application_name, ''), pid, NULL, usename::text, state,
             backend_start, age(backend_xmin), NULL, NULL
      FROM pg_stat_replication
      WHERE backend_xmin IS NOT NULL) AS holder
ORDER BY greatest(xid_age, catalog_xid_age) DESC, since
LIMIT 20
