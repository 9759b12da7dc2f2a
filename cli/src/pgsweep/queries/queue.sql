SELECT position, datid, datname::text AS datname, relid, schemaname, relname, lane, score, reason,
       waiting_since, waiting_for, estimated_duration, estimated_mb, requested
FROM sweep.queue
ORDER BY position
LIMIT %(limit)s
