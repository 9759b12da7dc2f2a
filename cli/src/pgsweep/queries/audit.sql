SELECT called_at, datid, datname, pid, usename, role, application_name, command,
       relid, schemaname, relname, vacuum_pid, detail
FROM sweep.audit
WHERE (%(usename)s::text IS NULL OR usename = %(usename)s)
  AND (%(schemaname)s::text IS NULL OR schemaname = %(schemaname)s)
  AND (%(relname)s::text IS NULL OR relname = %(relname)s)
ORDER BY called_at DESC
LIMIT %(limit)s
