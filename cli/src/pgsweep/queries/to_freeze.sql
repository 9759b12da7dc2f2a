-- What pg_sweep freezes in this database within some days.
SELECT count(*) AS tables, coalesce(sum(greatest(pages - coalesce(frozen_pages, 0), 0)), 0) AS pages
FROM sweep.tables
WHERE freeze_time < now() + make_interval(days => %(days)s)
