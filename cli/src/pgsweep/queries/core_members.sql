-- A segment has 32 pages of 409 groups of 4 members.
SELECT 52352 * count(*) AS used, 4294967295 AS stop_at FROM pg_ls_dir('pg_multixact/members')
