-- The row of sweep.status but for sql_version, whatever columns this version has. The first use of a
-- view costs a new session three times as much as the function under it, and of a fleet every
-- session is new.
SELECT * FROM sweep_internal.get_status()
