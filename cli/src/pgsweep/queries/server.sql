SELECT current_setting('server_version') AS version,
       pg_is_in_recovery() AS in_recovery,
       pg_postmaster_start_time() AS started_at,
       clock_timestamp() AS now,
       current_database() AS dbname,
       current_user::text AS role,
       current_setting('autovacuum_freeze_max_age')::int8 AS freeze_max_age,
       current_setting('autovacuum')::bool AS autovacuum
