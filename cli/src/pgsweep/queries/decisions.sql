SELECT {columns}
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
