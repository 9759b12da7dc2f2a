SELECT pid, leader_pid, datid, datname, relid, schemaname, relname, command, started_by, mode,
       phase, phase_pct, started_at, blks_hit, blks_read, blks_dirtied, wal_records, wal_fpi,
       wal_bytes::int8 AS wal_bytes, cost, cost_per_s, read_mb_per_s, dirty_mb_per_s, wal_mb_per_s,
       delay_time, sleep_pct, done_pct, eta, eta_at, eta_basis, index_pass, waiters,
       limited_by, cost_limit, cost_delay, pages, parallel_workers, waits_for
FROM sweep.progress
ORDER BY started_at NULLS LAST, pid
