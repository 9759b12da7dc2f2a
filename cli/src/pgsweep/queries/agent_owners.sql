-- The owners of this database's tables and indexes that are no system's.
SELECT DISTINCT pg_get_userbyid(c.relowner)::text AS owner
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'm', 'p') AND c.relpersistence <> 't'
  AND n.nspname NOT IN ('pg_catalog', 'information_schema')
  AND NOT (SELECT rolsuper FROM pg_roles WHERE oid = c.relowner)
ORDER BY 1
