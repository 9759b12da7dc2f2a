-- How much WAL each standby is behind, by its walsender, and the slots that nobody uses, in bytes. Who decodes WAL
-- confirms it when it likes.
SELECT r.pid, coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), r.replay_lsn), 0)::int8 AS behind
FROM pg_stat_replication r
WHERE NOT EXISTS (SELECT FROM pg_replication_slots s WHERE s.active_pid = r.pid AND s.slot_type = 'logical')
UNION ALL
SELECT NULL, coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), 0)::int8
FROM pg_replication_slots
WHERE NOT active
