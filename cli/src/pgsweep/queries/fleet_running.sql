-- What each running vacuum does. It asks the function under sweep.progress, as fleet_status does.
SELECT leader_pid, read_mb_per_s, dirty_mb_per_s, wal_mb_per_s FROM sweep_internal.get_progress()
