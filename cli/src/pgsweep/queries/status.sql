-- Older versions of the view have none of the last columns.
SELECT sql_version, library_version, server_version_built, mode, effective_mode, reason,
       launcher_pid, launcher_started_at, workers, max_workers, rounds, last_round_at,
       last_round_time, max_round_time, relations, due, worker_starts,
       worker_start_failures, runs, runs_saved_at, runs_save_error, decisions_used,
       decisions_size, decisions_dropped, databases_dropped, recent_crashes,
       (to_jsonb(s) ->> 'last_lock_time')::float8 AS last_lock_time,
       (to_jsonb(s) ->> 'max_lock_time')::float8 AS max_lock_time,
       (to_jsonb(s) ->> 'naptime')::float8 AS naptime,
       (to_jsonb(s) ->> 'held_until')::timestamptz AS held_until
FROM sweep.status s
