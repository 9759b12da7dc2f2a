-- A table, or an index by its name: REINDEX CONCURRENTLY gives it another oid. REPACK leaves nothing in pg_class of how
-- large the TOAST table is.
SELECT c.oid AS relid, (pg_relation_size(c.oid) + coalesce(pg_relation_size(nullif(c.reltoastrelid, 0)), 0))::int8 AS bytes
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_index i ON i.indexrelid = c.oid
WHERE coalesce(i.indrelid, c.oid) = %(table_relid)s AND n.nspname || '.' || c.relname = %(name)s
