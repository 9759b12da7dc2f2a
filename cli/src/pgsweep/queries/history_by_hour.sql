-- What all runs of each hour came to since then, or between two times.
SELECT hour, sum(runs)::int8 AS runs, sum(blks_read)::int8 AS blks_read,
       sum(blks_dirtied)::int8 AS blks_dirtied, sum(wal_bytes)::int8 AS wal_bytes
FROM sweep.history_since(%(since)s::timestamptz)
WHERE (%(until)s::timestamptz IS NULL OR hour < %(until)s::timestamptz)
GROUP BY hour
ORDER BY hour
