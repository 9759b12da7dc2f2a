-- What any server says of itself, in one row: which version of the extension is here, and its oldest
-- database as well.
SELECT current_setting('server_version') AS version,
       pg_is_in_recovery() AS in_recovery,
       pg_postmaster_start_time() AS started_at,
       clock_timestamp() AS now,
       current_database() AS dbname,
       current_user::text AS role,
       current_setting('autovacuum_freeze_max_age')::int8 AS freeze_max_age,
       current_setting('autovacuum')::bool AS autovacuum,
       (SELECT extversion FROM pg_extension WHERE extname = 'pg_sweep') AS extension,
       d.oid AS datid, d.datname::text AS datname, age(d.datfrozenxid) AS xid_age,
       mxid_age(d.datminmxid) AS mxid_age
FROM pg_database d
ORDER BY age(d.datfrozenxid) DESC
LIMIT 1
