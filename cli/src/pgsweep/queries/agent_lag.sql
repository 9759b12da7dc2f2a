-- How much WAL the standbys and slots are behind, in bytes. Who decodes WAL confirms it when it likes.
SELECT coalesce((SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)) FROM pg_stat_replication r
                 WHERE NOT EXISTS (SELECT FROM pg_replication_slots s
                                   WHERE s.active_pid = r.pid AND s.slot_type = 'logical')), 0)::int8 AS standbys,
       coalesce((SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)) FROM pg_replication_slots
                 WHERE NOT active), 0)::int8 AS slots
