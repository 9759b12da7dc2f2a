-- All databases that this role may ask about. Each file is looked at.
SELECT coalesce(sum(pg_database_size(oid)), 0)::int8 AS bytes
FROM pg_database
WHERE has_database_privilege(oid, 'CONNECT') OR pg_has_role('pg_read_all_stats', 'USAGE')
