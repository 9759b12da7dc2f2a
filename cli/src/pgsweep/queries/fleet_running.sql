-- What each running vacuum does, where fleet_node does not fit the version.
SELECT leader_pid, read_mb_per_s, dirty_mb_per_s, wal_mb_per_s FROM sweep.progress
