-- What each table's runs came to since then, or between two times. Its hour is the first one.
SELECT min(hour) AS hour, datid, datname, relid, schemaname, relname, command, started_by,
       sum(runs)::int8 AS runs, sum(failed)::int8 AS failed, sum(cancelled)::int8 AS cancelled,
       sum(skipped)::int8 AS skipped, sum(blks_read)::int8 AS blks_read,
       sum(blks_dirtied)::int8 AS blks_dirtied, sum(wal_bytes)::int8 AS wal_bytes,
       sum(cost)::int8 AS cost, sum(tuples_removed)::int8 AS tuples_removed,
       sum(run_time) AS run_time,
       (array_agg(dead_not_removable ORDER BY last_ended_at DESC)
         FILTER (WHERE dead_not_removable IS NOT NULL))[1] AS dead_not_removable,
       max(last_ended_at) AS last_ended_at
FROM sweep.history_since(%(since)s::timestamptz)
WHERE (%(until)s::timestamptz IS NULL OR hour < %(until)s::timestamptz)
GROUP BY datid, datname, relid, schemaname, relname, command, started_by
ORDER BY max(last_ended_at) DESC NULLS LAST
