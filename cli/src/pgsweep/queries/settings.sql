-- Times of pg_sweep's settings in seconds, whatever their unit.
SELECT name,
       CASE unit WHEN 'ms' THEN (setting::float8 / 1000)::text
                 WHEN 'min' THEN (setting::float8 * 60)::text
                 WHEN 'h' THEN (setting::float8 * 3600)::text
                 ELSE setting END AS setting
FROM pg_settings
WHERE name IN ('autovacuum', 'log_autovacuum_min_duration', 'max_worker_processes',
               'shared_preload_libraries', 'track_activities', 'track_counts')
   OR name LIKE 'sweep.%'
