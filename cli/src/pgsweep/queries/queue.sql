SELECT {columns}
FROM sweep.queue
-- What runs is in sweep.progress.
WHERE state = 'waiting'
ORDER BY position
LIMIT %(limit)s
