-- Queries that were cancelled on this standby, by what they were in the way of.
SELECT c.conflict, c.cancelled
FROM (SELECT sum(confl_tablespace) AS tablespace, sum(confl_lock) AS lock, sum(confl_snapshot) AS snapshot,
             sum(confl_bufferpin) AS bufferpin, sum(confl_deadlock) AS deadlock,
             0 AS logicalslot -- before 16
             sum(confl_active_logicalslot) AS logicalslot -- from 16
      FROM pg_stat_database_conflicts) s,
     LATERAL (VALUES ('tablespace', s.tablespace::int8), ('lock', s.lock::int8), ('snapshot', s.snapshot::int8),
                     ('bufferpin', s.bufferpin::int8), ('deadlock', s.deadlock::int8),
                     ('logicalslot', s.logicalslot::int8)) AS c (conflict, cancelled)
