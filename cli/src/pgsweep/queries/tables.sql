SELECT {columns}
FROM sweep.tables, current_database() AS datname
WHERE %(relid)s::oid IS NULL OR relid = %(relid)s::oid
