SELECT current_database()::text AS datname, relid, schemaname, relname, index_scans,
       blks_per_scan_clean, reads_per_scan_clean, blks_per_scan, reads_per_scan,
       lost_blks, lost_reads, vacuum_blks, last_vacuum, breaks_even_at,
       blks_per_scan_before, blks_per_scan_after, saved_blks_per_hour, saved_reads_per_hour,
       not_hot_pct, advice, basis
FROM sweep.worth
WHERE %(relid)s::oid IS NULL OR relid = %(relid)s::oid
ORDER BY lost_reads DESC NULLS LAST, lost_blks DESC NULLS LAST, index_scans DESC NULLS LAST, schemaname, relname
