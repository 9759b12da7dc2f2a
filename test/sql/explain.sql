-- What the relation is, or says: causes that need no time. In the mode observe.
\set ECHO none
\getenv srcdir PG_ABS_SRCDIR
\set common :srcdir /sql/common.psql
\i :common

-- nobody looks while the tables are made
ALTER SYSTEM SET sweep.mode = off;
SELECT pg_reload_conf();
SELECT pg_temp.becomes_true('SELECT NOT pg_temp.is_metered() AND workers = 0 FROM sweep.status');
CREATE TABLE due (a int);
INSERT INTO due SELECT generate_series(1, 900);
DELETE FROM due WHERE a <= 400;
CREATE TABLE below (a int);
INSERT INTO below SELECT generate_series(1, 900);
DELETE FROM below WHERE a <= 20;
CREATE TABLE disabled (a int, t text) WITH (autovacuum_enabled = false);
INSERT INTO disabled SELECT generate_series(1, 900);
DELETE FROM disabled WHERE a <= 400;
CREATE TABLE toast_disabled (a int, t text) WITH (toast.autovacuum_enabled = false);
CREATE TEMPORARY TABLE temporary (a int);
CREATE UNLOGGED TABLE unlogged (a int);
INSERT INTO unlogged SELECT generate_series(1, 900);
DELETE FROM unlogged WHERE a <= 400;
CREATE TABLE parted (a int) PARTITION BY RANGE (a);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (1000);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (1000) TO (2000);
INSERT INTO parted SELECT generate_series(1, 900);
DELETE FROM parted WHERE a <= 400;
CREATE TABLE never_written (a int PRIMARY KEY);
CREATE TABLE reset (a int);
INSERT INTO reset SELECT generate_series(1, 900);
ANALYZE reset;
CREATE VIEW a_view AS SELECT 1 AS a;
CREATE MATERIALIZED VIEW a_matview AS SELECT 1 AS a;
CREATE SEQUENCE a_sequence;
CREATE FOREIGN DATA WRAPPER explain_fdw;
CREATE SERVER explain_server FOREIGN DATA WRAPPER explain_fdw;
CREATE FOREIGN TABLE a_foreign_table (a int) SERVER explain_server;
CREATE TYPE a_type AS (a int);
SELECT pg_stat_force_next_flush();
SELECT pg_stat_reset_single_table_counters('reset'::regclass);

-- while it is off
SELECT rank, relation, verdict, cause, evidence, fix FROM sweep.explain('due') WHERE rank = 1;
SELECT count(*) FROM sweep.queue;

ALTER SYSTEM RESET sweep.mode;
SELECT pg_reload_conf();
-- not those of others, from before: when these are there this session has heard of the reload, too
SELECT pg_temp.becomes_true($$ SELECT count(*) = 3 FROM sweep.decisions WHERE datname = current_database() AND relid = ANY ('{due, unlogged, parted_1}'::regclass[])
	AND decision = 'would vacuum' $$);
SELECT pg_temp.becomes_true($$ SELECT count(*) = 3 FROM sweep.queue WHERE datname = current_database() AND relid = ANY ('{due, unlogged, parted_1}'::regclass[])
	AND waiting_for = 'sweep.mode = act (it is observe)' $$);

-- the first cause of each, with what fixes it
SELECT e.relation, e.verdict, e.cause, e.fix, e.risk IS NOT NULL OR e.fix IS NULL AS risk
FROM unnest('{due, unlogged, below, disabled, temporary, parted, never_written, reset, a_view, a_matview, a_sequence, a_foreign_table, a_type, never_written_pkey}'::regclass[])
	WITH ORDINALITY AS r (relation, n), LATERAL sweep.explain(r.relation) e
WHERE e.rank = 1 ORDER BY r.n;
SELECT e.verdict, e.cause, e.fix FROM pg_class c, LATERAL sweep.explain(c.reltoastrelid) e WHERE c.relname IN ('disabled', 'toast_disabled') AND e.rank = 1 ORDER BY c.relname;
SELECT evidence FROM sweep.explain('below') WHERE rank = 1;
SELECT evidence FROM sweep.explain('parted') WHERE rank = 1;
SELECT evidence FROM sweep.explain('a_foreign_table');
SELECT evidence FROM sweep.explain('never_written_pkey');
SELECT evidence ~ '^pg_class knows \d+ pages and 900 rows, and the file has \d+ kB\. The counters know 0 dead rows and 0 inserted rows\. The statistics of this database were reset at ' AS evidence FROM sweep.explain('reset') WHERE rank = 1;

-- ranks begin at 1 for each, and none is left out: the verdict is that of the first
SELECT relation, array_agg(rank ORDER BY rank) = array_agg(n ORDER BY n) AS ranks, count(DISTINCT verdict) AS verdicts
FROM (SELECT relation, rank, verdict, row_number() OVER (PARTITION BY relation ORDER BY rank)::int AS n FROM sweep.explain('due')) e GROUP BY 1;

-- the ten worst: those that are due come first
SELECT count(DISTINCT relation) BETWEEN 1 AND 10 AS relations, count(*) FILTER (WHERE cause IS NULL OR verdict IS NULL) AS empty FROM sweep.explain();
-- catalogs may be due as well
WITH e AS MATERIALIZED (SELECT * FROM sweep.explain() WITH ORDINALITY AS e (rank, relation, verdict, cause, evidence, fix, risk, n))
SELECT DISTINCT r AS relation FROM e, unnest(string_to_array(relation, ', ')) r WHERE n <= (SELECT count(*) FROM e WHERE verdict ~ '^(due|never)') AND r ~ '^public' ORDER BY relation;

-- the tables themselves
SELECT relname, lane, dead_tuples, vacuum_threshold, ins_since_vacuum, insert_threshold, mod_since_analyze, do_vacuum, decision, reason, blocked_by, last_run
FROM sweep.tables WHERE schemaname = 'public' ORDER BY relname;
SELECT count(*) = (SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'm', 't', 'p')) AS every_table FROM sweep.tables;
SELECT t.lane, bool_and(c.oid < 16384) AS system, bool_or(c.relkind = 't') AS toast FROM sweep.tables t JOIN pg_class c ON c.oid = t.relid GROUP BY 1 ORDER BY 1;
-- the parts of the score: the largest that a vacuum answers is the score, one that is due is above 1
SELECT bool_and(abs(score - greatest(xid_score, mxid_score, vacuum_score, vacuum_insert_score)) < 1e-9) AS largest,
	bool_and((vacuum_score > 1 OR vacuum_insert_score > 1) OR NOT do_vacuum) AS due
FROM sweep.tables WHERE score IS NOT NULL;

-- blocked by this session, and by nobody else
BEGIN;
LOCK TABLE due IN SHARE MODE;
LOCK TABLE below IN ROW EXCLUSIVE MODE;
SELECT relname, blocked_by = ARRAY[pg_backend_pid()] AS by_me FROM sweep.tables WHERE relname IN ('due', 'below', 'unlogged') ORDER BY 1;
ROLLBACK;

-- what could be given back at the end
CREATE TABLE tail (a int, t text) WITH (autovacuum_enabled = false, fillfactor = 10);
INSERT INTO tail SELECT i, repeat('x', 700) FROM generate_series(1, 600) i;
DELETE FROM tail WHERE a > 300;
SELECT pg_stat_force_next_flush();
SELECT sweep_internal.get_plural(1, 'transaction') AS one, sweep_internal.get_plural(2, 'transaction') AS two;
SELECT truncatable_bytes FROM sweep.tables WHERE relname IN ('tail', 'below') ORDER BY relname;
SELECT pg_temp.becomes_true('SELECT count(*) = 0 FROM sweep_internal.get_horizon_holders()') AS nobody_needs_them;
VACUUM (TRUNCATE off) tail;
SELECT truncatable_bytes = 300 * current_setting('block_size')::int AS tail FROM sweep.tables WHERE relname = 'tail';
VACUUM tail;
SELECT truncatable_bytes FROM sweep.tables WHERE relname = 'tail';

-- observe mode remembers what would have been done, and who did it instead
SELECT decision, would_vacuum_at BETWEEN first_at - interval '1 s' AND now() AS would, vacuumed_instead_at, vacuumed_instead_by FROM sweep.decisions WHERE relid = 'due'::regclass AND datname = current_database();
VACUUM due;
SELECT decision, vacuumed_instead_at > would_vacuum_at AS instead, vacuumed_instead_by FROM sweep.decisions WHERE relid = 'due'::regclass AND datname = current_database();
SELECT last_run IS NOT NULL AS last_run FROM sweep.tables WHERE relname = 'due';
SELECT verdict, cause, evidence ~ '^dead tuples 0 of \d+ \(\d+ missing\)\. Inserted tuples 0 of \d+ \(\d+ missing\)\. Nothing has changed since the last vacuum at ' AS evidence FROM sweep.explain('due') WHERE rank = 1;
-- database and scope
ALTER SYSTEM SET sweep.scope = catalog;
SELECT pg_reload_conf();
SELECT pg_temp.becomes_true($$ SELECT count(*) = 0 FROM sweep.queue WHERE relname = 'unlogged' AND datname = current_database() $$);
SELECT cause, fix FROM sweep.explain('unlogged') WHERE cause ~ 'scope';
ALTER SYSTEM RESET sweep.scope;
SELECT format('ALTER SYSTEM SET sweep.exclude_databases = %L', current_database()) AS command \gset
:command;
SELECT pg_reload_conf();
SELECT pg_temp.becomes_true($$ SELECT NOT ours FROM sweep.databases WHERE datname = current_database() $$);
SELECT cause, evidence, fix FROM sweep.explain('unlogged') WHERE cause ~ 'database';
ALTER SYSTEM RESET sweep.exclude_databases;
SELECT pg_reload_conf();
SELECT pg_temp.becomes_true($$ SELECT ours FROM sweep.databases WHERE datname = current_database() $$);

-- every fix for a table that is one is a statement that the server takes
SELECT bool_and(fix ~ '^(ALTER|VACUUM|ANALYZE|SELECT|ROLLBACK) .*;( --.*)?$') AS statements FROM sweep.explain() WHERE fix IS NOT NULL;

-- unknown, gone, NULL
SELECT * FROM sweep.explain('no_such_table');
SELECT * FROM sweep.explain(4000000000::regclass);
SELECT * FROM sweep.explain(NULL);

SET client_min_messages = error;
DROP TABLE due, below, disabled, toast_disabled, temporary, unlogged, parted, never_written, reset, tail;
DROP VIEW a_view;
DROP MATERIALIZED VIEW a_matview;
DROP SEQUENCE a_sequence;
DROP FOREIGN DATA WRAPPER explain_fdw CASCADE;
DROP TYPE a_type;
