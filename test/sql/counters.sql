-- What is counted: blocks, cost, WAL, in full and only once.
\set ECHO none
\getenv srcdir PG_ABS_SRCDIR
\set common :srcdir /sql/common.psql
\i :common

-- few local buffers, so that temporary tables have to be read, too
SET temp_buffers = '800kB';

-- one row to a page: 200 pages, all on disk and clean
CREATE TABLE t (a int, b text) WITH (fillfactor = 10, autovacuum_enabled = off);
ALTER TABLE t ALTER b SET STORAGE PLAIN;
INSERT INTO t SELECT g, repeat('x', 5000) FROM generate_series(1, 200) g;
CREATE VIEW last AS SELECT * FROM sweep.runs ORDER BY run_id DESC LIMIT 1;
SELECT pg_relation_size('t') / current_setting('block_size')::int AS pages;
SELECT pg_temp.becomes_true('SELECT count(*) = 0 FROM sweep_internal.get_horizon_holders()') AS nobody_needs_them;
VACUUM (FREEZE, PROCESS_TOAST false) t;
SELECT pages, blks_hit + blks_read >= 200 AS all_visited, blks_dirtied BETWEEN 0 AND 220 AS dirtied FROM last;

-- all visible and frozen: next to nothing to do
VACUUM (PROCESS_TOAST false) t;
SELECT pages, blks_hit + blks_read BETWEEN 1 AND 150 AS few_visited, blks_dirtied AS dirtied,
	tuples_removed, dead_not_removable FROM last;

-- every second row: each of those pages is dirtied once (they are clean before), and with
-- them the visibility map, the free space map, pg_class
DELETE FROM t WHERE a % 2 = 0;
CHECKPOINT;
SELECT pg_temp.becomes_true('SELECT count(*) = 0 FROM sweep_internal.get_horizon_holders()') AS nobody_needs_them;
VACUUM (PROCESS_TOAST false, TRUNCATE off) t;
SELECT command, pages, blks_hit + blks_read BETWEEN 100 AND 1000 AS visited, blks_dirtied BETWEEN 100 AND 115 AS dirtied,
	wal_records BETWEEN 100 AND 400 AS records, wal_fpi BETWEEN 100 AND 115 AS images,
	wal_bytes > 100 * 24 AS bytes, dead_not_removable, outcome FROM last;

-- a table that is not logged writes no WAL of its own
CREATE UNLOGGED TABLE unlogged (LIKE t INCLUDING STORAGE);
INSERT INTO unlogged SELECT * FROM t;
DELETE FROM unlogged;
CHECKPOINT;
SELECT pg_temp.becomes_true('SELECT count(*) = 0 FROM sweep_internal.get_horizon_holders()') AS nobody_needs_them;
VACUUM (PROCESS_TOAST false, TRUNCATE off) unlogged;
SELECT blks_hit + blks_read BETWEEN 100 AND 1000 AS visited, wal_records BETWEEN 1 AND 20 AS few_records FROM last;

-- temporary tables: local blocks
CREATE TEMPORARY TABLE temporary (LIKE t INCLUDING STORAGE);
INSERT INTO temporary SELECT t.* FROM t CROSS JOIN generate_series(1, 4);
DELETE FROM temporary;
VACUUM (PROCESS_TOAST false, TRUNCATE off) temporary;
SELECT pages, blks_hit BETWEEN 300 AND 2500 AS hit, blks_read BETWEEN 300 AND 1000 AS read,
	blks_dirtied BETWEEN 300 AND 1000 AS dirtied, wal_records BETWEEN 0 AND 20 AS few_records FROM last;

-- cost, by the settings in force for that run
SET vacuum_cost_page_hit = 3;
SET vacuum_cost_page_miss = 17;
SET vacuum_cost_page_dirty = 101;
DELETE FROM t WHERE a % 3 = 0;
CHECKPOINT;
SELECT pg_temp.becomes_true('SELECT count(*) = 0 FROM sweep_internal.get_horizon_holders()') AS nobody_needs_them;
VACUUM (PROCESS_TOAST false, TRUNCATE off) t;
RESET vacuum_cost_page_hit;
RESET vacuum_cost_page_miss;
RESET vacuum_cost_page_dirty;
SELECT cost = 3 * blks_hit + 17 * blks_read + 101 * blks_dirtied AS cost, cost > 30 * 101 AS large FROM last;
SET vacuum_cost_page_hit = 0;
SET vacuum_cost_page_miss = 0;
SET vacuum_cost_page_dirty = 0;
ANALYZE t;
SELECT cost FROM last;
RESET vacuum_cost_page_hit;
RESET vacuum_cost_page_miss;
RESET vacuum_cost_page_dirty;

-- a run too short for a sample: it has slept for the limits that it used up, and no more
CREATE TABLE naps AS SELECT g AS a, repeat('x', 500) FROM generate_series(1, 600) g;
SET vacuum_cost_delay = '0.5ms';
SET vacuum_cost_limit = 10000;
VACUUM (PROCESS_TOAST false) naps;
SELECT delay_time, coalesce(sleep_pct, 0) AS sleep_pct FROM last;
DELETE FROM naps WHERE a % 5 = 0;
SET vacuum_cost_limit = 10;
VACUUM (PROCESS_TOAST false) naps;
SELECT delay_time BETWEEN 0.2 * 0.5 * cost / 10 AND 0.5 * cost / 10 + 2 AS slept, delay_time > 1 AS a_while FROM last;
RESET vacuum_cost_delay;
RESET vacuum_cost_limit;
VACUUM (PROCESS_TOAST false) naps;
DROP TABLE naps;

-- the limit in force, NULL when there is none
SELECT cost_limit, cost_delay, delay_time FROM last;
SET vacuum_cost_delay = '0.1ms';
SET vacuum_cost_limit = 9999;
VACUUM (PROCESS_TOAST false) t;
SELECT cost_limit, cost_delay FROM last;
VACUUM (PROCESS_TOAST false, ANALYZE) t;
SELECT command, cost_limit, cost_delay FROM last;
RESET vacuum_cost_delay;
RESET vacuum_cost_limit;

-- rates are the counters by the time, of a run that takes some
SET vacuum_cost_delay = 2;
SET vacuum_cost_limit = 1;
VACUUM (PROCESS_TOAST false, DISABLE_PAGE_SKIPPING) t;
RESET vacuum_cost_delay;
RESET vacuum_cost_limit;
SELECT abs(cost_per_s - cost / s) <= 1e-6 * cost_per_s AS cost_per_s,
	abs(read_mb_per_s - blks_read * mb / s) <= 1e-6 * read_mb_per_s AS read_mb_per_s,
	abs(dirty_mb_per_s - blks_dirtied * mb / s) <= 1e-6 * dirty_mb_per_s AS dirty_mb_per_s,
	abs(wal_mb_per_s - wal_bytes::float8 / 1048576 / s) <= 1e-6 * wal_mb_per_s AS wal_mb_per_s
FROM last, LATERAL (SELECT extract(epoch FROM ended_at - started_at)::float8 AS s,
	current_setting('block_size')::float8 / 1048576 AS mb) AS x;

-- the work of a session before and between its runs is not theirs
CREATE TABLE empty (a int);
SELECT count(*) FROM t;
UPDATE t SET a = a + 1;
VACUUM (PROCESS_TOAST false) empty;
SELECT blks_hit + blks_read < 150 AS few, blks_dirtied < 10 AS clean, wal_records < 20 AS few_records FROM last;
BEGIN;
UPDATE t SET a = a + 1;
ANALYZE empty;
UPDATE t SET a = a + 1;
COMMIT;
SELECT command, blks_hit + blks_read < 150 AS few, blks_dirtied < 10 AS clean, wal_records < 20 AS few_records FROM last;
SELECT pg_temp.becomes_true('SELECT count(*) = 0 FROM sweep_internal.get_horizon_holders()') AS nobody_needs_them;
VACUUM (PROCESS_TOAST false) t, empty;
SELECT relname, blks_hit + blks_read < 150 AS few, blks_dirtied < 10 AS clean FROM last;

SELECT bool_and(dead_not_removable = 0) AS none_left FROM sweep.runs
WHERE pid = pg_backend_pid() AND relname IN ('t', 'empty', 'unlogged') AND command = 'VACUUM'
	AND run_id > current_setting('regress.mark')::bigint;

-- what parallel workers do is part of the one run, and they have none of their own
CREATE TABLE indexed AS SELECT g AS a, g AS b FROM generate_series(1, 20000) g;
CREATE INDEX ON indexed (a);
CREATE INDEX ON indexed (b);
ALTER TABLE indexed SET (autovacuum_enabled = off);
VACUUM indexed;
DELETE FROM indexed WHERE a % 2 = 0;
SET min_parallel_index_scan_size = 0;
SET max_parallel_maintenance_workers = 2;
SELECT max(run_id) AS before_id FROM sweep.runs \gset
CHECKPOINT;
SELECT pg_temp.becomes_true('SELECT count(*) = 0 FROM sweep_internal.get_horizon_holders()') AS nobody_needs_them;
VACUUM (PARALLEL 2) indexed;
SELECT count(*) AS runs, min(command) AS command, sum(blks_hit + blks_read) BETWEEN max(s.pages) AND 4 * max(s.pages) AS visited,
	sum(blks_dirtied) BETWEEN max(s.pages) * 0.9 AND max(s.pages) * 1.1 AS dirtied
FROM sweep.runs, (SELECT sum(relpages) AS pages FROM pg_class WHERE relname ~ '^indexed') AS s
WHERE run_id > :before_id AND relname = 'indexed';
RESET min_parallel_index_scan_size;
RESET max_parallel_maintenance_workers;

-- run_id grows by one, and nothing is twice in the view
SELECT count(*) > 10 AS many, count(DISTINCT run_id) = count(*) AS each_once FROM sweep.runs;

-- forget it all, but the numbers go on
SELECT max(run_id) AS last_id FROM sweep.runs \gset
SELECT sweep.reset_runs();
SELECT count(*) FROM sweep.runs;
SELECT runs FROM sweep.status;
VACUUM empty;
SELECT count(*), min(run_id) > :last_id AS new_number FROM sweep.runs;
BEGIN;
SELECT sweep.reset_runs();
ROLLBACK;
SELECT count(*) AS not_undone FROM sweep.runs;

DROP VIEW last;
DROP TABLE t, unlogged, empty, indexed;
