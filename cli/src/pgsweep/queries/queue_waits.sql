-- Where the place in the queue is not asked for, the server need not sort it.
SELECT datname::text AS datname, schemaname, relname, lane, score, waiting_since, waiting_for
FROM sweep.queue
WHERE state = 'waiting'
