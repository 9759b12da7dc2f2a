-- An index by its name: REINDEX CONCURRENTLY gives it another oid.
SELECT c.oid AS relid, c.relpages AS pages
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE i.indrelid = %(table_relid)s AND n.nspname || '.' || c.relname = %(name)s
