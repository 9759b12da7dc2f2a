-- The tables of this database with the most dead rows, and in a row without a table what the
-- others have together. The threshold is that of the table's own storage parameters and of the
-- settings. Where autovacuum is switched off nothing is due. All tables are looked at once, and names are looked up of few.
WITH settings AS MATERIALIZED (
    SELECT current_setting('autovacuum_vacuum_threshold')::float8 AS threshold,
           current_setting('autovacuum_vacuum_scale_factor')::float8 AS scale_factor,
           -- from 18 on
           current_setting('autovacuum_vacuum_max_threshold', true)::float8 AS max_threshold
), judged AS MATERIALIZED (
    SELECT t.relid, t.dead_tuples,
           -- The largest threshold is none if it is -1.
           least(coalesce(substring(t.own FROM 'autovacuum_vacuum_threshold=(\S+)')::float8, s.threshold)
                 + coalesce(substring(t.own FROM 'autovacuum_vacuum_scale_factor=(\S+)')::float8, s.scale_factor)
                 * greatest(t.reltuples, 0),
                 nullif(coalesce(substring(t.own FROM 'autovacuum_vacuum_max_threshold=(\S+)')::float8, s.max_threshold), -1))
           AS vacuum_threshold,
           current_setting('autovacuum')::bool
           AND coalesce(substring(t.own FROM 'autovacuum_enabled=(\S+)')::bool, true) AS enabled
    FROM (SELECT c.oid AS relid, c.reltuples,
                 -- A TOAST table without options of its own goes by its main table's.
                 array_to_string(coalesce(c.reloptions, m.reloptions), ' ') AS own,
                 pg_stat_get_dead_tuples(c.oid) AS dead_tuples
          FROM pg_class c
               LEFT JOIN pg_class m ON m.reltoastrelid = c.oid
          WHERE c.relkind IN ('r', 'm', 't')
          OFFSET 0) t,
         settings s
    WHERE t.dead_tuples > 0
), most AS MATERIALIZED (
    SELECT * FROM judged ORDER BY dead_tuples DESC, relid LIMIT %(limit)s
), sums AS (
    SELECT coalesce(sum(dead_tuples), 0) AS dead_tuples, count(*) FILTER (WHERE enabled AND dead_tuples > vacuum_threshold) AS due
    FROM judged
), named AS (
    SELECT coalesce(sum(dead_tuples), 0) AS dead_tuples, count(*) FILTER (WHERE enabled AND dead_tuples > vacuum_threshold) AS due
    FROM most
)
SELECT n.nspname::text AS schemaname, c.relname::text AS relname, m.dead_tuples, m.vacuum_threshold,
       (m.enabled AND m.dead_tuples > m.vacuum_threshold)::int4::int8 AS due
FROM most m
     LEFT JOIN pg_class c ON c.oid = m.relid
     LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
UNION ALL
SELECT NULL, NULL, (s.dead_tuples - n.dead_tuples)::int8, NULL, s.due - n.due
FROM sums s, named n
