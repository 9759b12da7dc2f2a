-- What the extension brings, and that it takes all of it away again.
\set VERBOSITY terse
\set SHOW_CONTEXT never
SET client_min_messages = error;
DROP EXTENSION IF EXISTS pg_sweep;
DROP SCHEMA IF EXISTS evil CASCADE;
SET client_min_messages = warning;

-- somebody else's schema is never adopted
CREATE SCHEMA sweep;
CREATE EXTENSION pg_sweep;
DROP SCHEMA sweep;
CREATE SCHEMA sweep_internal;
CREATE EXTENSION pg_sweep;
DROP SCHEMA sweep_internal;

-- superusers only, wherever the role may create
CREATE ROLE regress_sweep_owner;
SELECT format('GRANT CREATE ON DATABASE %I TO regress_sweep_owner', current_database()) AS command \gset
SET client_min_messages = error;
:command;
SET ROLE regress_sweep_owner;
CREATE EXTENSION pg_sweep;
RESET ROLE;
SET client_min_messages = warning;

-- planted operators that would fit better than core's, types and tables that hide core's
CREATE FUNCTION public.same(a int, b int) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION public.same(a name, b text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION public.quotient(a bigint, b double precision) RETURNS double precision LANGUAGE sql AS 'SELECT 0.0';
CREATE OPERATOR public.= (LEFTARG = int, RIGHTARG = int, FUNCTION = public.same);
CREATE OPERATOR public.= (LEFTARG = name, RIGHTARG = text, FUNCTION = public.same);
CREATE OPERATOR public./ (LEFTARG = bigint, RIGHTARG = double precision, FUNCTION = public.quotient);
CREATE OPERATOR public.* (LEFTARG = bigint, RIGHTARG = double precision, FUNCTION = public.quotient);
CREATE FUNCTION public.current_database(VARIADIC text[]) RETURNS name LANGUAGE sql AS 'SELECT NULL::name';
CREATE DOMAIN public.float8 AS pg_catalog.float8;
CREATE TABLE public.pg_database (oid oid, datname name);
CREATE TABLE public.pg_class (oid oid, relname name, relnamespace oid);
SET search_path = public, pg_catalog;
CREATE EXTENSION pg_sweep;
RESET search_path;
SELECT extversion, extrelocatable FROM pg_catalog.pg_extension WHERE extname = 'pg_sweep';

-- nothing of it hangs on an object that is neither core's nor its own
SELECT DISTINCT pg_describe_object(d.refclassid, d.refobjid, 0) AS foreign_object
FROM pg_depend d
WHERE d.refobjid >= 16384
	AND (d.classid = 'pg_rewrite'::regclass AND d.objid IN (SELECT r.oid FROM pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class
			WHERE c.relnamespace IN ('sweep'::regnamespace, 'sweep_internal'::regnamespace))
		OR d.classid = 'pg_proc'::regclass AND d.objid IN (SELECT oid FROM pg_proc WHERE pronamespace IN ('sweep'::regnamespace, 'sweep_internal'::regnamespace)))
	AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = d.refclassid AND e.objid = d.refobjid
		AND e.refclassid = 'pg_extension'::regclass AND e.deptype = 'e')
	AND d.refclassid <> 'pg_extension'::regclass
	-- the row type of a view of ours
	AND NOT (d.refclassid = 'pg_type'::regclass AND d.refobjid IN (SELECT c.reltype FROM pg_catalog.pg_class c WHERE c.relnamespace = 'sweep'::regnamespace));
SET client_min_messages = error;
DROP TABLE public.pg_database, public.pg_class;
DROP DOMAIN public.float8;
DROP FUNCTION public.same(int, int), public.same(name, text), public.quotient(bigint, double precision), public.current_database(text[]) CASCADE;
DROP OWNED BY regress_sweep_owner;
DROP ROLE regress_sweep_owner;
RESET client_min_messages;

-- all objects are in the two schemas, and these are part of the extension
SELECT classid::regclass AS catalog, count(*) > 0 AS some,
	bool_and(pg_describe_object(classid, objid, 0) ~ ' sweep(_internal)?(\.|$)| type sweep\.') AS in_its_schemas
FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
	AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_sweep')
	AND classid IN ('pg_proc'::regclass, 'pg_namespace'::regclass, 'pg_class'::regclass)
GROUP BY 1 ORDER BY classid::regclass::text COLLATE "C";

-- functions are C, or have a safe search_path. They are strict, but those that take NULL for an answer. They are volatile, and run never as somebody else and never in a parallel worker
SELECT l.lanname = 'c' AS c, count(*) > 0 AS some, string_agg(p.proname, ' ' ORDER BY p.proname) FILTER (WHERE NOT p.proisstrict AND l.lanname = 'c') AS not_strict,
	bool_and(l.lanname = 'c' OR p.proconfig @> '{"search_path=pg_catalog, pg_temp"}') AS safe,
	bool_and(p.provolatile = 'v') AS volatile, bool_or(p.prosecdef) AS security_definer,
	bool_or(p.proparallel = 's') AS parallel_safe
FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang WHERE p.pronamespace IN ('sweep'::regnamespace, 'sweep_internal'::regnamespace)
GROUP BY 1 ORDER BY 1;
SELECT proname, regexp_replace(pg_get_function_identity_arguments(oid), ', OUT .*', ', OUT ...') AS arguments, prorettype::regtype AS returns
FROM pg_proc WHERE pronamespace = 'sweep'::regnamespace ORDER BY 1, 2;

-- every view has a comment, and can be read
SELECT c.relname, obj_description(c.oid, 'pg_class') IS NOT NULL AS comment
FROM pg_class c WHERE c.relnamespace = 'sweep'::regnamespace AND c.relkind = 'v' ORDER BY 1;
SELECT count(*) >= 0 AS progress FROM sweep.progress;
SELECT count(*) >= 0 AS runs FROM sweep.runs;
SELECT count(*) AS totals FROM sweep.totals;
SELECT count(*) >= 0 AS history FROM sweep.history;
SELECT count(*) >= 0 AS activity FROM sweep.activity;
SELECT count(*) >= 0 AS databases FROM sweep.databases;
SELECT count(*) >= 0 AS decisions FROM sweep.decisions;
SELECT count(*) = 1 AS status FROM sweep.status;
SELECT count(*) > 0 AS features FROM sweep.features;
SELECT count(*) > 0 AS tables FROM sweep.tables;
SELECT count(*) >= 0 AS queue FROM sweep.queue;
SELECT count(*) >= 0 AS blockers FROM sweep.blockers;
SELECT count(*) >= 0 AS explained FROM sweep.explain();
SELECT count(*) >= 0 AS table_settings FROM sweep.table_settings;

-- the columns that others rely on: what is missing or of another type
WITH expected (view, type, columns) AS (VALUES
	('progress', 'integer', 'pid leader_pid waiters cost_limit'),
	('progress', 'name', 'datname'),
	('progress', 'oid', 'relid'),
	('progress', 'text', 'schemaname relname command started_by mode phase eta_basis limited_by'),
	('progress', 'timestamp with time zone', 'started_at eta_at'),
	('progress', 'interval', 'eta'),
	('progress', 'bigint', 'blks_hit blks_read blks_dirtied wal_records wal_fpi cost index_pass'),
	('progress', 'numeric', 'wal_bytes'),
	('progress', 'double precision', 'cost_per_s read_mb_per_s dirty_mb_per_s wal_mb_per_s delay_time sleep_pct done_pct cost_delay'),
	('runs', 'bigint', 'run_id blks_hit blks_read blks_dirtied wal_records wal_fpi cost index_pass tuples_removed dead_not_removable'),
	('runs', 'integer', 'pid cost_limit'),
	('runs', 'name', 'datname'),
	('runs', 'oid', 'relid'),
	('runs', 'text', 'schemaname relname command started_by mode outcome reason'),
	('runs', 'timestamp with time zone', 'started_at ended_at'),
	('runs', 'numeric', 'wal_bytes'),
	('runs', 'double precision', 'cost_per_s read_mb_per_s dirty_mb_per_s wal_mb_per_s delay_time sleep_pct cost_delay'),
	('totals', 'text', 'span started_by'),
	('totals', 'timestamp with time zone', 'since complete_since'),
	('totals', 'bigint', 'vacuums analyzes failed cancelled skipped blks_hit blks_read blks_dirtied cost tuples_removed'),
	('totals', 'double precision', 'run_time delay_time'),
	('history', 'timestamp with time zone', 'hour last_ended_at'),
	('history', 'oid', 'datid relid'),
	('history', 'name', 'datname'),
	('history', 'text', 'schemaname relname command started_by'),
	('history', 'bigint', 'runs failed cancelled skipped cost tuples_removed dead_not_removable'),
	('activity', 'timestamp with time zone', 'hour since'),
	('activity', 'oid', 'datid relid'),
	('activity', 'name', 'datname'),
	('activity', 'text', 'schemaname relname'),
	('activity', 'bigint', 'inserted updated hot_updated deleted live_tuples dead_tuples xids'),
	('databases', 'oid', 'datid'),
	('databases', 'name', 'datname'),
	('databases', 'boolean', 'ours'),
	('databases', 'bigint', 'relations due dead_tuples'),
	('databases', 'timestamp with time zone', 'last_visit'),
	('decisions', 'oid', 'relid'),
	('decisions', 'name', 'datname'),
	('decisions', 'text', 'schemaname relname decision reason'),
	('decisions', 'timestamp with time zone', 'first_at last_at'),
	('decisions', 'bigint', 'times'),
	('decisions', 'timestamp with time zone', 'would_vacuum_at vacuumed_instead_at'),
	('tables', 'oid', 'relid'),
	('tables', 'text', 'schemaname relname lane decision reason'),
	('tables', 'bigint', 'dead_tuples ins_since_vacuum mod_since_analyze pages frozen_pages all_visible_pages truncatable_bytes'),
	('tables', 'integer', 'xid_age mxid_age'),
	('tables', 'double precision', 'vacuum_threshold insert_threshold analyze_threshold score xid_score mxid_score vacuum_score vacuum_insert_score analyze_score'),
	('tables', 'boolean', 'do_vacuum'),
	('tables', 'integer[]', 'blocked_by'),
	('tables', 'timestamp with time zone', 'not_before snoozed_until last_run'),
	('queue', 'integer', 'position attempts'),
	('queue', 'oid', 'datid relid'),
	('queue', 'name', 'datname'),
	('queue', 'text', 'state schemaname relname lane reason waiting_for requested_by'),
	('queue', 'double precision', 'score estimated_mb'),
	('queue', 'timestamp with time zone', 'waiting_since not_before requested_at'),
	('queue', 'interval', 'estimated_duration'),
	('queue', 'bigint', 'request_id'),
	('queue', 'boolean', 'aux'),
	('blockers', 'text', 'kind usename name state query withholds fix risk'),
	('blockers', 'integer', 'pid'),
	('blockers', 'name', 'datname'),
	('blockers', 'xid', 'xmin'),
	('blockers', 'bigint', 'age'),
	('blockers', 'timestamp with time zone', 'since'),
	('status', 'timestamp with time zone', 'held_until'),
	('status', 'text', 'standby_conflicts'),
	('table_settings', 'regclass', 'relid'),
	('table_settings', 'text', 'name value set_by'),
	('table_settings', 'timestamp with time zone', 'set_at'))
SELECT e.view, c.name, e.type AS expected, format_type(a.atttypid, a.atttypmod) AS got
FROM expected e CROSS JOIN string_to_table(e.columns, ' ') AS c (name)
	LEFT JOIN pg_attribute a ON a.attrelid = ('sweep.' || e.view)::regclass AND a.attname = c.name
WHERE format_type(a.atttypid, a.atttypmod) IS DISTINCT FROM e.type;

-- the library is what the SQL objects say
SELECT sql_version = library_version AS same_version,
	server_version_built / 10000 = current_setting('server_version_num')::int / 10000 AS same_major,
	mode, effective_mode, reason FROM sweep.status;
SELECT feature, enabled FROM sweep.features ORDER BY 1;

-- not by moving, and not twice
CREATE SCHEMA elsewhere;
ALTER EXTENSION pg_sweep SET SCHEMA elsewhere;
DROP SCHEMA elsewhere;
CREATE EXTENSION pg_sweep;

-- it leaves nothing behind
CREATE TEMPORARY TABLE objects AS
	SELECT classid, objid FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
		AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_sweep')
	UNION ALL SELECT 'pg_extension'::regclass, oid FROM pg_extension WHERE extname = 'pg_sweep';
SELECT count(*) > 10 AS many FROM objects;
DROP EXTENSION pg_sweep;
SELECT count(*) AS schemas FROM pg_namespace WHERE nspname IN ('sweep', 'sweep_internal');
SELECT count(*) AS functions FROM pg_proc WHERE probin ~ 'pg_sweep';
SELECT (SELECT count(*) FROM pg_init_privs p JOIN objects o ON o.classid = p.classoid AND o.objid = p.objoid) AS init_privs,
	(SELECT count(*) FROM pg_depend d JOIN objects o ON o.classid = d.classid AND o.objid = d.objid) AS depend,
	(SELECT count(*) FROM pg_depend d JOIN objects o ON o.classid = d.refclassid AND o.objid = d.refobjid) AS depend_on,
	(SELECT count(*) FROM pg_shdepend d JOIN objects o ON o.classid = d.classid AND o.objid = d.objid
		WHERE d.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())) AS shdepend,
	(SELECT count(*) FROM pg_description d JOIN objects o ON o.classid = d.classoid AND o.objid = d.objoid) AS comments,
	(SELECT count(*) FROM pg_default_acl) AS default_acl;

-- what was recorded is the library's, not the extension's
CREATE EXTENSION pg_sweep;
VACUUM objects;
DROP EXTENSION pg_sweep;
ANALYZE objects;
CREATE EXTENSION pg_sweep;
SELECT command, relname, outcome FROM sweep.runs WHERE pid = pg_backend_pid() AND relname = 'objects' ORDER BY run_id;
