SELECT hour, span, vacuums, insert_vacuums, blks_read, blks_dirtied, run_time,
       dead_tuples, max_dead_tuples, waiting,
       recorded_vacuums, recorded_blks_read, recorded_blks_dirtied, recorded_dead_tuples
FROM sweep.simulate(%(settings)s::text[], %(since)s::interval, %(back_test)s::boolean)
ORDER BY hour
