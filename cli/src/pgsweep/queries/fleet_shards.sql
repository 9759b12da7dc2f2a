-- Where the shards of Citus' tables are: of all, or of one. A partition's shards count as its
-- partitioned table's, whose own shards have no rows and are left out. So are names that this
-- database has no table for.
SELECT ln.nspname::text AS schemaname, lc.relname::text AS relname,
       sc.relname::text AS part_relname, sn.nspname::text AS shard_schemaname,
       pg_catalog.shard_name(s.logicalrelid, s.shardid)::text AS shard_sql_name,
       p.groupid
FROM pg_dist_shard s
     JOIN pg_dist_placement p ON p.shardid = s.shardid
     JOIN pg_class sc ON sc.oid = s.logicalrelid
     JOIN pg_namespace sn ON sn.oid = sc.relnamespace
     JOIN pg_class lc ON lc.oid = coalesce(pg_partition_root(s.logicalrelid), s.logicalrelid)
     JOIN pg_namespace ln ON ln.oid = lc.relnamespace
WHERE p.shardstate = 1 AND sc.relkind = 'r'
  AND (%(relid)s::oid IS NULL OR s.logicalrelid = %(relid)s::oid OR lc.oid = %(relid)s::oid)
ORDER BY p.groupid, s.shardid
