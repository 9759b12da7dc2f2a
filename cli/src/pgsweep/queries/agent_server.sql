-- Whether something may be begun at this time. Users who wait for I/O show that the device has no room.
SELECT pg_is_in_recovery() AS in_recovery,
       (SELECT count(*) FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND state = 'active' AND wait_event_type = 'IO'
          AND pid <> pg_backend_pid()) AS waiting_for_io,
       (SELECT count(*) FROM pg_stat_replication) AS standbys,
       -- Only of a library that is loaded: what an owner of a database makes up is not shown there.
       EXISTS (SELECT FROM pg_settings WHERE name = 'sweep.mode' AND setting = 'act') AS daemon_acts
