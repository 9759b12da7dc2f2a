-- What this role may do to these tables and indexes of this database.
-- A role that has pg_maintain or MAINTAIN may vacuum and rebuild, but only an owner may drop what a
-- REINDEX CONCURRENTLY has left behind.
SELECT c.oid AS relid,
       pg_has_role(c.relowner, 'USAGE') AS owned,
       pg_has_role(c.relowner, 'USAGE')
         OR (d.owned AND NOT c.relisshared)
         OR pg_has_role('pg_maintain', 'USAGE') -- from 17
         OR (c.relkind <> 'i' AND has_table_privilege(c.oid, 'MAINTAIN')) -- from 17
         AS maintained
FROM pg_class c,
     (SELECT pg_has_role(datdba, 'USAGE') AS owned FROM pg_database WHERE datname = current_database()) d
WHERE c.oid = ANY (%(relids)s::oid[])
