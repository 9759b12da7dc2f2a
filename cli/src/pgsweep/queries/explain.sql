SELECT rank, relation, verdict, cause, evidence, fix, risk
FROM sweep.explain(%(relid)s::oid::regclass)
