-- The row of sweep.status but for sql_version, whatever columns this version has. The first use of a
-- view costs a new session three times as much as the function under it. Where the function is not
-- what it was, the view is asked (fleet/reader.py).
SELECT * FROM sweep_internal.get_status()
