-- In the settings' own units; what this server does not have is not there.
SELECT name, setting
FROM pg_settings
WHERE name LIKE 'autovacuum%' OR name LIKE 'vacuum\_cost\_%'
   OR name IN ('server_version_num', 'track_activities', 'track_counts', 'block_size', 'vacuum_failsafe_age',
               'vacuum_multixact_failsafe_age', 'wal_level', 'max_worker_processes')
