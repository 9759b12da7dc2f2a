-- In the settings' own units; what this server does not have is not there.
SELECT name, setting
FROM pg_settings
WHERE name LIKE 'autovacuum%'
   OR name IN ('server_version_num', 'track_activities', 'track_counts', 'vacuum_cost_delay', 'vacuum_cost_limit', 'vacuum_failsafe_age',
               'vacuum_multixact_failsafe_age', 'wal_level', 'max_worker_processes')
