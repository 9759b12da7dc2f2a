-- A table, or an index by its name: REINDEX CONCURRENTLY gives it another oid.
SELECT c.oid AS relid, c.relpages + coalesce(t.relpages, 0) AS pages
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_index i ON i.indexrelid = c.oid
     LEFT JOIN pg_class t ON t.oid = c.reltoastrelid
WHERE coalesce(i.indrelid, c.oid) = %(table_relid)s AND n.nspname || '.' || c.relname = %(name)s
