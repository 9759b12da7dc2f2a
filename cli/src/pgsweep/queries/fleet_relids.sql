-- The tables of these names that are here.
SELECT current_database()::text AS datname, c.oid AS relid, n.nspname::text AS schemaname,
       c.relname::text AS relname
FROM unnest(%(schemas)s::text[], %(names)s::text[]) AS w (schemaname, relname)
     JOIN pg_namespace n ON n.nspname = w.schemaname
     JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = w.relname
WHERE c.relkind IN ('r', 'm')
ORDER BY n.nspname, c.relname
