-- In which hours the tables were vacuumed since then, and by whom. A shared catalog's datid is 0.
SELECT hour, datid, datname, relid, schemaname, relname, started_by, sum(runs)::int8 AS runs
FROM sweep.history_since(%(since)s::timestamptz)
WHERE (coalesce(datid, 0::oid), relid) IN (SELECT * FROM unnest(%(datids)s::oid[], %(relids)s::oid[]))
  AND (%(until)s::timestamptz IS NULL OR hour < %(until)s::timestamptz)
GROUP BY hour, datid, datname, relid, schemaname, relname, started_by
ORDER BY hour
