SELECT {columns}
FROM sweep.audit
WHERE (%(usename)s::text IS NULL OR usename = %(usename)s)
  AND (%(relname)s::text IS NULL
       OR relname = %(relname)s AND (%(schemaname)s::text IS NULL OR schemaname = %(schemaname)s)
       -- as it is shown
       OR %(shown)s::text IN (coalesce(nullif(schemaname, 'public') || '.', '') || relname,
                              datname || '.' || coalesce(nullif(schemaname, 'public') || '.', '') || relname))
ORDER BY called_at DESC
LIMIT %(limit)s
