-- How many tables of this database have more dead rows than makes them due. The threshold is that of
-- dead_tuples.sql, which names tables as well and costs a new session three times as much. All types
-- are exact, and nothing is compared at the top. So the planner neither looks for operators that
-- would fit nor for statistics.
SELECT count(*) AS due
FROM (SELECT c.oid, c.reltuples, c.relkind, array_to_string(coalesce(c.reloptions, m.reloptions), ' ') AS own
      FROM pg_class c
           -- A TOAST table without options of its own goes by its main table's.
           LEFT JOIN pg_class m ON m.reltoastrelid = c.oid) c
WHERE CASE WHEN relkind IN ('r', 'm', 't') AND pg_stat_get_dead_tuples(oid) > 0
           THEN coalesce(substring(own FROM 'autovacuum_enabled=(\S+)')::bool, true)
                AND pg_stat_get_dead_tuples(oid)::float8
                    > least(coalesce(substring(own FROM 'autovacuum_vacuum_threshold=(\S+)')::float8,
                                     current_setting('autovacuum_vacuum_threshold')::float8)
                            + coalesce(substring(own FROM 'autovacuum_vacuum_scale_factor=(\S+)')::float8,
                                       current_setting('autovacuum_vacuum_scale_factor')::float8)
                            * greatest(reltuples::float8, 0::float8),
                            -- The largest threshold is none if it is -1. It is there from 18 on.
                            nullif(coalesce(substring(own FROM 'autovacuum_vacuum_max_threshold=(\S+)')::float8,
                                            current_setting('autovacuum_vacuum_max_threshold', true)::float8),
                                   '-1'::float8))
      END
