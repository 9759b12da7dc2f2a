-- Who waits for the process, and what it waits for itself. Only who waits for something that it has is asked for more.
WITH l AS MATERIALIZED (SELECT * FROM pg_locks)
SELECT l.pid, l.pid <> %(pid)s AS behind,
       CASE WHEN l.locktype IN ('virtualxid', 'transactionid') THEN 'transaction' ELSE 'relation' END AS waits
FROM l
WHERE NOT l.granted
  AND (l.pid = %(pid)s
       OR (EXISTS (SELECT FROM l AS h
                   WHERE h.pid = %(pid)s AND h.locktype = l.locktype AND h.database IS NOT DISTINCT FROM l.database
                     AND h.relation IS NOT DISTINCT FROM l.relation AND h.page IS NOT DISTINCT FROM l.page
                     AND h.tuple IS NOT DISTINCT FROM l.tuple AND h.virtualxid IS NOT DISTINCT FROM l.virtualxid
                     AND h.transactionid IS NOT DISTINCT FROM l.transactionid
                     AND h.classid IS NOT DISTINCT FROM l.classid AND h.objid IS NOT DISTINCT FROM l.objid)
           AND %(pid)s = ANY (pg_blocking_pids(l.pid))))
