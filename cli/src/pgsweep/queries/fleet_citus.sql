-- The nodes that Citus knows, as any node with its metadata has them.
SELECT nodeid, groupid, nodename::text AS nodename, nodeport, noderole::text AS noderole,
       isactive, shouldhaveshards
FROM pg_dist_node
ORDER BY groupid, noderole::text, nodeid
