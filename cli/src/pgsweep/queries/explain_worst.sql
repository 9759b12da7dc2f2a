-- In the function's order: the ranks of one table after those of another.
SELECT rank, relation, verdict, cause, evidence, fix, risk
FROM sweep.explain()
