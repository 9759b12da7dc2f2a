SELECT count(*) AS snoozed
FROM sweep.decisions
WHERE decision = 'snoozed' AND not_before > now()
