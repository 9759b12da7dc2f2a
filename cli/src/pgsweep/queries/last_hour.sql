-- The oldest run that is kept, and whether others before it were: runs are numbered from 1.
SELECT count(*) FILTER (WHERE recent) AS runs,
       coalesce(sum(tuples_removed) FILTER (WHERE recent), 0)::int8 AS tuples_removed,
       count(*) FILTER (WHERE recent AND outcome = 'failed') AS failed,
       count(*) FILTER (WHERE recent AND outcome = 'cancelled') AS cancelled,
       clock_timestamp() AS now, min(ended_at) AS oldest, coalesce(min(run_id) > 1, false) AS forgotten
FROM (SELECT run_id, tuples_removed, outcome, ended_at,
             ended_at >= now() - interval '1 hour' AS recent
      FROM sweep.runs) AS r
