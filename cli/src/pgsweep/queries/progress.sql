SELECT {columns}
FROM sweep.progress
ORDER BY started_at NULLS LAST, pid
