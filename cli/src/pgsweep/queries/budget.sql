SELECT name, setting, unit, configured, measured, allowed_mb_per_s, binding, sensor, detail
FROM sweep.budget
