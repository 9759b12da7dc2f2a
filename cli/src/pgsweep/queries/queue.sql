SELECT position, state, datid, datname::text AS datname, relid, schemaname, relname, lane, score, reason,
       waiting_since, waiting_for, not_before, estimated_duration, estimated_mb,
       request_id, requested_by, requested_at, aux, attempts
FROM sweep.queue
-- What runs is in sweep.progress.
WHERE state = 'waiting'
ORDER BY position
LIMIT %(limit)s
