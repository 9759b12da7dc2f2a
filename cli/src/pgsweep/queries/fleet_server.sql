-- What any server says of itself, and how old its databases are: a row for each of them. A first use
-- of anything is looked up in catalogs, and of a fleet every session is new. So here is as little as
-- can be that is looked up. What is sorted, chosen or cast is so in Python.
SELECT CURRENT_TIMESTAMP AS now,
       CURRENT_CATALOG AS dbname,
       CURRENT_USER AS role,
       pg_is_in_recovery() AS in_recovery,
       pg_postmaster_start_time() AS started_at,
       oid AS datid, datname, age(datfrozenxid) AS xid_age, mxid_age(datminmxid) AS mxid_age
FROM pg_database
