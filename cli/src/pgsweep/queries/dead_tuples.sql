-- The tables of this database with the most dead rows, and in a row without a table what the
-- others have together. The threshold is that of the table's own storage parameters and of the
-- settings. All tables are looked at once, and names are looked up of few.
WITH settings AS MATERIALIZED (
    SELECT current_setting('autovacuum_vacuum_threshold')::float8 AS threshold,
           current_setting('autovacuum_vacuum_scale_factor')::float8 AS scale_factor,
           -- from 18 on
           coalesce(nullif(current_setting('autovacuum_vacuum_max_threshold', true)::float8, -1), 'Infinity') AS max_threshold
), judged AS MATERIALIZED (
    SELECT t.relid, t.dead_tuples,
           CASE WHEN t.reloptions IS NULL
                THEN least(s.threshold + s.scale_factor * greatest(t.reltuples, 0), s.max_threshold)
                ELSE (SELECT least(coalesce(max(v.value) FILTER (WHERE o.option_name = 'autovacuum_vacuum_threshold'), s.threshold)
                                   + coalesce(max(v.value) FILTER (WHERE o.option_name = 'autovacuum_vacuum_scale_factor'), s.scale_factor)
                                   * greatest(t.reltuples, 0),
                                   coalesce(nullif(max(v.value) FILTER (WHERE o.option_name = 'autovacuum_vacuum_max_threshold'), -1), s.max_threshold))
                      FROM pg_options_to_table(t.reloptions) o
                           CROSS JOIN LATERAL (SELECT CASE WHEN o.option_name LIKE 'autovacuum\_vacuum\_%%' THEN o.option_value::float8 END) AS v (value))
           END AS vacuum_threshold
    FROM (SELECT oid AS relid, reltuples, reloptions, pg_stat_get_dead_tuples(oid) AS dead_tuples
          FROM pg_class
          WHERE relkind IN ('r', 'm', 't')
          OFFSET 0) t,
         settings s
    WHERE t.dead_tuples > 0
), most AS MATERIALIZED (
    SELECT * FROM judged ORDER BY dead_tuples DESC, relid LIMIT %(limit)s
), sums AS (
    SELECT coalesce(sum(dead_tuples), 0) AS dead_tuples, count(*) FILTER (WHERE dead_tuples > vacuum_threshold) AS due
    FROM judged
), named AS (
    SELECT coalesce(sum(dead_tuples), 0) AS dead_tuples, count(*) FILTER (WHERE dead_tuples > vacuum_threshold) AS due
    FROM most
)
SELECT n.nspname::text AS schemaname, c.relname::text AS relname, m.dead_tuples, m.vacuum_threshold,
       (m.dead_tuples > m.vacuum_threshold)::int4::int8 AS due
FROM most m
     LEFT JOIN pg_class c ON c.oid = m.relid
     LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
UNION ALL
SELECT NULL, NULL, (s.dead_tuples - n.dead_tuples)::int8, NULL, s.due - n.due
FROM sums s, named n
