-- All that the function reads is locked first, not one after the other while it works.
WITH locked AS (SELECT FROM sweep.tables, sweep.table_settings, sweep.runs, sweep.queue)
SELECT rank, relation, verdict, cause, evidence, fix, risk
FROM sweep.explain(%(relid)s::oid::regclass)
