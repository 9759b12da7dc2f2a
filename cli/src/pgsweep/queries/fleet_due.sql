-- How many tables of this database have more dead rows than makes them due. The threshold is that of
-- dead_tuples.sql, which also names tables and costs twice as much to plan.
SELECT count(*) AS due
FROM (SELECT reltuples, array_to_string(reloptions, ' ') AS own, pg_stat_get_dead_tuples(oid) AS dead_tuples
      FROM pg_class
      WHERE relkind IN ('r', 'm', 't')
      OFFSET 0) t,
     (SELECT current_setting('autovacuum_vacuum_threshold')::float8 AS threshold,
             current_setting('autovacuum_vacuum_scale_factor')::float8 AS scale_factor,
             -- from 18 on
             current_setting('autovacuum_vacuum_max_threshold', true)::float8 AS max_threshold) s
WHERE t.dead_tuples > least(coalesce(substring(t.own FROM 'autovacuum_vacuum_threshold=(\S+)')::float8, s.threshold)
                            + coalesce(substring(t.own FROM 'autovacuum_vacuum_scale_factor=(\S+)')::float8, s.scale_factor)
                            * greatest(t.reltuples, 0),
                            nullif(coalesce(substring(t.own FROM 'autovacuum_vacuum_max_threshold=(\S+)')::float8, s.max_threshold), -1))
