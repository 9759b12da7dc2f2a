-- The session behind a process number, of which a global pid of Citus is made.
SELECT usename::text AS usename, nullif(application_name, '') AS application_name, state, query
FROM pg_stat_activity
WHERE pid = %(pid)s
