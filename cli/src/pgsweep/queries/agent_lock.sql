-- One agent at a time. The key is an arbitrary number.
SELECT pg_try_advisory_lock(7311894026815) AS locked
