-- Whether REPACK (CONCURRENTLY) works here: it decodes WAL by a slot of its own kind.
SELECT count(*) = 2 AS repacks FROM pg_settings
WHERE (name = 'max_repack_replication_slots' AND setting <> '0') OR (name = 'wal_level' AND setting <> 'minimal')
