-- Made-up rows of the views of schema sweep, which conftest.py makes as plain tables, and stubs of its functions.
CREATE TABLE sweep.table_settings (relid oid, name text, value text, set_by text, set_at timestamptz);

INSERT INTO sweep.progress VALUES
(48213, NULL, 16384, 'bench', 16401, 'public', 'pgbench_accounts', 'VACUUM', 'sweep', 'normal',
 'scanning heap', 61, now() - interval '12 s', 123456, 23456, 3456, 4567, 321, 34567890, 212345,
 18321.5, 12.34, 8.3, 4.02, 5400, 45.2, 57.1, '9 s', now() + interval '9 s', 'last run', 0, 0,
 'cost limit 200', 200, 10, 32787, 0),
(48300, NULL, 16385, 'shop', 16500, 'sales', 'order_lines_2026_partition', 'VACUUM', 'autovacuum',
 'aggressive', 'vacuuming indexes', NULL, now() - interval '2 h 5 min', 99912345, 2345600, 345600, 45670,
 3210, 345678900000, 51234567, 9321.5, 101.2, 48.3, 24.02, 5400000, 75.2, 83.0, '22 min',
 now() + interval '22 min', 'progress', 2, 3, 'cost limit 200', 200, 10, 8278700, 0),
(48400, NULL, 16385, 'shop', 16600, 'public', 'sessions', 'VACUUM', 'manual', 'normal',
 'vacuuming indexes', NULL, now() - interval '61 s', 4000, 2000, 100, 10, 2, 12345, 8000, 800, 3.1, 0.4,
 0.2, 0, 0, NULL, NULL, NULL, NULL, 1, 0, 'I/O', 200, 0, 2900, 2),
(48402, 48400, 16385, 'shop', 16600, 'public', 'sessions', 'VACUUM', 'manual', 'normal',
 'vacuuming indexes', NULL, now() - interval '60 s', 2000, 1000, 50, 10, 2, 12345, 4000, 400, 1.1, 0.2,
 0.1, 0, 0, NULL, NULL, NULL, NULL, 1, 0, 'I/O', 200, 0, 2900, 0),
(48401, 48400, 16385, 'shop', 16600, 'public', 'sessions', 'VACUUM', 'manual', 'normal',
 'vacuuming indexes', NULL, now() - interval '60 s', 1000, 1000, 50, 10, 2, 12345, 4000, 400, 1.1, 0.2,
 0.1, 0, 0, NULL, NULL, NULL, NULL, 1, 0, 'I/O', 200, 0, 2900, 0),
(48500, NULL, 16390, 'archive', 99999, NULL, NULL, 'VACUUM', 'autovacuum_wraparound', NULL,
 NULL, 12.5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
 NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL);

INSERT INTO sweep.runs
SELECT i, 40000 + i, 16384, 'bench', 16401, 'public',
       (ARRAY['pgbench_accounts', 'pgbench_tellers', 'events'])[1 + i % 3],
       CASE WHEN i % 10 = 7 THEN 'ANALYZE' ELSE 'VACUUM' END,
       (ARRAY['sweep', 'autovacuum', 'manual'])[1 + i % 3], 'normal',
       now() - i * interval '40 s' - interval '7.25 s', now() - i * interval '40 s',
       i * 1000, i * 100, i * 10, i * 12, i, i * 123456, i * 3210, i * 440.0, i * 1.1, i * 0.3,
       i * 0.2, i * 100, least(100, i), 200, 10, 32787, 1, i * 1000, CASE WHEN i % 4 = 0 THEN 77 ELSE 0 END, i * 1048576,
       (ARRAY['done', 'done', 'done', 'cancelled', 'done', 'failed'])[1 + i % 6],
       (ARRAY['dead tuples 23,456 above threshold 20,050', 'autovacuum', NULL])[1 + i % 3]
FROM generate_series(1, 40) i;

INSERT INTO sweep.decisions VALUES
(16384, 'bench', 16401, 'public', 'pgbench_accounts', 'vacuumed', NULL, now(), now(), 1,
 now() + interval '50 s', 10, 20, 30, 40),
(16390, 'archive', 99999, NULL, NULL, 'locked', 'somebody holds a lock', now(), now(), 3,
 now() + interval '40 s', 10, 20, 30, 40);

INSERT INTO sweep.audit VALUES
(now() - interval '1 min', 16384, 'bench', 4711, 'alice', 'alice', 'psql', 'hold', NULL, NULL, NULL,
 NULL, 'until 2026-01-01 00:00:00+00'),
(now(), 16384, 'bench', 4711, 'alice', 'oncall', 'pgsweep', 'slow', 16401, 'public',
 'pgbench_accounts', 4712, 'write_limit 5.0 MB/s');

INSERT INTO sweep.trial VALUES
(now() - interval '3 h', NULL, 16384, 'bench', 1249, 'pg_catalog', 'pg_attribute', 240, 0,
 now() - interval '3 h', now(), 100, 400, 300, 500, 0, NULL, 812, 720, 0, NULL, 90, 2000, 1500, 0,
 90, interval '47 s', 350),
(now() - interval '3 h', NULL, 16384, 'bench', 16401, 'public', 'pgbench_accounts', 2, 0,
 now() - interval '2 h', now(), 5000, 9000, 4000, 4500, 0, now() - interval '2 h', 30000, 200050,
 12, 201000, 0, 0, 0, 0, 0, NULL, 0);

CREATE FUNCTION sweep.simulate(
    settings text[] DEFAULT '{}', since interval DEFAULT '7 days', back_test boolean DEFAULT false,
    OUT hour timestamptz, OUT span interval, OUT vacuums bigint, OUT insert_vacuums bigint,
    OUT blks_read bigint, OUT blks_dirtied bigint, OUT run_time float8, OUT dead_tuples bigint,
    OUT max_dead_tuples bigint, OUT waiting bigint, OUT recorded_vacuums bigint,
    OUT recorded_blks_read bigint, OUT recorded_blks_dirtied bigint, OUT recorded_dead_tuples bigint)
RETURNS SETOF record LANGUAGE sql STABLE AS $$
SELECT date_trunc('hour', now()) - i * interval '1 h', interval '1 h',
       (n * CASE WHEN back_test THEN 9 ELSE 10 END)::bigint, 0::bigint, (n * 1000)::bigint, (n * 280)::bigint,
       2000.0::float8 * n, (1000 / n)::bigint, (2000 / n)::bigint, 1::bigint,
       10::bigint, 1000::bigint, 600::bigint, 900::bigint
FROM generate_series(1, 4) i, (SELECT 1 + cardinality(settings) AS n) s
$$;

CREATE FUNCTION sweep.simulate_tables(
    settings text[] DEFAULT '{}', since interval DEFAULT '7 days', back_test boolean DEFAULT false,
    OUT datid oid, OUT datname text, OUT relid oid, OUT schemaname text, OUT relname text,
    OUT vacuums bigint, OUT insert_vacuums bigint, OUT blks_read bigint, OUT blks_dirtied bigint,
    OUT run_time float8, OUT dead_tuples bigint, OUT max_dead_tuples bigint,
    OUT recorded_vacuums bigint, OUT recorded_blks_read bigint, OUT recorded_blks_dirtied bigint,
    OUT recorded_dead_tuples bigint, OUT learned_vacuums bigint, OUT estimated boolean)
RETURNS SETOF record LANGUAGE sql STABLE AS $$
SELECT 16384::oid, 'bench', relid, 'public', relname, n::bigint * 20, 0::bigint, (n * 4000)::bigint,
       (n * 1120)::bigint, 8000.0::float8 * n, (1000 / n)::bigint, (2000 / n)::bigint,
       20::bigint, 4000::bigint, 2400::bigint, 900::bigint, 20::bigint, false
FROM (VALUES (16401::oid, 'pgbench_accounts'), (16402, 'pgbench_tellers')) t (relid, relname),
     (SELECT 1 + cardinality(settings) AS n) s
$$;

CREATE FUNCTION sweep.simulate_summary(
    settings text[] DEFAULT '{}', since interval DEFAULT '7 days',
    OUT recorded_from timestamptz, OUT recorded_until timestamptz, OUT hours integer,
    OUT missing_hours integer, OUT tables integer, OUT unlearned_tables integer,
    OUT changes_left_out_pct float8, OUT xid_age integer, OUT xids_per_hour float8,
    OUT freeze_max_age integer, OUT freeze_max_age_at timestamptz, OUT wraparound_at timestamptz,
    OUT tables_to_freeze bigint, OUT pages_to_freeze bigint)
RETURNS SETOF record LANGUAGE sql STABLE AS $$
SELECT date_trunc('hour', now()) - interval '4 h', date_trunc('hour', now()), 4, 1, 2, 1, 7.5::float8,
       50000000, 1000000.0::float8, 200000000, now() + interval '150 h', now() + interval '80 days', 3::bigint, 12800::bigint
$$;

GRANT EXECUTE ON FUNCTION sweep.simulate(text[], interval, boolean),
    sweep.simulate_tables(text[], interval, boolean), sweep.simulate_summary(text[], interval) TO pg_monitor;

INSERT INTO sweep.databases VALUES
(16384, 'bench', true, NULL, 412, 2, 123456, 12345678, 12, 1, now() - interval '4 s', NULL),
(16385, 'shop', true, NULL, 4120, 0, 9999, 22345678, 12, 0, now() - interval '3 min', NULL),
(16390, 'archive', false, 'excluded by sweep.exclude_databases', 88, 5, 77, 210345678, 1, 0, NULL, NULL),
(1, 'template0', NULL, NULL, NULL, NULL, NULL, 7345678, 1, NULL, NULL, NULL);

CREATE TABLE sweep.status (
    sql_version text, library_version text, server_version_built integer, mode text,
    effective_mode text, reason text, launcher_pid integer, launcher_started_at timestamptz,
    workers integer, max_workers integer, rounds bigint, last_round_at timestamptz,
    last_round_time double precision, max_round_time double precision,
    max_lock_time double precision, naptime double precision, relations bigint,
    due bigint, worker_starts bigint, worker_start_failures bigint, runs bigint,
    runs_saved_at timestamptz, runs_save_error text, decisions_used integer,
    decisions_size integer, decisions_dropped bigint, databases_dropped bigint,
    recent_crashes integer);

INSERT INTO sweep.status VALUES
('0.1.0', '0.1.0', 150020, 'act', 'act', NULL, 48001, now() - interval '1 day', 1, 2, 86400,
 now(), 1.25, 8.5, 0.06, 1000, 4620, 2, 532, 0, 40, now(), NULL, 12, 4096, 0, 0, 0);

INSERT INTO sweep.tables VALUES
(16401, 'public', 'pgbench_accounts', 'user', 100000, 23456, 20050, 1000, 21000, 24456, 10050, 1640, 400,
 1000, 1000000, 3, 200000000, 400000000, 61000000, now() + interval '6 d', 1.17, 0.005, 0, 1.17, 0.05, 2.43, true, 'due',
 'dead tuples 23,456 above threshold 20,050', NULL, NULL, 0, NULL, now() - interval '3 min'),
(1249, 'pg_catalog', 'pg_attribute', 'catalog', 2900, 800, 640, 10, NULL, 10, 350, 60, 0, 10, 500, 1, 200000000, 400000000, 134000000, NULL, 1.25,
 0, 0, 1.25, 0, 0.03, true, 'locked', 'dead tuples 800 above threshold 640',
 now() + interval '10 s', '{4711,4712}', 8192, NULL, NULL),
(16500, 'sales', 'order_lines_2026_partition', 'user', 500000, 10, 99999, 10, 99999, 10, 99999, 8278700, 8278000,
 8278100, 99000000, 1, 200000000, 400000000, 121000000, now() + interval '22 h', 0.5, 0.5, 0, 0, 0, 0, false, 'below threshold', NULL, NULL, NULL, NULL,
 now() + interval '1 h', now() - interval '2 d');

INSERT INTO sweep.worth VALUES
(16401, 'public', 'pgbench_accounts', 120000, 4.2, 0.6, 9.8, 2.4, 41000, 9623, 9565, now() - interval '2 h',
 now() - interval '1 min', 9.6, 4.2, 324000, 81000, 92, 'vacuum earlier: scale factor 0.05',
 'table and indexes. Cost of the last 3 vacuums, the latest counts half'),
(16500, 'sales', 'order_lines_2026_partition', 800, NULL, NULL, NULL, NULL, NULL, NULL, NULL, now() - interval '1 min',
 NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'being measured: 800 of 1000 scans since the last vacuum');

INSERT INTO sweep.queue VALUES
(2, 'waiting', 16384, 'bench', 16401, 'public', 'pgbench_accounts', 'user', 1.17,
 'dead tuples 23,456 above threshold 20,050', now() - interval '5 s',
 'worker slot: all 2 busy with bench.events, shop.sessions', NULL, '42 s', 12.5,
 NULL, NULL, NULL, NULL, NULL),
(1, 'waiting', 16384, 'bench', 1249, 'pg_catalog', 'pg_attribute', 'catalog', 1.25,
 'dead tuples 800 above threshold 640', now() - interval '65 s', 'lock', now() + interval '10 s', '1 s', 0.4,
 17, 'alice', now() - interval '65 s', false, 1),
(3, 'waiting', 16390, 'archive', 99999, NULL, NULL, 'user', 1.01, NULL, NULL, 'next round', NULL, NULL, NULL,
 NULL, NULL, NULL, NULL, NULL),
(NULL, 'running', 16384, 'bench', 16403, 'public', 'asked_for', 'user', NULL,
 'requested by alice', now() - interval '1 min', NULL, NULL, NULL, NULL,
 16, 'alice', now() - interval '1 min', false, 0);

-- Only a view can have a column of that name.
CREATE TABLE sweep.blocker_rows (
    kind text, pid integer, datname name, usename name, name text, state text, xmin_ xid,
    age bigint, since timestamptz, query text, withholds text, fix text, risk text);

CREATE VIEW sweep.blockers AS
SELECT kind, pid, datname, usename, name, state, xmin_ AS xmin, age, since, query, withholds, fix, risk
FROM sweep.blocker_rows;

INSERT INTO sweep.blockers VALUES
('logical slot', NULL, 'shop', NULL, 'to_warehouse', 'inactive', '900', 1200, NULL, NULL,
 'dead rows of the catalogs', 'SELECT pg_drop_replication_slot(''to_warehouse'');',
 'its consumer loses what it has not received'),
('idle in transaction', 4712, 'bench', 'alice', 'psql', 'idle in transaction', '750', 123456,
 now() - interval '10 min', 'SELECT 1', '30,000 dead rows of bench.pgbench_accounts',
 'SELECT pg_terminate_backend(4712);', 'its work is rolled back');

INSERT INTO sweep.budget VALUES
('write', '20', 'MB/s', 20, 19.6, 20, true, 'ok', 'the limit is used up'),
('replica lag', '100MB', 'MB', 100, NULL, 3.5, false, 'broken', 'no such file'),
('device', '0', '%', NULL, NULL, NULL, false, 'not used', NULL);
INSERT INTO sweep.governor
SELECT now() - i * interval '0.25 s', 1, 10 + i, 19, 30, NULL, 0.2, NULL, 2, 'write',
       CASE WHEN i < 4 THEN 'steady' ELSE 'back off' END, 'the limit is used up: ' || i || ' of 20'
FROM generate_series(1, 8) i;

CREATE FUNCTION sweep.explain(
    OUT rank integer, OUT relation text, OUT verdict text, OUT cause text, OUT evidence text,
    OUT fix text, OUT risk text) RETURNS SETOF record LANGUAGE sql AS $$
VALUES (1, 'public.pgbench_accounts', 'due, and not vacuumed', 'locked by process 4711',
        'AccessExclusiveLock for 5 min', 'SELECT pg_cancel_backend(4711);', 'its statement fails'),
       (2, 'public.pgbench_accounts', 'due, and not vacuumed', 'minimum interval', 'until 12:00', NULL, NULL),
       (1, 'public.t', 'due', 'all worker slots are busy', 'two of two', NULL, NULL)
$$;
CREATE FUNCTION sweep.explain(
    which regclass, OUT rank integer, OUT relation text, OUT verdict text, OUT cause text,
    OUT evidence text, OUT fix text, OUT risk text) RETURNS SETOF record LANGUAGE sql AS $$
SELECT 1, which::text, 'not due', 'below threshold', 'dead rows 1 of 50', NULL, NULL
$$;
CREATE TABLE public.orders (i integer);

INSERT INTO sweep.features VALUES ('statistics scan', true, NULL), ('lock walk', true, NULL);

CREATE FUNCTION sweep.cancel(pid integer, snooze interval DEFAULT NULL, force boolean DEFAULT false) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF force THEN RAISE NOTICE 'it prevented wraparound'; END IF;
    IF pid = 48213 THEN RETURN true; END IF;
    RAISE WARNING 'process % is not running a vacuum', pid;
    RETURN false;
END $$;
CREATE FUNCTION sweep.release(pid integer) RETURNS boolean LANGUAGE sql AS 'SELECT sweep.cancel(pid)';
CREATE FUNCTION sweep.hurry(pid integer) RETURNS boolean LANGUAGE sql AS 'SELECT sweep.cancel(pid)';
CREATE FUNCTION sweep.slow(pid integer, write_limit float8 DEFAULT NULL, read_limit float8 DEFAULT NULL)
RETURNS boolean LANGUAGE sql AS 'SELECT sweep.cancel(pid)';
CREATE FUNCTION sweep.rearm() RETURNS boolean LANGUAGE sql AS 'SELECT false';
CREATE FUNCTION sweep.reset_runs() RETURNS void LANGUAGE sql AS '';
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA sweep FROM PUBLIC;
GRANT USAGE ON SCHEMA sweep TO pg_monitor;
GRANT EXECUTE ON FUNCTION sweep.explain(), sweep.explain(regclass) TO pg_monitor;
GRANT SELECT ON ALL TABLES IN SCHEMA sweep TO pg_monitor;

-- As if CREATE EXTENSION had made all this.
INSERT INTO pg_catalog.pg_extension
    (oid, extname, extowner, extnamespace, extrelocatable, extversion)
VALUES (99990, 'pg_sweep', 10, 'sweep'::regnamespace, false, '0.1.0');
