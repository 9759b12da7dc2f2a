-- Whether Citus is in this database, and the group of this node. 0 is the coordinator's.
SELECT groupid FROM pg_dist_local_group
