-- VACUUM FULL rewrites a table and its TOAST table under one lock: one run.
\set ECHO none
\getenv srcdir PG_ABS_SRCDIR
\set common :srcdir /sql/common.psql
\i :common

CREATE TABLE plain (a int);
CREATE TABLE toasted (a int PRIMARY KEY, b text);
CREATE INDEX ON toasted (b);
CREATE INDEX ON toasted ((length(b)));
INSERT INTO plain SELECT generate_series(1, 1000);
INSERT INTO toasted SELECT g, g FROM generate_series(1, 1000) g;
CREATE MATERIALIZED VIEW mv AS SELECT * FROM toasted;
CREATE UNIQUE INDEX ON mv (a);
CREATE TEMPORARY TABLE temporary AS SELECT * FROM toasted;

VACUUM FULL plain;
SELECT * FROM pg_temp.new_runs();
VACUUM FULL toasted;
SELECT * FROM pg_temp.new_runs();
VACUUM (FULL, FREEZE) toasted;
SELECT * FROM pg_temp.new_runs();
VACUUM (FULL false) plain;
SELECT * FROM pg_temp.new_runs();
VACUUM (FULL on, ANALYZE) toasted;
SELECT * FROM pg_temp.new_runs();
VACUUM FULL plain, toasted;
SELECT * FROM pg_temp.new_runs();
VACUUM (FULL, ANALYZE) plain, toasted;
SELECT * FROM pg_temp.new_runs();
VACUUM FULL mv;
SELECT * FROM pg_temp.new_runs();
VACUUM FULL temporary;
SELECT * FROM pg_temp.new_runs();

-- a table with so many indexes that their locks are many
CREATE TABLE indexed (a int);
INSERT INTO indexed SELECT generate_series(1, 100);
DO $$ BEGIN FOR i IN 1 .. 100 LOOP EXECUTE 'CREATE INDEX ON indexed (a)'; END LOOP; END $$;
VACUUM FULL indexed;
SELECT * FROM pg_temp.new_runs();
DROP TABLE indexed;

-- catalogs: mapped, shared, with a TOAST table
VACUUM FULL pg_class;
VACUUM FULL pg_type;
VACUUM FULL pg_proc;
VACUUM FULL pg_database;
SELECT * FROM pg_temp.new_runs();

-- a TOAST table by its own name
\set ECHO none
SELECT format('VACUUM FULL %s', reltoastrelid::regclass) FROM pg_class WHERE relname = 'toasted'
\gexec
\set ECHO all
SELECT * FROM pg_temp.new_runs();

-- a whole database: each of its tables once, no TOAST tables
CREATE TEMPORARY TABLE expected (relid oid);
INSERT INTO expected SELECT oid FROM pg_class WHERE relkind IN ('r', 'm');
VACUUM FULL;
SELECT r.command, count(e.relid) = count(r.relid) AS each_once, count(e.relid) > 50 AS many,
	count(DISTINCT r.outcome) = 1 AS all_done, string_agg(pg_temp.strange(r), ', ') AS strange
FROM expected e FULL JOIN (SELECT * FROM sweep.runs
	WHERE run_id > current_setting('regress.mark')::bigint AND pid = pg_backend_pid()) r ON r.relid = e.relid
GROUP BY 1 ORDER BY 1;

DROP MATERIALIZED VIEW mv;
DROP TABLE plain, toasted;
