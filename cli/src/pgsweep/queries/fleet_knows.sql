-- Whether this database knows other nodes: those of Citus, or segments of Cloudberry.
SELECT to_regclass('pg_dist_node') IS NOT NULL AS citus,
       to_regclass('gp_segment_configuration') IS NOT NULL AS segments
