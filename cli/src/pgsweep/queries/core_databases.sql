SELECT oid AS datid, datname::text AS datname, age(datfrozenxid) AS xid_age,
       mxid_age(datminmxid) AS mxid_age, pg_stat_get_db_stat_reset_time(oid) AS stats_reset
FROM pg_database
ORDER BY age(datfrozenxid) DESC
