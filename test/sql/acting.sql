-- Functions that act, where nothing acts: what they refuse, and what they write.
\set ECHO none
\getenv srcdir PG_ABS_SRCDIR
\set common :srcdir /sql/common.psql
\i :common
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS pg_sweep;
CREATE ROLE regress_sweep_owner;
CREATE ROLE regress_sweep_other;
RESET client_min_messages;
GRANT USAGE ON SCHEMA sweep TO regress_sweep_owner, regress_sweep_other;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA sweep TO regress_sweep_owner, regress_sweep_other;
CREATE SCHEMA acting;
SET search_path = acting;
GRANT ALL ON SCHEMA acting TO regress_sweep_owner;
GRANT USAGE ON SCHEMA acting TO regress_sweep_other;
SET ROLE regress_sweep_owner;
CREATE TABLE plain (a int);
CREATE TABLE wide (a text);
CREATE INDEX plain_a ON plain (a);
CREATE VIEW v AS SELECT * FROM plain;
CREATE MATERIALIZED VIEW mv AS SELECT * FROM plain;
CREATE SEQUENCE seq;
CREATE TABLE parted (a int) PARTITION BY RANGE (a);
CREATE TABLE part1 PARTITION OF parted FOR VALUES FROM (0) TO (1);
RESET ROLE;
CREATE TEMPORARY TABLE temporary (a int);
CREATE FOREIGN DATA WRAPPER regress_sweep_fdw;
CREATE SERVER regress_sweep_server FOREIGN DATA WRAPPER regress_sweep_fdw;
CREATE FOREIGN TABLE far (a int) SERVER regress_sweep_server;
\set VERBOSITY default

-- in observe mode nobody would serve a request
SELECT sweep.vacuum('plain');
SELECT sweep.vacuum('wide', aux => true);
SELECT count(*) AS requests FROM sweep.queue WHERE request_id IS NOT NULL;

-- what cannot be vacuumed, and by whom
\set VERBOSITY terse
SELECT sweep.vacuum('plain_a');
SELECT sweep.vacuum('v');
SELECT sweep.vacuum('seq');
SELECT sweep.vacuum('far');
SELECT sweep.vacuum('temporary');
SELECT sweep.vacuum('missing');
SELECT sweep.vacuum(1::regclass);
SELECT sweep.vacuum(NULL) IS NULL AS null_is_null;
SET ROLE regress_sweep_other;
SELECT sweep.vacuum('acting.plain');
SELECT sweep.vacuum('acting.wide', aux => true);
SELECT sweep.snooze('acting.plain', '1 hour');
SELECT sweep.set('acting.plain', 'enabled', 'off');
SELECT sweep.vacuum('pg_catalog.pg_class');
RESET ROLE;

-- snooze
SELECT sweep.snooze('plain', '-1 second');
SELECT sweep.snooze('plain', '32 days');
SELECT sweep.snooze('v', '1 hour');
SELECT sweep.snooze('temporary', '1 hour');
SET ROLE regress_sweep_owner;
SELECT sweep.snooze('plain', '2 hours') - now() > '1:59' AS snoozed;
SELECT sweep.snooze('parted', '1 day') - now() > '22:59' AS snoozed;
RESET ROLE;
SELECT schemaname, relname, decision, reason, times, not_before - now() > '1:59' AS later
FROM sweep.decisions WHERE decision = 'snoozed' ORDER BY relname;
SELECT sweep.snooze('plain', '1 hour') - now() < '1:01' AS shorter;
SELECT times, not_before - now() < '1:01' AS shorter FROM sweep.decisions WHERE relid = 'plain'::regclass;
SELECT sweep.snooze('plain', '0') IS NULL AS ended;
SELECT sweep.snooze('part1', '0') IS NULL AS ended;
SELECT count(*) AS snoozed FROM sweep.decisions WHERE decision = 'snoozed';
-- also where nothing is to be ended
SELECT sweep.snooze('mv', '0') IS NULL AS ended;

-- hold
SELECT held_until FROM sweep.status;
SELECT sweep.hold('-1 hour');
SELECT sweep.hold('2 months');
SELECT sweep.hold() - now() > '59 min' AS held;
SELECT held_until - now() BETWEEN '59 min' AND '61 min' AS held FROM sweep.status;
SELECT sweep.hold('10 minutes') - now() < '11 min' AS shorter;
SELECT sweep.hold('0');
SELECT sweep.hold('0');
SELECT held_until FROM sweep.status;

-- settings of a table
\set VERBOSITY default
SELECT sweep.set('plain', 'nonsense', '1');
SELECT sweep.set('plain', 'min_interval', 'soon');
SELECT sweep.set('plain', 'min_interval', '2 d');
SELECT sweep.set('plain', 'enabled', 'maybe');
SELECT sweep.set('plain', 'insert_cache_fraction', '1.5');
SELECT sweep.set('plain', 'insert_threshold', '-2');
\set VERBOSITY terse
SELECT sweep.set('plain', 'min_interval', '');
SELECT sweep.set('plain', 'vacuum_threshold', '-1');
SELECT sweep.set('plain', 'vacuum_threshold', '1e10');
SELECT sweep.set('plain', 'vacuum_scale_factor', 'NaN');
SELECT sweep.set('plain', 'vacuum_scale_factor', '100.1');
SELECT sweep.set('plain', 'insert_scale_factor', '-0.1');
SELECT sweep.set('plain', 'eager_freeze', '2');
SELECT sweep.set('plain', 'MIN_INTERVAL', '1');
SELECT sweep.set('plain', 'min_interval', repeat(' ', 300) || '5');
SELECT sweep.set('plain', NULL, '1');
SELECT sweep.set(NULL, 'enabled', 'off');
SELECT sweep.set('parted', 'enabled', 'off');
SELECT sweep.set('v', 'enabled', 'off');
SELECT sweep.set('temporary', 'enabled', 'off');
SELECT format('SELECT sweep.set(%L, %L, %L)', reltoastrelid::regclass, 'enabled', 'off') AS command FROM pg_class WHERE oid = 'wide'::regclass \gset
\set VERBOSITY sqlstate
:command;
\set VERBOSITY terse
SELECT count(*) AS settings FROM sweep.table_settings;
SET ROLE regress_sweep_owner;
SELECT sweep.set('plain', name, value) FROM (VALUES ('min_interval', '5s'), ('enabled', 'on'), ('vacuum_threshold', '0'), ('vacuum_scale_factor', '0.5'),
	('insert_threshold', '-1'), ('insert_scale_factor', '1e-3'), ('insert_cache_fraction', '0'), ('checkpoint_aware', 'off'), ('eager_freeze', 'false')) AS s (name, value);
SELECT sweep.set('plain', 'min_interval', '1min');
SELECT sweep.set('mv', 'enabled', 'off');
-- only the function writes
INSERT INTO sweep.table_settings VALUES ('plain', 'enabled', 'off');
SELECT count(*) FROM sweep.table_settings;
SELECT current_user;
RESET ROLE;
SELECT relid, name, value, set_by, set_at <= now() AS past FROM sweep.table_settings ORDER BY 1, 2;
SELECT sweep.set('mv', 'enabled', NULL);
SELECT sweep.set('mv', 'enabled', NULL);
SELECT count(*) AS settings FROM sweep.table_settings;
-- a setting that is rolled back
BEGIN;
SELECT sweep.set('mv', 'enabled', 'off');
ROLLBACK;
SELECT count(*) AS settings FROM sweep.table_settings;
BEGIN READ ONLY;
SELECT sweep.set('mv', 'enabled', 'off');
ROLLBACK;
-- it follows a rename, and a dropped table's are gone with the next call
ALTER TABLE plain RENAME TO renamed;
SELECT DISTINCT relid FROM sweep.table_settings;
DROP TABLE renamed CASCADE;
SELECT sweep.set('wide', 'min_interval', '10');
SELECT relid, name, value, set_by = current_user AS me FROM sweep.table_settings;

-- a trigger or a search_path that is planted does not run as the extension's owner
CREATE FUNCTION acting.now() RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN RAISE 'planted'; END $$;
CREATE FUNCTION acting.equal(a text, b text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'planted'; END $$;
CREATE OPERATOR acting.= (LEFTARG = text, RIGHTARG = text, FUNCTION = acting.equal);
SET search_path = acting, pg_catalog;
SELECT sweep.set('wide', 'enabled', 'off');
SELECT sweep.set('wide', 'enabled', NULL);
RESET search_path;

-- somebody else's table of that name is not written
CREATE TABLE acting.kept AS SELECT * FROM sweep.table_settings;
ALTER EXTENSION pg_sweep DROP TABLE sweep.table_settings;
SELECT sweep.set('acting.wide', 'enabled', 'off');
ALTER EXTENSION pg_sweep ADD TABLE sweep.table_settings;
SELECT sweep.set('acting.wide', 'min_interval', NULL);

SET client_min_messages = error;
DROP SCHEMA acting CASCADE;
DROP TABLE temporary;
DROP FOREIGN DATA WRAPPER regress_sweep_fdw CASCADE;
DROP OWNED BY regress_sweep_owner, regress_sweep_other;
DROP ROLE regress_sweep_owner, regress_sweep_other;
DROP EXTENSION pg_sweep CASCADE;
CREATE EXTENSION pg_sweep;
