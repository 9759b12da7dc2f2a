-- The last day, unless an earlier time is given.
SELECT hour, datid, datname, relid, schemaname, relname, command, started_by, runs, failed, cancelled,
       skipped, blks_read, blks_dirtied, wal_bytes::int8 AS wal_bytes, cost, tuples_removed, run_time,
       dead_not_removable, last_ended_at
FROM sweep.history_since(coalesce(%(since)s::timestamptz, now() - interval '25 hours'))
WHERE (%(datid)s::oid IS NULL OR datid = %(datid)s::oid)
  AND (%(relid)s::oid IS NULL OR relid = %(relid)s::oid)
ORDER BY hour DESC, last_ended_at DESC NULLS LAST
