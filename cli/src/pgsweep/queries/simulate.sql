SELECT {columns}
FROM sweep.simulate(%(settings)s::text[], %(since)s::interval, %(back_test)s::boolean)
ORDER BY hour
