-- A run that raises an error or is cancelled is recorded with what it cost until then.
\set ECHO none
\getenv srcdir PG_ABS_SRCDIR
\set common :srcdir /sql/common.psql
\i :common

-- an index expression that raises when it is told to
CREATE FUNCTION picky(a int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF pg_catalog.current_setting('regress.raise', true) = 'on' THEN
		RAISE 'picky' USING ERRCODE = coalesce(nullif(current_setting('regress.code', true), ''), 'raise_exception');
	END IF;
	RETURN a;
END
$$;
CREATE TABLE t (a int);
INSERT INTO t SELECT generate_series(1, 100);
CREATE TABLE raises AS SELECT * FROM t;
CREATE INDEX ON raises (picky(a));
SET regress.raise = on;

VACUUM FULL raises;
SELECT * FROM pg_temp.new_runs();
ANALYZE raises;
SELECT * FROM pg_temp.new_runs();
VACUUM ANALYZE raises;
SELECT * FROM pg_temp.new_runs();

-- by what error it was: cancelled, skipped or failed
SET regress.code = 'query_canceled';
ANALYZE raises;
SET regress.code = 'admin_shutdown';
ANALYZE raises;
SET regress.code = 'deadlock_detected';
VACUUM FULL raises;
SET regress.code = 'lock_not_available';
VACUUM FULL raises;
SET regress.code = 'disk_full';
VACUUM FULL raises;
RESET regress.code;
SELECT * FROM pg_temp.new_runs();

-- those before it are done, those behind it are not begun
VACUUM FULL t, raises, t;
SELECT * FROM pg_temp.new_runs();
ANALYZE t, raises, t;
SELECT * FROM pg_temp.new_runs();

-- in a block
BEGIN;
ANALYZE raises;
SELECT 1;
ROLLBACK;
SELECT * FROM pg_temp.new_runs();
BEGIN;
ANALYZE t;
ANALYZE raises;
COMMIT;
SELECT * FROM pg_temp.new_runs();

-- caught: there is no record of it, and nothing is wrong afterwards
DO $$
BEGIN
	ANALYZE raises;
EXCEPTION WHEN raise_exception THEN
	ANALYZE t;
END
$$;
SELECT * FROM pg_temp.new_runs();
DO $$
BEGIN
	FOR i IN 1 .. 3 LOOP
		BEGIN
			ANALYZE raises;
		EXCEPTION WHEN raise_exception THEN
			NULL;
		END;
	END LOOP;
END
$$;
BEGIN;
SAVEPOINT a;
ANALYZE raises;
ROLLBACK TO a;
ANALYZE t;
COMMIT;
SELECT * FROM pg_temp.new_runs();
SELECT count(*) FROM sweep.progress WHERE pid = pg_backend_pid();
VACUUM ANALYZE t;
SELECT * FROM pg_temp.new_runs();

-- commands that fail before they have a table
VACUUM nosuch;
ANALYZE nosuch;
VACUUM (FULL, PARALLEL 2) t;
VACUUM (nosuch) t;
VACUUM t (a);
BEGIN;
VACUUM t;
ROLLBACK;
-- the texts of these differ between majors
\set VERBOSITY sqlstate
VACUUM (PARALLEL -1) t;
DO $$ BEGIN EXECUTE 'VACUUM public.t'; END $$;
\set VERBOSITY terse
SELECT * FROM pg_temp.new_runs();
-- it has its table, and may or may not count as begun
ANALYZE t (nosuch);
SELECT count(*) AS other_runs FROM pg_temp.new_runs() WHERE (relation, outcome) <> ('public.t', 'failed');
RESET regress.raise;

-- cancelled: VACUUM sleeps after every page, ANALYZE too
CREATE TABLE large (a int);
INSERT INTO large SELECT generate_series(1, 200000);
SET vacuum_cost_delay = 2;
SET vacuum_cost_limit = 1;
SET statement_timeout = '1s';
VACUUM large;
ANALYZE large;
RESET statement_timeout;
SELECT command, relname, outcome, pg_temp.strange(r) AS strange, cost_limit, cost_delay,
	delay_time > 0 AND sleep_pct > 0 AS slept, cost_per_s BETWEEN 1 AND 50000 AS slow,
	ended_at - started_at BETWEEN interval '0.5 s' AND interval '20 s' AS until_then
FROM sweep.runs r WHERE run_id > current_setting('regress.mark')::bigint ORDER BY run_id;
SELECT count(*) FROM pg_temp.new_runs();
RESET vacuum_cost_delay;
RESET vacuum_cost_limit;

-- and after all that a VACUUM is a VACUUM
VACUUM large;
SELECT * FROM pg_temp.new_runs();
SELECT cost_limit, cost_delay, delay_time FROM sweep.runs ORDER BY run_id DESC LIMIT 1;

DROP TABLE t, raises, large;
DROP FUNCTION picky(int);
