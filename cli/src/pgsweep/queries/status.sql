-- Older versions of the view have none of the last columns. The row becomes a document once.
SELECT sql_version, library_version, server_version_built, mode, effective_mode, reason,
       launcher_pid, launcher_started_at, workers, max_workers, rounds, last_round_at,
       last_round_time, max_round_time, relations, due, worker_starts,
       worker_start_failures, runs, runs_saved_at, runs_save_error, decisions_used,
       decisions_size, decisions_dropped, databases_dropped, recent_crashes,
       (s.document ->> 'last_lock_time')::float8 AS last_lock_time,
       (s.document ->> 'max_lock_time')::float8 AS max_lock_time,
       (s.document ->> 'naptime')::float8 AS naptime,
       (s.document ->> 'overdue')::int8 AS overdue,
       (s.document ->> 'horizon_age')::int8 AS horizon_age,
       (s.document ->> 'held_until')::timestamptz AS held_until,
       (s.document ->> 'runs_complete_since')::timestamptz AS runs_complete_since,
       (s.document ->> 'visits')::int8 AS visits,
       (s.document ->> 'surveys')::int8 AS surveys,
       (s.document ->> 'visits_cpu_time')::float8 AS visits_cpu_time,
       s.document ->> 'standby_conflicts' AS standby_conflicts
FROM (SELECT s.*, to_jsonb(s) AS document FROM sweep.status s OFFSET 0) s
