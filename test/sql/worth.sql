-- sweep.worth: which tables are followed, what is known of them when, and who may see it.
\set ECHO none
\getenv srcdir PG_ABS_SRCDIR
\set common :srcdir /sql/common.psql
\i :common
CREATE TABLE followed (i int PRIMARY KEY, k int) WITH (autovacuum_enabled = false);
CREATE INDEX ON followed (k);
CREATE TABLE unread (i int PRIMARY KEY, k int) WITH (autovacuum_enabled = false);
CREATE TABLE unchanged (i int PRIMARY KEY, k int) WITH (autovacuum_enabled = false);
CREATE TABLE unindexed (i int, k int) WITH (autovacuum_enabled = false);
CREATE TEMPORARY TABLE passing (i int PRIMARY KEY, k int);
INSERT INTO followed SELECT i, i FROM generate_series(1, 5000) i;
INSERT INTO unread SELECT i, i FROM generate_series(1, 5000) i;
INSERT INTO unchanged SELECT i, i FROM generate_series(1, 5000) i;
INSERT INTO unindexed SELECT i, i FROM generate_series(1, 5000) i;
INSERT INTO passing SELECT i, i FROM generate_series(1, 5000) i;
UPDATE followed SET k = k + 1 WHERE i % 5 = 0;
UPDATE unread SET k = k + 1 WHERE i % 5 = 0;
UPDATE unindexed SET k = k + 1 WHERE i % 5 = 0;
UPDATE passing SET k = k + 1 WHERE i % 5 = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT k FROM followed WHERE i = 7;
SELECT k FROM unchanged WHERE i = 7;
SELECT k FROM passing WHERE i = 7;
RESET enable_seqscan;
RESET enable_bitmapscan;
SELECT pg_stat_force_next_flush();

-- a survey finds what has index scans and changed rows
SELECT sweep.set('followed', 'min_interval', '1 h');
SELECT pg_temp.becomes_true($$ SELECT count(*) = 1 FROM sweep.worth WHERE relid = 'followed'::regclass $$);
SELECT relname FROM sweep.worth WHERE relname IN ('followed', 'unread', 'unchanged', 'unindexed', 'passing') ORDER BY 1;

-- a vacuum has to be seen first
SELECT schemaname, index_scans, blks_per_scan_clean, blks_per_scan, lost_blks, lost_reads, vacuum_blks, last_vacuum, breaks_even_at,
	blks_per_scan_before, blks_per_scan_after, saved_blks_per_hour, advice, basis
FROM sweep.worth WHERE relid = 'followed'::regclass;

-- and this session has to report what its vacuum has fetched
VACUUM followed;
SELECT pg_temp.becomes_true($$ SELECT basis LIKE 'not counted until%' AND vacuum_blks IS NOT NULL AND last_vacuum IS NOT NULL
	FROM sweep.worth WHERE relid = 'followed'::regclass $$);
SELECT blks_per_scan_before, blks_per_scan_after FROM sweep.runs WHERE relid = 'followed'::regclass AND command = 'VACUUM';

-- with another index all begins anew
CREATE INDEX followed_extra ON followed (i, k);
SELECT index_scans, lost_blks, last_vacuum, basis FROM sweep.worth WHERE relid = 'followed'::regclass;

-- another database's tables are not here, and what is gone is not
SELECT count(*) FROM sweep.worth w WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = w.relid);
DROP TABLE followed;
SELECT count(*) FROM sweep.worth WHERE relname = 'followed';

SELECT attname, format_type(atttypid, NULL) AS type FROM pg_attribute
WHERE attrelid = 'sweep.worth'::regclass AND attnum > 0 ORDER BY attnum;

-- who may see it
CREATE ROLE regress_sweep_nobody;
CREATE ROLE regress_sweep_monitor IN ROLE pg_monitor;
SET ROLE regress_sweep_nobody;
SELECT count(*) FROM sweep.worth;
SELECT count(*) FROM sweep_internal.get_worth();
SELECT count(*) FROM sweep_internal.get_run_worth();
SET ROLE regress_sweep_monitor;
SELECT count(*) >= 0 AS readable FROM sweep.worth;
RESET ROLE;
DROP ROLE regress_sweep_nobody, regress_sweep_monitor;
DROP TABLE unread, unchanged, unindexed, passing;
