-- ANALYZE is recorded too: on its own, in a block, in a function, of several tables.
\set ECHO none
\getenv srcdir PG_ABS_SRCDIR
\set common :srcdir /sql/common.psql
\i :common

CREATE TABLE t (a int, b text);
INSERT INTO t SELECT g, g FROM generate_series(1, 1000) g;
CREATE TABLE u AS SELECT * FROM t;
VACUUM t;
SELECT * FROM pg_temp.new_runs();

-- alone, several
ANALYZE t;
SELECT * FROM pg_temp.new_runs();
ANALYZE t (a);
SELECT * FROM pg_temp.new_runs();
ANALYZE t, u;
SELECT * FROM pg_temp.new_runs();
ANALYZE t, t;
SELECT * FROM pg_temp.new_runs();

-- in a block, and in one that is rolled back: the work was done all the same
BEGIN;
ANALYZE t;
SELECT * FROM pg_temp.new_runs();
ANALYZE u;
SELECT * FROM pg_temp.new_runs();
COMMIT;
SELECT * FROM pg_temp.new_runs();
BEGIN;
ANALYZE t;
ROLLBACK;
SELECT * FROM pg_temp.new_runs();

-- several in a block are one record, under the name of one
BEGIN;
ANALYZE t, u;
COMMIT;
SELECT command, relation IN ('public.t', 'public.u') AS one_of_them, outcome, strange FROM pg_temp.new_runs();

-- next to locks of the same strength, which ANALYZE has nothing to do with
CREATE TABLE locked (a int);
BEGIN;
LOCK TABLE locked IN SHARE UPDATE EXCLUSIVE MODE;
ANALYZE t;
ALTER TABLE locked SET (fillfactor = 90);
ANALYZE u;
COMMIT;
SELECT * FROM pg_temp.new_runs();

-- inside functions and procedures
CREATE FUNCTION analyze_both() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	ANALYZE t;
	ANALYZE u;
END
$$;
SELECT analyze_both();
SELECT * FROM pg_temp.new_runs();
CREATE PROCEDURE analyze_and_commit() LANGUAGE plpgsql AS $$
BEGIN
	ANALYZE t;
	COMMIT;
	ANALYZE u;
	ROLLBACK;
	ANALYZE t;
END
$$;
CALL analyze_and_commit();
SELECT * FROM pg_temp.new_runs();
DO $$ BEGIN FOR i IN 1 .. 3 LOOP ANALYZE t; END LOOP; END $$;
SELECT * FROM pg_temp.new_runs();

-- prepared, and through EXECUTE
DO $$ BEGIN EXECUTE 'ANALYZE public.t'; END $$;
SELECT * FROM pg_temp.new_runs();

-- by a search path, and a catalog
CREATE SCHEMA other;
CREATE TABLE other.t (a int);
SET search_path = other, public;
ANALYZE t;
ANALYZE public.t;
ANALYZE pg_tablespace;
RESET search_path;
SELECT * FROM pg_temp.new_runs();

-- a temporary table that hides another
CREATE TEMPORARY TABLE t (a int);
INSERT INTO t VALUES (1);
ANALYZE t;
SELECT * FROM pg_temp.new_runs();
DROP TABLE pg_temp.t;

-- an ANALYZE that only says why it does nothing
SET client_min_messages = error;
CREATE ROLE regress_sweep_other;
CREATE VIEW v AS SELECT 1 AS a;
ANALYZE v;
ANALYZE pg_statistic;
SET ROLE regress_sweep_other;
ANALYZE t;
ANALYZE t, u;
BEGIN;
ANALYZE t;
COMMIT;
RESET ROLE;
DROP VIEW v;
DROP ROLE regress_sweep_other;
RESET client_min_messages;
SELECT * FROM pg_temp.new_runs();

DROP FUNCTION analyze_both();
DROP PROCEDURE analyze_and_commit();
DROP TABLE other.t;
DROP SCHEMA other;
DROP TABLE t, u, locked;
