SELECT kind, pid, datname::text AS datname, usename::text AS usename, name, state,
       xmin::text::int8 AS xmin, age, since, query, withholds, fix, risk
FROM sweep.blockers
ORDER BY age DESC NULLS LAST, since
