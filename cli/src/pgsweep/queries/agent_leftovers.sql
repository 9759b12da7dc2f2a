-- Invalid indexes with the names that REINDEX CONCURRENTLY gives. Who is at work on one has a lock on its table.
SELECT i.indexrelid AS relid, i.indrelid AS table_relid, n.nspname::text AS schemaname, c.relname::text AS relname,
       quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS sql_name,
       EXISTS (SELECT FROM pg_locks l
               WHERE l.locktype = 'relation' AND l.relation IN (i.indexrelid, i.indrelid) AND l.pid <> pg_backend_pid()
                 AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
                 AND l.mode IN ('ShareUpdateExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock',
                                'ExclusiveLock', 'AccessExclusiveLock')) AS held
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT i.indisvalid AND c.relkind = 'i' AND c.relname ~ '_cc(new|old)[0-9]*$'
