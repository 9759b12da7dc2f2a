SELECT at, vacuums, read_mb_per_s, dirty_mb_per_s, wal_mb_per_s, cpu_pct, users_waiting,
       allowed_mb_per_s, floor_mb_per_s, binding, decision, reason
FROM sweep.governor
ORDER BY at DESC
LIMIT %(steps)s
