SELECT datname::text AS datname FROM pg_database
WHERE datallowconn AND NOT datistemplate AND has_database_privilege(oid, 'CONNECT')
ORDER BY age(datfrozenxid) DESC, datname
