SELECT {columns}
FROM sweep.trial, CAST(current_setting('block_size') AS int) AS block_size
ORDER BY vacuums DESC, autovacuums DESC, datname, schemaname, relname
