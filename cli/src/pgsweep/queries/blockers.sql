SELECT {columns}
FROM sweep.blockers
ORDER BY age DESC NULLS LAST, since
