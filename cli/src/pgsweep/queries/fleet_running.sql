-- What all running vacuums do together, without the workers that help them, and how fast
-- transaction ids are used.
SELECT count(*) AS vacuums, coalesce(sum(p.read_mb_per_s), 0) AS read_mb_per_s,
       coalesce(sum(p.dirty_mb_per_s), 0) AS dirty_mb_per_s,
       coalesce(sum(p.wal_mb_per_s), 0) AS wal_mb_per_s,
       (SELECT x.xids_per_s FROM sweep.get_xid_rate() x) AS xids_per_s
FROM sweep.progress p
WHERE p.leader_pid IS NULL
