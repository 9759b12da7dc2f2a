-- Tables by a name as psql takes it, or exactly as given; those in "public" first.
SELECT current_database()::text AS datname, c.oid AS relid, n.nspname::text AS schemaname,
       c.relname::text AS relname
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace,
     parse_ident(%(name)s) AS part
WHERE (cardinality(part) = 1 OR n.nspname = part[1])
  AND c.relname = part[cardinality(part)]
  AND c.relkind NOT IN ('i', 'I', 'c')
ORDER BY n.nspname <> 'public', n.nspname
