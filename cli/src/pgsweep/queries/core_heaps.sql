-- The largest tables of this database, and what ANALYZE knows of their columns.
WITH big AS MATERIALIZED (
    SELECT c.oid, n.nspname, c.relname, c.relpages, c.reltuples, c.reloptions, c.relpersistence, c.relreplident,
           coalesce(t.relpages, 0) AS toast_pages, coalesce(t.reltuples, 0)::float8 AS toast_chunks
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_am m ON m.oid = c.relam AND m.amname = 'heap'
    LEFT JOIN pg_class t ON t.oid = c.reltoastrelid
    WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't'
    ORDER BY c.relpages + coalesce(t.relpages, 0) DESC, c.oid
    LIMIT 1000)
SELECT b.oid AS relid, b.nspname::text AS schemaname, b.relname::text AS relname,
       quote_ident(b.nspname) || '.' || quote_ident(b.relname) AS sql_name,
       b.relpages AS pages, b.reltuples::float8 AS table_rows, b.reloptions,
       b.nspname = 'pg_catalog' AS is_catalog, b.toast_pages, b.toast_chunks,
       (SELECT coalesce(sum(x.relpages), 0)::int4 FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
        WHERE i.indrelid = b.oid) AS index_pages,
       -- the key by which a changed row is found in the copy
       b.relpersistence = 'p' AND EXISTS (
           SELECT FROM pg_index i
           WHERE i.indrelid = b.oid AND i.indisvalid AND i.indimmediate
             AND CASE b.relreplident WHEN 'd' THEN i.indisprimary WHEN 'i' THEN i.indisreplident END) AS is_keyed,
       CASE WHEN b.relpages > %(small)s THEN (SELECT json_agg(json_build_object(
                   'length', CASE WHEN a.attisdropped THEN 0 ELSE a.attlen END, 'align', a.attalign,
                   'notnull', a.attnotnull,
                   'statistics', CASE WHEN a.attisdropped THEN '{"null_frac": 1}'::json ELSE (
                       SELECT json_build_object('width', s.avg_width, 'null_frac', s.null_frac)
                       FROM pg_stats s
                       WHERE s.schemaname = b.nspname AND s.tablename = b.relname
                         AND s.attname = a.attname AND NOT s.inherited) END)
                   ORDER BY a.attnum)
        FROM pg_attribute a
        WHERE a.attrelid = b.oid AND a.attnum > 0) END AS columns
FROM big b
ORDER BY b.relpages + b.toast_pages DESC, b.oid
