-- All that the function reads is locked first, not one after the other while it works.
WITH locked AS (SELECT FROM sweep.tables, sweep.table_settings, sweep.runs, sweep.queue)
SELECT w.relid, e.rank, e.relation, e.verdict, e.cause, e.evidence, e.fix, e.risk
FROM unnest(%(relids)s::oid[]) AS w (relid)
     CROSS JOIN LATERAL sweep.explain(w.relid::regclass) AS e
ORDER BY w.relid, e.rank
