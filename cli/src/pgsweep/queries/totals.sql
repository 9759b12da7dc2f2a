-- What all runs came to since these sums began, by who started them.
SELECT started_by, since, vacuums, analyzes, failed, cancelled, skipped,
       blks_hit, blks_read, blks_dirtied, wal_records, wal_fpi, wal_bytes::int8 AS wal_bytes,
       cost, tuples_removed, run_time, delay_time
FROM sweep.totals
WHERE span = 'all'
