-- The segments of Cloudberry or Greenplum. Only the coordinator knows them.
SELECT dbid::int4 AS dbid, content::int4 AS content, role::text AS role,
       preferred_role::text AS preferred_role, mode::text AS mode, status::text AS status,
       port::int4 AS port, hostname::text AS hostname, address::text AS address
FROM gp_segment_configuration
ORDER BY content, role DESC, dbid
