-- What is set for tables that Citus distributes.
SELECT current_database()::text AS datname, s.relid::oid AS relid, n.nspname::text AS schemaname,
       c.relname::text AS relname, s.name, s.value, s.set_by, s.set_at
FROM sweep.table_settings s
     JOIN pg_dist_partition d ON d.logicalrelid = s.relid
     JOIN pg_class c ON c.oid = s.relid::oid
     JOIN pg_namespace n ON n.oid = c.relnamespace
ORDER BY n.nspname, c.relname, s.name
