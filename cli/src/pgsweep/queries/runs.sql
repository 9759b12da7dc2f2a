SELECT run_id, pid, datid, datname, relid, schemaname, relname, command, started_by, mode,
       started_at, ended_at, blks_hit, blks_read, blks_dirtied, wal_records, wal_fpi,
       wal_bytes::int8 AS wal_bytes, cost, cost_per_s, read_mb_per_s, dirty_mb_per_s, wal_mb_per_s,
       delay_time, sleep_pct, cost_limit, cost_delay, pages, index_pass, tuples_removed,
       dead_not_removable, memory_bytes, outcome, reason, blks_per_scan_before, blks_per_scan_after
FROM sweep.runs
WHERE (%(relname)s::text IS NULL
       OR relname = %(relname)s AND (%(schemaname)s::text IS NULL OR schemaname = %(schemaname)s)
       -- as it is shown
       OR %(shown)s::text IN (coalesce(nullif(schemaname, 'public') || '.', '') || relname,
                              datname || '.' || coalesce(nullif(schemaname, 'public') || '.', '') || relname))
  AND (%(datname)s::text IS NULL OR datname = %(datname)s)
  AND (%(started_by)s::text IS NULL OR started_by = %(started_by)s)
  AND (%(outcome)s::text IS NULL OR outcome = %(outcome)s)
  AND (%(since)s::interval IS NULL OR ended_at >= now() - %(since)s::interval)
  AND (%(datid)s::oid IS NULL OR datid = %(datid)s::oid)
  AND (%(relid)s::oid IS NULL OR relid = %(relid)s::oid)
ORDER BY ended_at DESC NULLS LAST, run_id DESC
LIMIT %(limit)s
