SELECT datid, datname, relid, schemaname, relname, decision, reason, first_at, last_at, times,
       not_before, dead_tuples, ins_since_vacuum, next_dead_tuples, next_ins_since_vacuum,
       waits_for::text::int8 AS waits_for, would_vacuum_at, vacuumed_instead_at, vacuumed_instead_by,
       growing, late_since, late_pages
FROM sweep.decisions
WHERE (%(datname)s::text IS NULL OR datname = %(datname)s)
  AND (%(relname)s::text IS NULL
       OR relname = %(relname)s AND (%(schemaname)s::text IS NULL OR schemaname = %(schemaname)s)
       -- as it is shown
       OR %(shown)s::text IN (coalesce(nullif(schemaname, 'public') || '.', '') || relname,
                              datname || '.' || coalesce(nullif(schemaname, 'public') || '.', '') || relname))
  AND (%(decision)s::text IS NULL OR decision = %(decision)s)
  AND (%(datid)s::oid IS NULL OR datid = %(datid)s::oid)
  AND (%(relid)s::oid IS NULL OR relid = %(relid)s::oid)
ORDER BY last_at DESC NULLS LAST, datname, relid
LIMIT %(limit)s
