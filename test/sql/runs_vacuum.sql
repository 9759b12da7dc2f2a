-- Every table that VACUUM processes is one run: a TOAST table and the ANALYZE of a
-- VACUUM ANALYZE have their own.
\set ECHO none
\getenv srcdir PG_ABS_SRCDIR
\set common :srcdir /sql/common.psql
\i :common

CREATE TABLE plain (a int PRIMARY KEY, b int);
CREATE TABLE toasted (a int PRIMARY KEY, b text);
CREATE UNLOGGED TABLE unlogged (a int);
INSERT INTO plain SELECT g, g FROM generate_series(1, 1000) g;
INSERT INTO toasted SELECT g, g FROM generate_series(1, 1000) g;
INSERT INTO unlogged SELECT generate_series(1, 1000);

-- one table, with and without a TOAST table
VACUUM plain;
SELECT * FROM pg_temp.new_runs();
VACUUM toasted;
SELECT * FROM pg_temp.new_runs();
VACUUM unlogged;
SELECT * FROM pg_temp.new_runs();

-- both records told apart
VACUUM ANALYZE plain;
SELECT * FROM pg_temp.new_runs();
VACUUM ANALYZE toasted (a);
SELECT * FROM pg_temp.new_runs();

-- several tables in one command, one of them twice
VACUUM plain, toasted, unlogged;
SELECT * FROM pg_temp.new_runs();
VACUUM ANALYZE plain, toasted;
SELECT * FROM pg_temp.new_runs();
VACUUM plain, plain;
SELECT * FROM pg_temp.new_runs();
VACUUM toasted, toasted;
SELECT * FROM pg_temp.new_runs();

-- options
VACUUM (PROCESS_TOAST false) toasted;
SELECT * FROM pg_temp.new_runs();
VACUUM (FREEZE, VERBOSE false) plain;
SELECT * FROM pg_temp.new_runs();
VACUUM (INDEX_CLEANUP off, TRUNCATE off, PARALLEL 0) plain;
SELECT * FROM pg_temp.new_runs();
VACUUM (DISABLE_PAGE_SKIPPING, SKIP_LOCKED) toasted;
SELECT * FROM pg_temp.new_runs();
VACUUM (ANALYZE false, FULL false) plain;
SELECT * FROM pg_temp.new_runs();

-- how often the indexes were gone through: with garbage everywhere once, else not at all
DELETE FROM plain WHERE a % 2 = 0;
SELECT pg_temp.becomes_true('SELECT count(*) = 0 FROM sweep_internal.get_horizon_holders()') AS nobody_needs_them;
VACUUM (INDEX_CLEANUP on) plain;
VACUUM plain;
VACUUM (ANALYZE, INDEX_CLEANUP on) plain;
SELECT command, index_pass FROM sweep.runs WHERE run_id > current_setting('regress.mark')::bigint ORDER BY run_id;
SELECT * FROM pg_temp.new_runs();

-- a TOAST table by its own name
\set ECHO none
SELECT format('VACUUM %s', reltoastrelid::regclass) FROM pg_class WHERE relname = 'toasted'
\gexec
\set ECHO all
SELECT * FROM pg_temp.new_runs();

-- catalogs, shared ones too
VACUUM pg_catalog.pg_am;
VACUUM pg_catalog.pg_tablespace;
SELECT * FROM pg_temp.new_runs();

-- a materialized view
CREATE MATERIALIZED VIEW mv AS SELECT * FROM plain;
VACUUM ANALYZE mv;
SELECT * FROM pg_temp.new_runs();

-- temporary tables: their blocks are counted as well
CREATE TEMPORARY TABLE temporary (a int PRIMARY KEY);
INSERT INTO temporary SELECT generate_series(1, 1000);
VACUUM ANALYZE temporary;
SELECT * FROM pg_temp.new_runs();

-- names are kept as they are
CREATE SCHEMA "we.ird";
CREATE TABLE "we.ird"."t""a b
c.é" (a int);
VACUUM ANALYZE "we.ird"."t""a b
c.é";
SELECT * FROM pg_temp.new_runs();
CREATE TABLE a23456789_123456789_123456789_123456789_123456789_123456789_123 (a int);
VACUUM a23456789_123456789_123456789_123456789_123456789_123456789_123;
SELECT * FROM pg_temp.new_runs();

-- renamed: the name that it had
ALTER TABLE a23456789_123456789_123456789_123456789_123456789_123456789_123 RENAME TO renamed;
SELECT relname FROM sweep.runs ORDER BY run_id DESC LIMIT 1;
DROP TABLE renamed;
SELECT relname FROM sweep.runs ORDER BY run_id DESC LIMIT 1;

-- nothing to vacuum
CREATE VIEW v AS SELECT 1 AS a;
CREATE SEQUENCE s;
SET client_min_messages = error;
VACUUM v;
VACUUM s;
RESET client_min_messages;
SELECT * FROM pg_temp.new_runs();

-- a whole database: each of its tables once, nothing else
CREATE TEMPORARY TABLE expected (relid oid, command text);
INSERT INTO expected SELECT oid AS relid, 'VACUUM' AS command FROM pg_class WHERE relkind IN ('r', 'm', 't')
	UNION ALL
	SELECT oid, 'ANALYZE' FROM pg_class WHERE relkind IN ('r', 'm') AND oid <> 'pg_statistic'::regclass;
VACUUM ANALYZE;
SELECT coalesce(e.command, r.command) AS command, count(e.relid) = count(r.relid) AS each_once,
	count(e.relid) > 50 AS many, count(DISTINCT r.outcome) = 1 AS all_done,
	string_agg(pg_temp.strange(r), ', ') AS strange
FROM expected e FULL JOIN (SELECT * FROM sweep.runs
	WHERE run_id > current_setting('regress.mark')::bigint AND pid = pg_backend_pid()) r
	ON r.relid = e.relid AND r.command = e.command
GROUP BY 1 ORDER BY 1;

DROP MATERIALIZED VIEW mv;
DROP VIEW v;
DROP SEQUENCE s;
SET client_min_messages = error;
DROP SCHEMA "we.ird" CASCADE;
DROP TABLE plain, toasted, unlogged;
