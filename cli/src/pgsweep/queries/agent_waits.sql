-- Who waits for the process, and what it waits for itself.
SELECT l.pid, l.pid <> %(pid)s AS behind,
       CASE WHEN l.locktype IN ('virtualxid', 'transactionid') THEN 'transaction' ELSE 'relation' END AS waits
FROM pg_locks l
WHERE NOT l.granted AND (l.pid = %(pid)s OR %(pid)s = ANY (pg_blocking_pids(l.pid)))
