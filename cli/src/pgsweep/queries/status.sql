-- Older versions of the view have none of the last columns.
SELECT sql_version, library_version, server_version_built, mode, effective_mode, reason,
       launcher_pid, launcher_started_at, workers, max_workers, rounds, last_round_at,
       last_round_time, max_round_time, relations, due, worker_starts,
       worker_start_failures, runs, runs_saved_at, runs_save_error, decisions_used,
       decisions_size, decisions_dropped, databases_dropped, recent_crashes,
       (to_jsonb(s) ->> 'last_lock_time')::float8 AS last_lock_time,
       (to_jsonb(s) ->> 'max_lock_time')::float8 AS max_lock_time,
       (to_jsonb(s) ->> 'naptime')::float8 AS naptime,
       (to_jsonb(s) ->> 'overdue')::int8 AS overdue,
       (to_jsonb(s) ->> 'horizon_age')::int8 AS horizon_age,
       (to_jsonb(s) ->> 'held_until')::timestamptz AS held_until,
       (to_jsonb(s) ->> 'runs_complete_since')::timestamptz AS runs_complete_since,
       (to_jsonb(s) ->> 'visits')::int8 AS visits,
       (to_jsonb(s) ->> 'surveys')::int8 AS surveys,
       (to_jsonb(s) ->> 'visits_cpu_time')::float8 AS visits_cpu_time,
       to_jsonb(s) ->> 'standby_conflicts' AS standby_conflicts
FROM sweep.status s
