-- A running ANALYZE and VACUUM FULL seen from inside: by an index expression.
\set ECHO none
\getenv srcdir PG_ABS_SRCDIR
\set common :srcdir /sql/common.psql
\i :common


-- waits until the sampled row of this very process says what it is at, and keeps it
CREATE FUNCTION watch(a int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	p record;
BEGIN
	IF pg_catalog.current_setting('regress.watch', true) = 'on' THEN
		PERFORM pg_catalog.set_config('regress.watch', 'off', false);
		FOR i IN 1 .. 2000 LOOP
			SELECT *, g.relid IS NOT NULL AND g.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
					AND g.leader_pid IS NULL AND g.waiters OPERATOR(pg_catalog.=) 0 AND g.parallel_workers OPERATOR(pg_catalog.=) 0
					AND g.cost_limit IS NULL AND g.cost_delay IS NULL
					AND g.started_at OPERATOR(pg_catalog.<) pg_catalog.clock_timestamp()
					AND g.blks_hit OPERATOR(pg_catalog.+) g.blks_read OPERATOR(pg_catalog.>) 0 AS rest
				INTO p FROM sweep.progress g WHERE g.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid();
			EXIT WHEN p.relid IS NOT NULL AND p.limited_by OPERATOR(pg_catalog.=) 'nothing'
				AND p.phase OPERATOR(pg_catalog.=) ANY ('{computing statistics,rebuilding index}'::pg_catalog.text[]);
			PERFORM pg_catalog.pg_sleep(0.01);
		END LOOP;
		RAISE NOTICE '% % %.%: %, limited by %, eta by %, rest %', p.command, p.started_by, p.schemaname, p.relname,
			p.phase, p.limited_by, p.eta_basis, p.rest;
	END IF;
	RETURN a;
END
$$;
CREATE TABLE t (a int);
INSERT INTO t SELECT generate_series(1, 100);
CREATE INDEX ON t (watch(a));

SELECT count(*) FROM sweep.progress WHERE pid = pg_backend_pid();
SET regress.watch = on;
ANALYZE t;
SET regress.watch = on;
VACUUM FULL t;
SET regress.watch = on;
VACUUM (FULL, ANALYZE) t;
SET regress.watch = on;
VACUUM ANALYZE t;
SET regress.watch = on;
DO $$ BEGIN ANALYZE t; END $$;

-- by CREATE INDEX there is none
SET regress.watch = off;
SELECT count(*) FROM sweep.progress;
SELECT * FROM pg_temp.new_runs();

-- a vacuum may be cancelled, this one by itself
CREATE FUNCTION cancel(a int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF pg_catalog.current_setting('regress.watch', true) = 'on' THEN
		RAISE NOTICE 'cancelled: %', sweep.cancel(pg_catalog.pg_backend_pid());
		PERFORM pg_catalog.pg_sleep(20);
	END IF;
	RETURN a;
END
$$;
CREATE INDEX ON t (cancel(a));
DROP INDEX t_watch_idx;
SET regress.watch = on;
ANALYZE t;
VACUUM FULL t;
SELECT * FROM pg_temp.new_runs();
SELECT count(*) FROM sweep.progress;
DROP TABLE t;
DROP FUNCTION watch(int), cancel(int);
