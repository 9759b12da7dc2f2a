/* pg_sweep: SQL objects. Single source; "make" copies it to the versioned name. */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION pg_sweep" to load this file. \quit

-- Fails if a schema exists, because somebody else's schema is never adopted.
CREATE SCHEMA sweep;
CREATE SCHEMA sweep_internal;

COMMENT ON SCHEMA sweep IS 'pg_sweep: an autovacuum that can be seen, steered and trusted';
COMMENT ON SCHEMA sweep_internal IS 'what the views and sweep.explain() of pg_sweep are made of: nothing to be called by people';

--
-- Functions behind the views.  They are in a schema of their own, so that
-- "\df sweep." shows what people call and nothing else.  The C symbol carries
-- the SQL version that introduced its result columns, because the library
-- changes at a restart and these objects only at ALTER EXTENSION UPDATE.
--

-- Names in shared catalogs, and other sessions' texts, are in the encoding of the
-- database that they come from. Bytes that are no characters here become \xNN.
CREATE FUNCTION sweep_internal.get_readable(text pg_catalog.text) RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'sweep_readable_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION sweep_internal.get_progress(
	OUT pid integer, OUT leader_pid integer, OUT datid oid, OUT relid oid,
	OUT schemaname text, OUT relname text,
	OUT command text, OUT started_by text, OUT mode text, OUT phase text,
	OUT phase_pct double precision, OUT started_at timestamptz,
	OUT blks_hit bigint, OUT blks_read bigint, OUT blks_dirtied bigint,
	OUT wal_records bigint, OUT wal_fpi bigint, OUT wal_bytes numeric,
	OUT cost bigint, OUT cost_per_s double precision,
	OUT read_mb_per_s double precision, OUT dirty_mb_per_s double precision,
	OUT wal_mb_per_s double precision,
	OUT delay_time double precision, OUT sleep_pct double precision,
	OUT done_pct double precision, OUT eta interval, OUT eta_at timestamptz,
	OUT eta_basis text, OUT index_pass bigint, OUT limited_by text,
	OUT cost_limit integer, OUT cost_delay double precision,
	OUT pages bigint, OUT parallel_workers integer, OUT waits_for text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_progress_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION sweep_internal.get_runs(
	OUT run_id bigint, OUT pid integer, OUT datid oid, OUT relid oid,
	OUT schemaname text, OUT relname text,
	OUT command text, OUT started_by text, OUT mode text,
	OUT started_at timestamptz, OUT ended_at timestamptz,
	OUT blks_hit bigint, OUT blks_read bigint, OUT blks_dirtied bigint,
	OUT wal_records bigint, OUT wal_fpi bigint, OUT wal_bytes numeric,
	OUT cost bigint, OUT delay_time double precision,
	OUT cost_limit integer, OUT cost_delay double precision,
	OUT pages bigint, OUT index_pass bigint,
	OUT tuples_removed bigint, OUT dead_not_removable bigint, OUT memory_bytes bigint,
	OUT outcome text, OUT reason text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_runs_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- What the last vacuum of each table brought its index scans: see sweep.worth.
CREATE FUNCTION sweep_internal.get_run_worth(
	OUT run_id bigint, OUT blks_per_scan_before double precision, OUT blks_per_scan_after double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_run_worth_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION sweep_internal.get_databases(
	OUT datid oid, OUT ours boolean, OUT reason text,
	OUT relations bigint, OUT due bigint, OUT dead_tuples bigint,
	OUT workers integer, OUT last_visit timestamptz, OUT next_visit timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_databases_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION sweep_internal.get_decisions(
	OUT datid oid, OUT relid oid, OUT schemaname text, OUT relname text,
	OUT decision text, OUT reason text,
	OUT first_at timestamptz, OUT last_at timestamptz, OUT times bigint,
	OUT not_before timestamptz, OUT dead_tuples bigint, OUT ins_since_vacuum bigint,
	OUT next_dead_tuples bigint, OUT next_ins_since_vacuum bigint, OUT waits_for xid,
	OUT would_vacuum_at timestamptz, OUT vacuumed_instead_at timestamptz,
	OUT vacuumed_instead_by text,
	OUT growing boolean, OUT late_since timestamptz, OUT late_pages bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_decisions_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION sweep_internal.get_cleanings(
	OUT datid oid, OUT relid oid, OUT schemaname text, OUT relname text,
	OUT decision text, OUT reason text, OUT last_at timestamptz, OUT not_before timestamptz,
	OUT dead_tuples bigint, OUT next_dead_tuples bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_cleanings_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION sweep_internal.get_audit(
	OUT called_at timestamptz, OUT datid oid, OUT pid integer, OUT usename text, OUT role text,
	OUT application_name text, OUT command text, OUT relid oid, OUT schemaname text, OUT relname text,
	OUT vacuum_pid integer, OUT detail text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_audit_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION sweep_internal.get_status(
	OUT library_version text, OUT server_version_built integer,
	OUT mode text, OUT effective_mode text, OUT reason text,
	OUT launcher_pid integer, OUT launcher_started_at timestamptz,
	OUT workers integer, OUT max_workers integer,
	OUT rounds bigint, OUT last_round_at timestamptz,
	OUT last_round_time double precision, OUT max_round_time double precision,
	OUT last_lock_time double precision, OUT max_lock_time double precision,
	OUT naptime double precision,
	OUT relations bigint, OUT due bigint,
	OUT worker_starts bigint, OUT worker_start_failures bigint,
	OUT runs bigint, OUT runs_saved_at timestamptz, OUT runs_save_error text,
	OUT decisions_used integer, OUT decisions_size integer, OUT decisions_dropped bigint,
	OUT databases_dropped bigint, OUT recent_crashes integer,
	OUT held_until timestamptz, OUT overdue bigint, OUT horizon_age bigint,
	OUT runs_complete_since timestamptz,
	OUT visits bigint, OUT surveys bigint, OUT visits_cpu_time double precision,
	OUT standby_conflicts text,
	OUT late_tables integer, OUT late_pages bigint)
RETURNS record
AS 'MODULE_PATHNAME', 'sweep_status_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- What a server says to somebody who asks many of them, each in a session of its own. Such
-- a session would take longer to look up what a few queries name than to answer them.
-- datid to mxid_age are of the database with the oldest transaction ids. The rates are of
-- all running vacuums together.
CREATE FUNCTION sweep_internal.get_server(
	OUT now timestamptz, OUT started_at timestamptz, OUT version text,
	OUT dbname name, OUT role name, OUT in_recovery boolean,
	OUT autovacuum boolean, OUT freeze_max_age integer,
	OUT datid oid, OUT datname name, OUT xid_age integer, OUT mxid_age integer,
	OUT vacuums integer, OUT read_mb_per_s double precision,
	OUT dirty_mb_per_s double precision, OUT wal_mb_per_s double precision,
	OUT xids_per_s double precision)
RETURNS record
AS 'MODULE_PATHNAME', 'sweep_server_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION sweep_internal.get_features(OUT feature text, OUT enabled boolean, OUT detail text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_features_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- What the catalogs tell of a relation. Nothing here reads pg_class by a query, because
-- there are extensions that hide a part of it from clients.
CREATE FUNCTION sweep_internal.get_relation(
	relation oid,
	OUT oid oid, OUT schemaname text, OUT relname text, OUT relkind "char", OUT relpersistence "char", OUT relisshared boolean,
	OUT relpages integer, OUT reltuples real, OUT toast_owner oid, OUT reloptions text[])
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_relation_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 1;

--
-- What is set for single tables.  Only sweep.set() writes it.  relid is a regclass, so
-- that it follows a rename and is dumped by name.
--

CREATE TABLE sweep.table_settings (
	relid pg_catalog.regclass NOT NULL,
	name pg_catalog.text NOT NULL,
	value pg_catalog.text NOT NULL,
	set_by pg_catalog.text,
	set_at pg_catalog.timestamptz,
	PRIMARY KEY (relid, name));

COMMENT ON TABLE sweep.table_settings IS 'one row per setting that a table has of its own, by sweep.set()';

-- Leaves out the rows of tables that were dropped, which would be dumped as numbers. Also
-- leaves out those of tables that an extension hides from pg_dump. That is why it asks by
-- a query.
SELECT pg_catalog.pg_extension_config_dump('sweep.table_settings',
	'WHERE EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) relid::pg_catalog.oid)');

--
-- Views: they only read.
--

CREATE VIEW sweep.progress AS
SELECT p.pid, p.leader_pid, p.datid, sweep_internal.get_readable(d.datname::pg_catalog.text)::pg_catalog.name AS datname, p.relid,
       p.schemaname, p.relname,
       p.command, p.started_by, p.mode, p.phase, p.phase_pct, p.started_at,
       p.blks_hit, p.blks_read, p.blks_dirtied,
       p.wal_records, p.wal_fpi, p.wal_bytes,
       p.cost, p.cost_per_s, p.read_mb_per_s, p.dirty_mb_per_s, p.wal_mb_per_s,
       p.delay_time, p.sleep_pct, p.done_pct, p.eta, p.eta_at, p.eta_basis,
       p.index_pass,
       (SELECT pg_catalog.count(*) FROM pg_catalog.pg_locks l
        WHERE NOT l.granted AND l.locktype OPERATOR(pg_catalog.=) 'relation'
          AND l.database OPERATOR(pg_catalog.=) p.datid
          AND l.relation OPERATOR(pg_catalog.=) p.relid
          AND l.pid OPERATOR(pg_catalog.<>) p.pid)::pg_catalog.int4 AS waiters,
       p.limited_by, p.cost_limit, p.cost_delay, p.pages, p.parallel_workers, p.waits_for
FROM sweep_internal.get_progress() p
     LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) p.datid;

COMMENT ON VIEW sweep.progress IS 'one row per running vacuum or analyze in the whole cluster, with its accumulated cost, rates and time left';

CREATE VIEW sweep.runs AS
SELECT r.run_id, r.pid, r.datid, sweep_internal.get_readable(d.datname::pg_catalog.text)::pg_catalog.name AS datname, r.relid,
       r.schemaname, r.relname,
       r.command, r.started_by, r.mode, r.started_at, r.ended_at,
       r.blks_hit, r.blks_read, r.blks_dirtied,
       r.wal_records, r.wal_fpi, r.wal_bytes,
       r.cost,
       r.cost OPERATOR(pg_catalog./) e.s AS cost_per_s,
       r.blks_read OPERATOR(pg_catalog.*) b.mb OPERATOR(pg_catalog./) e.s AS read_mb_per_s,
       r.blks_dirtied OPERATOR(pg_catalog.*) b.mb OPERATOR(pg_catalog./) e.s AS dirty_mb_per_s,
       r.wal_bytes::pg_catalog.float8 OPERATOR(pg_catalog./) 1048576.0::pg_catalog.float8 OPERATOR(pg_catalog./) e.s AS wal_mb_per_s,
       r.delay_time,
       CASE WHEN r.delay_time IS NOT NULL AND e.s IS NOT NULL
            THEN least(100::pg_catalog.float8, r.delay_time OPERATOR(pg_catalog./) (e.s OPERATOR(pg_catalog.*) 10.0::pg_catalog.float8)) END AS sleep_pct,
       r.cost_limit, r.cost_delay, r.pages, r.index_pass,
       r.tuples_removed, r.dead_not_removable, r.memory_bytes, r.outcome, r.reason,
       w.blks_per_scan_before, w.blks_per_scan_after
FROM sweep_internal.get_runs() r
     LEFT JOIN sweep_internal.get_run_worth() w ON w.run_id OPERATOR(pg_catalog.=) r.run_id
     CROSS JOIN (SELECT pg_catalog.current_setting('block_size')::pg_catalog.float8 OPERATOR(pg_catalog./) 1048576.0::pg_catalog.float8 AS mb) b
     -- NULL: it was too short to speak of a rate
     CROSS JOIN LATERAL (SELECT CASE WHEN r.ended_at OPERATOR(pg_catalog.-) r.started_at OPERATOR(pg_catalog.>=) '10 ms'::pg_catalog.interval
                                     THEN EXTRACT(EPOCH FROM r.ended_at OPERATOR(pg_catalog.-) r.started_at)::pg_catalog.float8 END AS s) e
     LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) r.datid;

COMMENT ON VIEW sweep.runs IS 'one row per finished vacuum or analyze that the ledger keeps';

CREATE VIEW sweep.databases AS
SELECT d.oid AS datid, sweep_internal.get_readable(d.datname::pg_catalog.text)::pg_catalog.name AS datname, s.ours, s.reason, s.relations, s.due, s.dead_tuples,
       pg_catalog.age(d.datfrozenxid) AS xid_age,
       pg_catalog.mxid_age(d.datminmxid) AS mxid_age,
       s.workers, s.last_visit, s.next_visit
FROM pg_catalog.pg_database d
     FULL JOIN sweep_internal.get_databases() s ON s.datid OPERATOR(pg_catalog.=) d.oid
WHERE d.oid IS NOT NULL OR s.datid IS NULL;

COMMENT ON VIEW sweep.databases IS 'one row per database: what the scout sees there and when a worker was last there';

CREATE VIEW sweep.decisions AS
SELECT s.datid, sweep_internal.get_readable(d.datname::pg_catalog.text)::pg_catalog.name AS datname, s.relid,
       s.schemaname, s.relname,
       s.decision, s.reason, s.first_at, s.last_at, s.times, s.not_before,
       s.dead_tuples, s.ins_since_vacuum, s.next_dead_tuples, s.next_ins_since_vacuum, s.waits_for,
       s.would_vacuum_at, s.vacuumed_instead_at, s.vacuumed_instead_by,
       s.growing, s.late_since, s.late_pages
FROM sweep_internal.get_decisions() s
     LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) s.datid;

COMMENT ON VIEW sweep.decisions IS 'one row per table that looked due: what was decided about it last, why, and when it will be looked at again';

CREATE VIEW sweep.cleanings AS
SELECT s.datid, sweep_internal.get_readable(d.datname::pg_catalog.text)::pg_catalog.name AS datname, s.relid,
       s.schemaname, s.relname, s.decision, s.reason, s.last_at, s.not_before,
       s.dead_tuples, s.next_dead_tuples
FROM sweep_internal.get_cleanings() s
     LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) s.datid;

COMMENT ON VIEW sweep.cleanings IS 'one row per table with sparse garbage: are its dead rows removed one by one, and why or why not';

CREATE VIEW sweep.audit AS
SELECT s.called_at, s.datid, sweep_internal.get_readable(d.datname::pg_catalog.text)::pg_catalog.name AS datname,
       s.pid, s.usename, s.role, s.application_name, s.command, s.relid, s.schemaname, s.relname, s.vacuum_pid, s.detail
FROM sweep_internal.get_audit() s
     LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) s.datid;

COMMENT ON VIEW sweep.audit IS 'one row per call of a function that acts, since the server was started: who held, slowed, cancelled, snoozed or set what. The oldest first';

CREATE VIEW sweep.status AS
SELECT x.extversion AS sql_version, s.*
FROM sweep_internal.get_status() s
     LEFT JOIN pg_catalog.pg_extension x ON x.extname OPERATOR(pg_catalog.=) 'pg_sweep';

COMMENT ON VIEW sweep.status IS 'one row: is pg_sweep working, and if not, why';

CREATE VIEW sweep.features AS
SELECT f.feature, f.enabled, f.detail FROM sweep_internal.get_features() f;

COMMENT ON VIEW sweep.features IS 'one row per part that reads private structures of the server: was its layout validated at start';

--
-- Functions that act.  EXECUTE is the switch.  What VACUUM or pg_cancel_backend would
-- check is checked in C as well.
--

CREATE FUNCTION sweep.vacuum(relation regclass, aux boolean DEFAULT false) RETURNS bigint
AS 'MODULE_PATHNAME', 'sweep_vacuum_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION sweep.vacuum(regclass, boolean) IS 'have the table vacuumed next, or, with aux, only its auxiliary (TOAST) tables. Returns the id of the request, see sweep.queue, or 0, with a NOTICE, if there is no auxiliary table';

CREATE FUNCTION sweep.clean(relation regclass, by_row boolean DEFAULT false) RETURNS bigint
AS 'MODULE_PATHNAME', 'sweep_clean_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION sweep.clean(regclass, boolean) IS 'have the dead rows of the table removed one by one, with their index entries, where sweep.cleaner is on. If a vacuum is due, the table is vacuumed instead, unless by_row. Returns the id of the request, see sweep.queue';

-- It is not strict, because there may be no snooze.
CREATE FUNCTION sweep.cancel(pid integer, snooze interval DEFAULT NULL, force boolean DEFAULT false) RETURNS boolean
AS 'MODULE_PATHNAME', 'sweep_cancel_0_1'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION sweep.cancel(integer, interval, boolean) IS 'cancel the running vacuum of that process, and leave its table alone for that long. Autovacuum''s vacuum against wraparound only with force. Returns false, with a WARNING, if the process runs no vacuum';

CREATE FUNCTION sweep.snooze(relation regclass, duration interval) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'sweep_snooze_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION sweep.snooze(regclass, interval) IS 'leave the table alone for that long. Returns until when. With 0 it ends that, and returns NULL';

CREATE FUNCTION sweep.hold(duration interval DEFAULT '1 hour') RETURNS timestamptz
AS 'MODULE_PATHNAME', 'sweep_hold_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION sweep.hold(interval) IS 'begin no new vacuum, in any database, for that long. Returns until when. 0 ends it, and returns NULL';

-- It is not strict, because a value of NULL removes the setting.
CREATE FUNCTION sweep.set(relation regclass, name text, value text) RETURNS void
AS 'MODULE_PATHNAME', 'sweep_set_0_1'
LANGUAGE C VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION sweep.set(regclass, text, text) IS 'give the table a setting of its own, kept in sweep.table_settings. NULL removes it';

CREATE FUNCTION sweep.reset_runs() RETURNS void
AS 'MODULE_PATHNAME', 'sweep_reset_runs_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION sweep.reset_runs() IS 'forget all finished runs';

CREATE FUNCTION sweep.rearm() RETURNS boolean
AS 'MODULE_PATHNAME', 'sweep_rearm_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION sweep.rearm() IS 'switch pg_sweep on again after the circuit breaker switched it off. Returns false if it was not off';

--
-- Privileges: PUBLIC gets none, and pg_monitor may read.
--

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA sweep, sweep_internal FROM PUBLIC;

-- What a view calls is checked against the one who reads it.  What sweep.explain()
-- calls is also looked up by name.
GRANT USAGE ON SCHEMA sweep, sweep_internal TO pg_monitor;
GRANT SELECT ON ALL TABLES IN SCHEMA sweep TO pg_monitor;

-- pg_dump reads the table, and without it the owner could not dump the database.
-- The owner gets nothing else: no view, no function, and no row of it may be
-- changed.
GRANT USAGE ON SCHEMA sweep TO pg_database_owner;
GRANT SELECT ON sweep.table_settings TO pg_database_owner;
GRANT EXECUTE ON FUNCTION
	sweep_internal.get_progress(), sweep_internal.get_runs(), sweep_internal.get_run_worth(), sweep_internal.get_databases(),
	sweep_internal.get_decisions(), sweep_internal.get_cleanings(), sweep_internal.get_audit(), sweep_internal.get_status(),
	sweep_internal.get_server(), sweep_internal.get_features(),
	sweep_internal.get_relation(oid), sweep_internal.get_readable(text)
TO pg_monitor;

-- pg_maintain exists from PostgreSQL 17 on.
DO $$
BEGIN
	IF EXISTS (SELECT 1 FROM pg_catalog.pg_roles r WHERE r.rolname OPERATOR(pg_catalog.=) 'pg_maintain') THEN
		GRANT USAGE ON SCHEMA sweep TO pg_maintain;
		GRANT EXECUTE ON FUNCTION
			sweep.vacuum(regclass, boolean), sweep.clean(regclass, boolean),
			sweep.cancel(integer, interval, boolean), sweep.snooze(regclass, interval),
			sweep.hold(interval), sweep.set(regclass, text, text)
		TO pg_maintain;
	END IF;
END
$$;
