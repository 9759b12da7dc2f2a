SELECT rank, relation, verdict, cause, evidence, fix, risk
FROM sweep.explain()
ORDER BY rank
