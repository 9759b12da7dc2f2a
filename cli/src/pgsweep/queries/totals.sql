-- What all runs came to since these sums began, by who started them.
SELECT {columns}
FROM sweep.totals
WHERE span = 'all'
