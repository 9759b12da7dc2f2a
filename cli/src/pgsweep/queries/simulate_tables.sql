SELECT datid, datname, relid, schemaname, relname, vacuums, insert_vacuums, blks_read, blks_dirtied, run_time,
       dead_tuples, max_dead_tuples,
       recorded_vacuums, recorded_blks_read, recorded_blks_dirtied, recorded_dead_tuples,
       learned_vacuums, estimated
FROM sweep.simulate_tables(%(settings)s::text[], %(since)s::interval, %(back_test)s::boolean)
ORDER BY blks_read + blks_dirtied DESC, vacuums DESC, datname, schemaname, relname
