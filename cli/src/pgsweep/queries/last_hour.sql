SELECT count(*) AS runs,
       coalesce(sum(tuples_removed), 0)::int8 AS tuples_removed,
       count(*) FILTER (WHERE outcome = 'failed') AS failed,
       count(*) FILTER (WHERE outcome = 'cancelled') AS cancelled
FROM sweep.runs
WHERE ended_at >= now() - interval '1 hour'
