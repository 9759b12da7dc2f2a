-- Partitioned tables with what happened to all their partitions.
WITH RECURSIVE tree AS (
    SELECT c.oid AS root, c.oid AS relid FROM pg_class c WHERE c.relkind = 'p' AND NOT c.relispartition AND c.relpersistence <> 't'
    UNION ALL
    SELECT t.root, i.inhrelid FROM tree t JOIN pg_inherits i ON i.inhparent = t.relid)
SELECT r.oid AS relid, quote_ident(n.nspname) || '.' || quote_ident(r.relname) AS sql_name,
       s.rows, s.changed,
       EXISTS (SELECT FROM pg_stats p WHERE p.schemaname = n.nspname AND p.tablename = r.relname AND p.inherited)
         OR pg_stat_get_last_analyze_time(r.oid) IS NOT NULL AS is_analyzed
FROM (SELECT t.root, sum(greatest(c.reltuples, pg_stat_get_live_tuples(c.oid)))::float8 AS rows,
             sum(pg_stat_get_tuples_inserted(c.oid) + pg_stat_get_tuples_updated(c.oid)
                 + pg_stat_get_tuples_deleted(c.oid))::int8 AS changed
      FROM tree t JOIN pg_class c ON c.oid = t.relid AND c.relkind <> 'p'
      GROUP BY t.root) s
JOIN pg_class r ON r.oid = s.root
JOIN pg_namespace n ON n.oid = r.relnamespace
