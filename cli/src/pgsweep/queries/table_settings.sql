SELECT current_database()::text AS datname, s.relid::oid AS relid, n.nspname::text AS schemaname,
       c.relname::text AS relname, s.name, s.value, s.set_by, s.set_at
FROM sweep.table_settings s
LEFT JOIN pg_class c ON c.oid = s.relid::oid
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE %(relid)s::oid IS NULL OR s.relid::oid = %(relid)s::oid
ORDER BY n.nspname, c.relname, s.name
