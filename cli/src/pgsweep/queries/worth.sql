SELECT {columns}
FROM sweep.worth, current_database() AS datname
WHERE %(relid)s::oid IS NULL OR relid = %(relid)s::oid
ORDER BY lost_reads DESC NULLS LAST, lost_blks DESC NULLS LAST, index_scans DESC NULLS LAST, schemaname, relname
