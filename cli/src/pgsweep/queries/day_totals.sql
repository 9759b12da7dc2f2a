SELECT max(since) AS since, max(complete_since) AS complete_since
FROM sweep.totals WHERE span = 'day'
