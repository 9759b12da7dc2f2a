-- Names that begin so, in "public" or, if a schema is given, there. A name without a schema may
-- also be the beginning of a schema's.
SELECT n.nspname::text AS schemaname, c.relname::text AS relname
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'm', 'p')
  AND n.nspname NOT LIKE 'pg\_temp%%' AND n.nspname NOT LIKE 'pg\_toast%%'
  AND (starts_with(n.nspname || '.' || c.relname, %(beginning)s)
       OR n.nspname = 'public' AND starts_with(c.relname::text, %(beginning)s))
  -- Without a beginning the system's own tables would be most of them.
  AND (%(beginning)s <> '' OR n.nspname NOT IN ('pg_catalog', 'information_schema', 'sweep'))
ORDER BY n.nspname <> 'public', n.nspname, c.relname
LIMIT %(limit)s
