-- Which hours since then were counted, and what users did in them.
SELECT hour, max(since) AS since, sum(inserted)::int8 AS inserted, sum(updated)::int8 AS updated,
       sum(deleted)::int8 AS deleted, max(xids) AS xids
FROM sweep.activity_since(%(since)s::timestamptz)
WHERE (%(until)s::timestamptz IS NULL OR hour < %(until)s::timestamptz)
GROUP BY hour
ORDER BY hour
