SELECT {columns}
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
