-- The partitioned table above each partition that has rows.
SELECT c.oid AS relid, n.nspname::text AS schemaname, r.relname::text AS relname
FROM pg_class c
     JOIN pg_class r ON r.oid = pg_partition_root(c.oid)
     JOIN pg_namespace n ON n.oid = r.relnamespace
WHERE c.relispartition AND c.relkind = 'r'
