-- A process that an agent before this one has left at work.
SELECT pid, pg_cancel_backend(pid) AS cancelled
FROM pg_stat_activity
WHERE pid = %(pid)s AND application_name = 'pgsweep agent' AND state <> 'idle'
