-- Every setting: its range, who may change it, and what is refused.
\set ECHO none
\getenv srcdir PG_ABS_SRCDIR
\set common :srcdir /sql/common.psql
\i :common

SELECT name, vartype, unit, boot_val, min_val, max_val, enumvals, context
FROM pg_settings WHERE name LIKE 'sweep.%' ORDER BY name;
SELECT count(*) AS without_description FROM pg_settings WHERE name LIKE 'sweep.%' AND coalesce(short_desc, '') !~ '\.$';

-- neither a session, nor a role, a database or a function can set one
SET sweep.mode = off;
SET sweep.databases = 'x';
SET sweep.naptime = '2s';
SET sweep.max_runs = 500;
SET LOCAL sweep.process_title = on;
SELECT set_config('sweep.max_workers', '5', false);
SELECT format('ALTER DATABASE %I SET sweep.mode = off', current_database()) AS command \gset
:command;
ALTER ROLE CURRENT_USER SET sweep.mode = off;
ALTER ROLE ALL SET sweep.naptime = '2s';
CREATE FUNCTION f() RETURNS int LANGUAGE sql SET sweep.mode = off AS 'SELECT 1';
SET sweep.nosuch = 1;
ALTER ROLE CURRENT_USER SET sweep.nosuch = 1;
SELECT count(*) AS stored FROM pg_db_role_setting WHERE setconfig::text LIKE '%sweep%';

-- nor a role that was given the right to
SET client_min_messages = error;
CREATE ROLE regress_sweep_other;
RESET client_min_messages;
GRANT SET ON PARAMETER sweep.mode TO regress_sweep_other;
SET ROLE regress_sweep_other;
SET sweep.mode = off;
ALTER SYSTEM SET sweep.mode = off;
RESET ROLE;
REVOKE SET ON PARAMETER sweep.mode FROM regress_sweep_other;
DROP ROLE regress_sweep_other;

-- out of range: where there is a unit, the message is another one on every major
ALTER SYSTEM SET sweep.mode = 'on';
ALTER SYSTEM SET sweep.mode = '';
ALTER SYSTEM SET sweep.process_title = 'maybe';
ALTER SYSTEM SET sweep.max_workers = -1;
ALTER SYSTEM SET sweep.max_workers = 33;
ALTER SYSTEM SET sweep.max_workers = 'two';
ALTER SYSTEM SET sweep.max_runs = 99;
ALTER SYSTEM SET sweep.max_runs = 1000001;
ALTER SYSTEM SET sweep.history_days = 0;
ALTER SYSTEM SET sweep.history_days = 401;
ALTER SYSTEM SET sweep.max_decisions = 1023;
ALTER SYSTEM SET sweep.max_decisions = 10000001;
\set VERBOSITY sqlstate
ALTER SYSTEM SET sweep.naptime = '99ms';
ALTER SYSTEM SET sweep.naptime = '3601s';
ALTER SYSTEM SET sweep.min_interval = -2;
ALTER SYSTEM SET sweep.min_interval = '25h';
ALTER SYSTEM SET sweep.naptime = '1 parsec';
\set VERBOSITY terse
ALTER SYSTEM SET sweep.write_limit = -1;
ALTER SYSTEM SET sweep.device_utilization = 101;
ALTER SYSTEM SET sweep.floor = 0;
ALTER SYSTEM SET sweep.max_replica_lag = '100';
ALTER SYSTEM SET sweep.max_replica_lag = '5 apples';
ALTER SYSTEM SET sweep.max_replica_lag = '-5s';
ALTER SYSTEM SET sweep.reclaim_rate = 'some';
ALTER SYSTEM SET sweep.reclaim_rate = '-1';
ALTER SYSTEM SET sweep.windows = 'at night';
ALTER SYSTEM SET sweep.ignore_standbys = 'a,,b';
ALTER SYSTEM SET sweep.standby_conflicts = 'some';

-- lists of databases
\set VERBOSITY default
ALTER SYSTEM SET sweep.databases = 'a,,b';
ALTER SYSTEM SET sweep.exclude_databases = '"open';
\set VERBOSITY terse
ALTER SYSTEM SET sweep.databases = ',';
ALTER SYSTEM SET sweep.databases = ',a';
ALTER SYSTEM SET sweep.databases = 'a,';
ALTER SYSTEM SET sweep.databases = '""';
ALTER SYSTEM SET sweep.databases = 'a"b';
ALTER SYSTEM SET sweep.databases = '"a"b';
ALTER SYSTEM SET sweep.databases = '"a" b';
ALTER SYSTEM SET sweep.databases = '"a"",b';
ALTER SYSTEM SET sweep.databases = 'a23456789_123456789_123456789_123456789_123456789_123456789_1234';
ALTER SYSTEM SET sweep.databases = '"a23456789_123456789_123456789_123456789_123456789_123456789_1234"';

-- nothing of that was written
SELECT count(*) AS written FROM pg_file_settings WHERE name LIKE 'sweep.%' AND sourcefile ~ 'postgresql.auto.conf';

-- which databases are ours: names as they are, no folding of case
SET client_min_messages = error;
DROP DATABASE IF EXISTS "regress_sweep_A,b""c";
CREATE DATABASE "regress_sweep_A,b""c";
RESET client_min_messages;
-- waits until they are those of three; the database of this test is called "this"
CREATE FUNCTION pg_temp.ours_become(names text) RETURNS boolean LANGUAGE sql AS $$
	SELECT pg_temp.becomes_true(format($q$ SELECT coalesce(string_agg(n, ' ' ORDER BY n), 'none') = %L
		FROM (SELECT CASE datname WHEN current_database() THEN 'this' WHEN 'regress_sweep_A,b"c' THEN 'odd' ELSE datname::text END AS n
			FROM sweep.databases WHERE ours AND datname IN ('postgres', current_database(), 'regress_sweep_A,b"c')) AS d $q$, names))
$$;
-- a new database is noticed within ten seconds, and at a reload
SELECT pg_reload_conf();
SELECT pg_temp.ours_become('odd postgres this');
ALTER SYSTEM SET sweep.databases = '  "regress_sweep_A,b""c" , postgres,nosuch';
SELECT pg_reload_conf();
SELECT pg_temp.ours_become('odd postgres');
SELECT ours, reason FROM sweep.databases WHERE datname = current_database();
ALTER SYSTEM SET sweep.databases = 'Postgres,"regress_sweep_a,b""c", regress_sweep_A';
SELECT pg_reload_conf();
SELECT pg_temp.ours_become('none');
ALTER SYSTEM SET sweep.databases = '';
SELECT pg_reload_conf();
SELECT pg_temp.ours_become('none');
ALTER SYSTEM SET sweep.databases = '"*"';
SELECT pg_reload_conf();
SELECT pg_temp.ours_become('none');
ALTER SYSTEM SET sweep.databases = '*';
ALTER SYSTEM SET sweep.exclude_databases = '"regress_sweep_A,b""c"';
SELECT pg_reload_conf();
SELECT pg_temp.ours_become('postgres this');
ALTER SYSTEM SET sweep.exclude_databases = '*';
SELECT pg_reload_conf();
SELECT pg_temp.ours_become('none');
ALTER SYSTEM RESET sweep.databases;
ALTER SYSTEM RESET sweep.exclude_databases;
SELECT pg_reload_conf();
SELECT pg_temp.ours_become('odd postgres this');
DROP DATABASE "regress_sweep_A,b""c";

-- the others: a database that accepts no connections is not ours
SELECT ours, reason FROM sweep.databases WHERE datname = 'template0';

-- off stops the metering as well, and on again starts it
CREATE TABLE t (a int);
SELECT pg_temp.is_metered();
ALTER SYSTEM SET sweep.mode = off;
SELECT pg_reload_conf();
SELECT pg_temp.becomes_true('SELECT NOT pg_temp.is_metered() AND workers = 0 FROM sweep.status');
SHOW sweep.mode;
SELECT mode, effective_mode, reason, workers FROM sweep.status;
VACUUM ANALYZE t;
VACUUM FULL t;
SELECT count(*) AS recorded FROM pg_temp.new_runs() WHERE command <> 'ANALYZE';
ALTER SYSTEM RESET sweep.mode;
SELECT pg_reload_conf();
SELECT pg_temp.becomes_true('SELECT pg_temp.is_metered()');
SELECT mode, effective_mode, reason FROM sweep.status;
VACUUM t;
SELECT command, relation, outcome FROM pg_temp.new_runs() ORDER BY command DESC LIMIT 1;
DROP TABLE t;
