-- In the mode observe: what would be vacuumed, and why something would not be.
\set ECHO none
\getenv srcdir PG_ABS_SRCDIR
\set common :srcdir /sql/common.psql
\i :common

-- nobody looks while the tables are made
ALTER SYSTEM SET sweep.mode = off;
SELECT pg_reload_conf();
SELECT pg_temp.becomes_true('SELECT NOT pg_temp.is_metered() AND workers = 0 FROM sweep.status');
CREATE TABLE due (a int);
CREATE TABLE disabled (a int) WITH (autovacuum_enabled = false);
CREATE TABLE below (a int) WITH (autovacuum_vacuum_threshold = 1000);
CREATE TABLE quiet (a int);
CREATE TABLE earlier (a int) WITH (autovacuum_vacuum_threshold = 10);
CREATE TABLE inserted (a int) WITH (autovacuum_vacuum_insert_threshold = 100);
CREATE TABLE inserts_off (a int) WITH (autovacuum_vacuum_insert_threshold = -1);
INSERT INTO due SELECT generate_series(1, 900);
DELETE FROM due WHERE a <= 400;
INSERT INTO disabled SELECT generate_series(1, 900);
DELETE FROM disabled WHERE a <= 400;
INSERT INTO below SELECT generate_series(1, 900);
DELETE FROM below WHERE a <= 400;
INSERT INTO quiet SELECT generate_series(1, 900);
DELETE FROM quiet WHERE a <= 50;
INSERT INTO earlier SELECT generate_series(1, 900);
DELETE FROM earlier WHERE a <= 300;
INSERT INTO inserted SELECT generate_series(1, 2000);
INSERT INTO inserts_off SELECT generate_series(1, 2000);
SELECT pg_stat_force_next_flush();
ALTER SYSTEM RESET sweep.mode;
SELECT pg_reload_conf();

SELECT pg_temp.becomes_true($$
	SELECT count(*) = 6 FROM sweep.decisions
	WHERE datname = current_database() AND schemaname = 'public' AND times > 0
		AND relname IN ('due', 'disabled', 'below', 'quiet', 'earlier', 'inserted', 'inserts_off') $$);
-- only tables that are there: a dropped one of an earlier test stays until a survey
SELECT relname, decision, CASE relname WHEN 'inserts_off' THEN 'left out' ELSE reason END AS reason, dead_tuples, ins_since_vacuum, next_dead_tuples, next_ins_since_vacuum
FROM sweep.decisions WHERE datname = current_database() AND to_regclass(format('public.%I', relname)) = relid ORDER BY relname;
SELECT relname, relid = relname::regclass AS relid, first_at <= last_at AS times, not_before > last_at AS later
FROM sweep.decisions WHERE datname = current_database() AND to_regclass(format('public.%I', relname)) = relid ORDER BY relname;

-- nothing was vacuumed for it
SELECT count(*) AS by_sweep FROM sweep.runs WHERE started_by = 'sweep';
SELECT bool_and(vacuum_count = 0) AS none FROM pg_stat_user_tables WHERE schemaname = 'public';

-- what the scout sees
SELECT pg_temp.becomes_true('SELECT last_visit IS NOT NULL AND relations > 50 AND dead_tuples >= 400 FROM sweep.databases WHERE datname = current_database()');
SELECT datname, ours, reason, xid_age >= 0 AS xid_age, mxid_age >= 0 AS mxid_age FROM sweep.databases
WHERE datname IN ('template0', 'template1', 'postgres') ORDER BY 1;
SELECT mode, effective_mode, reason, launcher_pid IS NOT NULL AS launcher, rounds > 0 AS rounds, relations > 50 AS relations,
	worker_starts > 0 AS started, worker_start_failures AS failures, decisions_dropped, databases_dropped, recent_crashes,
	last_round_time >= 0 AND max_round_time >= last_round_time AS times, runs_save_error
FROM sweep.status;

DROP TABLE due, disabled, below, quiet, earlier, inserted, inserts_off;

-- a table of a billion rows is due from so many dead ones on, as from 18 on without us
CREATE TABLE billion (a int);
INSERT INTO billion VALUES (1);
SELECT pg_stat_force_next_flush();
UPDATE pg_class SET reltuples = 1e9 WHERE oid = 'billion'::regclass;
SELECT vacuum_threshold FROM sweep.tables WHERE relname = 'billion';
DROP TABLE billion;
