SELECT (SELECT default_version::text FROM pg_available_extensions WHERE name = 'pg_sweep') AS available_version,
       (SELECT extversion::text FROM pg_extension WHERE extname = 'pg_sweep') AS installed_version
