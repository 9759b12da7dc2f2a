-- The largest indexes of this database, with all invalid ones, and what ANALYZE knows of their columns. Small ones are not
-- worth looking that up.
-- pg_relation_size() would wait for locks: pages are what pg_class remembers.
WITH big AS MATERIALIZED (
    SELECT i.*, n.nspname, c.relname, c.relpages, c.reltuples, c.reloptions, m.amname,
           t.relname AS table_name, tn.nspname AS table_schema, t.reltuples AS table_rows,
           t.relpages AS table_pages
    FROM pg_index i
    JOIN pg_class c ON c.oid = i.indexrelid AND c.relkind = 'i'
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_am m ON m.oid = c.relam
    JOIN pg_class t ON t.oid = i.indrelid
    JOIN pg_namespace tn ON tn.oid = t.relnamespace
    WHERE c.relpersistence <> 't'
    ORDER BY i.indisvalid, c.relpages DESC, c.oid
    LIMIT 1000)
SELECT b.indexrelid AS relid, b.nspname::text AS schemaname, b.relname::text AS relname,
       quote_ident(b.nspname) || '.' || quote_ident(b.relname) AS sql_name,
       b.indrelid AS table_relid, b.table_schema::text AS table_schemaname, b.table_name::text AS table_relname,
       b.amname::text AS method, b.relpages AS pages, b.reltuples::float8 AS entries,
       b.table_rows::float8 AS table_rows, b.table_pages, b.reloptions,
       b.indisunique AS is_unique, b.indisexclusion AS is_exclusion, b.indisvalid AS is_valid,
       b.table_schema = 'pg_catalog' AS is_catalog, b.indpred IS NOT NULL AS is_partial,
       b.indnkeyatts::int4 AS keys,
       (SELECT min(p.pid) FROM pg_stat_progress_create_index p
        WHERE p.datid = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
          -- REINDEX CONCURRENTLY has several of a table at a time, and shows one
          AND (p.index_relid = b.indexrelid OR (p.relid = b.indrelid AND NOT b.indisvalid))) AS built_by,
       CASE WHEN b.relpages > %(small)s THEN (SELECT json_agg(json_build_object(
                   'length', a.attlen, 'align', a.attalign, 'notnull', coalesce(ta.attnotnull, false),
                   'dedup', EXISTS (
                       SELECT FROM pg_opclass o JOIN pg_amproc p ON p.amprocfamily = o.opcfamily
                           AND p.amproclefttype = o.opcintype AND p.amprocrighttype = o.opcintype
                       WHERE o.oid = b.indclass[a.attnum - 1] AND p.amprocnum = 4)
                       AND coalesce((SELECT l.collisdeterministic FROM pg_collation l
                                     WHERE l.oid = b.indcollation[a.attnum - 1]), true),
                   -- a subquery, so that it is looked up by its names
                   'statistics', (
                       SELECT json_build_object(
                           'width', s.avg_width, 'null_frac', s.null_frac,
                           'n_distinct', s.n_distinct, 'freqs', s.most_common_freqs,
                           'lengths', CASE WHEN coalesce(ta.atttypid, a.atttypid) IN
                               ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype, 'name'::regtype)
                               THEN (SELECT array_agg(octet_length(v))
                                     FROM unnest(s.histogram_bounds::text::text[]) v) END,
                           'elem_freqs', s.most_common_elem_freqs,
                           'elem_counts', s.elem_count_histogram)
                       FROM pg_stats s
                       WHERE s.schemaname = CASE WHEN ta.attnum IS NULL THEN b.nspname ELSE b.table_schema END
                         AND s.tablename = CASE WHEN ta.attnum IS NULL THEN b.relname ELSE b.table_name END
                         AND s.attname = CASE WHEN ta.attnum IS NULL THEN a.attname ELSE ta.attname END
                         AND NOT s.inherited))
                   ORDER BY a.attnum)
        FROM pg_attribute a
        LEFT JOIN pg_attribute ta ON ta.attrelid = b.indrelid AND ta.attnum = b.indkey[a.attnum - 1]
            AND ta.attnum > 0
        WHERE a.attrelid = b.indexrelid AND a.attnum > 0) END AS columns
FROM big b
ORDER BY b.relpages DESC, b.indexrelid
