SELECT {columns}
FROM sweep.simulate_tables(%(settings)s::text[], %(since)s::interval, %(back_test)s::boolean)
ORDER BY blks_read + blks_dirtied DESC, vacuums DESC, datname, schemaname, relname
