-- The last day, unless an earlier time is given.
SELECT {columns}
FROM sweep.history_since(coalesce(%(since)s::timestamptz, now() - interval '25 hours'))
WHERE (%(datid)s::oid IS NULL OR datid = %(datid)s::oid)
  AND (%(relid)s::oid IS NULL OR relid = %(relid)s::oid)
ORDER BY hour DESC, last_ended_at DESC NULLS LAST
