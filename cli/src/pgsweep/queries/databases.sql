-- The row without a database is that of the shared catalogs.
SELECT coalesce(datid, 0) AS datid, coalesce(datname, '(shared)') AS datname, ours, reason, relations, due, dead_tuples, xid_age, mxid_age, workers,
       last_visit, next_visit
FROM sweep.databases
ORDER BY due DESC NULLS LAST, dead_tuples DESC NULLS LAST, datname
