-- The same sums of all runs, also of those that sweep.runs has forgotten.
SELECT sum(vacuums + analyzes)::int8 AS runs, sum(tuples_removed)::int8 AS tuples_removed,
       sum(failed)::int8 AS failed, sum(cancelled)::int8 AS cancelled,
       max(complete_since) AS since
FROM sweep.totals WHERE span = 'hour'
