-- Every table of this database with its counters, those that could be due, or one table and its TOAST table.
-- pg_relation_size() would wait for locks: pages are what pg_class remembers.
SELECT c.oid AS relid, n.nspname::text AS schemaname, c.relname::text AS relname,
       quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS sql_name,
       c.relkind::text AS relkind, c.relpersistence::text AS relpersistence,
       c.relisshared AS is_shared,
       coalesce(mn.nspname, n.nspname) = 'pg_catalog' AS is_catalog,
       c.reloptions, mn.nspname::text AS main_schemaname, m.relname::text AS main_relname,
       quote_ident(mn.nspname) || '.' || quote_ident(m.relname) AS main_sql_name,
       m.reloptions AS main_reloptions,
       c.relpages AS pages, c.relallvisible AS all_visible_pages,
       NULL::int4 AS frozen_pages, -- before 18
       c.relallfrozen AS frozen_pages, -- from 18
       c.reltuples::float8 AS reltuples,
       CASE WHEN c.relfrozenxid <> '0'::xid THEN age(c.relfrozenxid) END AS xid_age,
       CASE WHEN c.relminmxid <> '0'::xid THEN mxid_age(c.relminmxid) END AS mxid_age,
       pg_stat_get_live_tuples(c.oid) AS live_tuples,
       pg_stat_get_dead_tuples(c.oid) AS dead_tuples,
       pg_stat_get_ins_since_vacuum(c.oid) AS ins_since_vacuum,
       pg_stat_get_mod_since_analyze(c.oid) AS mod_since_analyze,
       pg_stat_get_tuples_inserted(c.oid) + pg_stat_get_tuples_updated(c.oid)
         + pg_stat_get_tuples_deleted(c.oid) AS changed,
       greatest(pg_stat_get_last_vacuum_time(c.oid),
                pg_stat_get_last_autovacuum_time(c.oid)) AS last_vacuum,
       greatest(pg_stat_get_last_analyze_time(c.oid),
                pg_stat_get_last_autoanalyze_time(c.oid)) AS last_analyze
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_class m ON c.relkind = 't' AND m.reltoastrelid = c.oid
LEFT JOIN pg_namespace mn ON mn.oid = m.relnamespace
WHERE ((%(relid)s::oid IS NULL AND c.relkind IN ('r', 'm', 't', 'p'))
       OR c.oid = %(relid)s::oid OR m.oid = %(relid)s::oid)
  -- Only what could be due: all others need not be sent.
  AND (NOT %(near)s OR c.reloptions IS NOT NULL OR m.reloptions IS NOT NULL
       OR pg_stat_get_dead_tuples(c.oid) > current_setting('autovacuum_vacuum_threshold')::int8
       OR pg_stat_get_ins_since_vacuum(c.oid)
            > nullif(current_setting('autovacuum_vacuum_insert_threshold'), '-1')::int8
       OR pg_stat_get_mod_since_analyze(c.oid) > current_setting('autovacuum_analyze_threshold')::int8
       OR (c.reltuples < 0 AND (c.relpages > 0 OR pg_stat_get_live_tuples(c.oid) > 0))
       OR (c.relfrozenxid <> '0'::xid
           AND age(c.relfrozenxid) > current_setting('autovacuum_freeze_max_age')::int8 / 10)
       OR (c.relminmxid <> '0'::xid
           AND mxid_age(c.relminmxid) > current_setting('autovacuum_multixact_freeze_max_age')::int8 / 10))
ORDER BY c.oid
