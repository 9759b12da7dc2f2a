SELECT {columns}
FROM sweep.governor
ORDER BY at DESC
LIMIT %(steps)s
