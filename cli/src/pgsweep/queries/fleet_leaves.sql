-- The partitions of a table that have rows. A table that is not partitioned has none.
SELECT current_database()::text AS datname, c.oid AS relid, n.nspname::text AS schemaname,
       c.relname::text AS relname
FROM pg_partition_tree(%(relid)s::oid::regclass) t
     JOIN pg_class c ON c.oid = t.relid
     JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE t.isleaf AND c.relkind IN ('r', 'm')
ORDER BY n.nspname, c.relname
