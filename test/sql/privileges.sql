-- PUBLIC gets nothing, pg_monitor may read, and acting takes EXECUTE on each function.

\set ECHO none
\getenv srcdir PG_ABS_SRCDIR
\set common :srcdir /sql/common.psql
\i :common

SET client_min_messages = error;
CREATE ROLE regress_sweep_nobody;
CREATE ROLE regress_sweep_monitor IN ROLE pg_monitor;
CREATE ROLE regress_sweep_oncall;
RESET client_min_messages;

-- what PUBLIC has, what a member of pg_monitor has besides reading, what it cannot read
SELECT kind, name FROM (
	SELECT 'schema' AS kind, nspname::text AS name, has_schema_privilege('regress_sweep_nobody', oid, 'USAGE, CREATE') AS has
	FROM pg_namespace WHERE nspname IN ('sweep', 'sweep_internal')
	UNION ALL SELECT 'view', relname, has_table_privilege('regress_sweep_nobody', oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
	FROM pg_class WHERE relnamespace = 'sweep'::regnamespace AND relkind <> 'i'
	UNION ALL SELECT 'function', proname, has_function_privilege('regress_sweep_nobody', oid, 'EXECUTE')
	FROM pg_proc WHERE pronamespace IN ('sweep'::regnamespace, 'sweep_internal'::regnamespace)) AS o
WHERE has;
SELECT kind, name FROM (
	SELECT 'schema' AS kind, nspname::text AS name, has_schema_privilege('regress_sweep_monitor', oid, 'CREATE') AS more,
		has_schema_privilege('regress_sweep_monitor', oid, 'USAGE') AS reads
	FROM pg_namespace WHERE nspname IN ('sweep', 'sweep_internal')
	UNION ALL SELECT 'view', relname, has_table_privilege('regress_sweep_monitor', oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER'),
		has_table_privilege('regress_sweep_monitor', oid, 'SELECT')
	FROM pg_class WHERE relnamespace = 'sweep'::regnamespace AND relkind <> 'i'
	UNION ALL SELECT 'function', proname, has_function_privilege('regress_sweep_monitor', oid, 'EXECUTE') AND proname !~ '^(get_|explain$|sensors$|history_since$|activity_since$|simulate)',
		has_function_privilege('regress_sweep_monitor', oid, 'EXECUTE') OR proname !~ '^(get_|explain$|sensors$|history_since$|activity_since$|simulate)'
	FROM pg_proc WHERE pronamespace IN ('sweep'::regnamespace, 'sweep_internal'::regnamespace)) AS o
WHERE more OR NOT reads;

-- the functions that act are nobody's, but that pg_maintain (from 17 on) may do what is about vacuums
SELECT p.proname, string_agg(CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END, ', ') AS granted_to
FROM pg_proc p CROSS JOIN LATERAL aclexplode(p.proacl) a
WHERE p.pronamespace IN ('sweep'::regnamespace, 'sweep_internal'::regnamespace) AND p.proname !~ '^(get_|explain$|sensors$|history_since$|activity_since$|simulate)' AND a.grantee <> p.proowner
	AND NOT (p.proname IN ('vacuum', 'clean', 'cancel', 'snooze', 'hold', 'set', 'slow', 'hurry', 'release') AND a.grantee <> 0 AND a.grantee::regrole::text = 'pg_maintain')
GROUP BY 1;
SELECT bool_and(has_schema_privilege(r.oid, 'sweep', 'USAGE') AND NOT has_schema_privilege(r.oid, 'sweep_internal', 'USAGE')
	AND (SELECT count(*) FILTER (WHERE has_function_privilege(r.oid, p.oid, 'EXECUTE')) = 9 FROM pg_proc p WHERE p.pronamespace = 'sweep'::regnamespace)
	AND NOT has_table_privilege(r.oid, 'sweep.runs', 'SELECT')) IS NOT FALSE AS maintain
FROM pg_roles r WHERE r.rolname = 'pg_maintain';

-- really so
SET ROLE regress_sweep_nobody;
SELECT count(*) FROM sweep.runs;
SELECT sweep.reset_runs();
SELECT count(*) FROM sweep_internal.get_runs();
RESET ROLE;
GRANT USAGE ON SCHEMA sweep, sweep_internal TO regress_sweep_nobody;
SET ROLE regress_sweep_nobody;
SELECT count(*) FROM sweep.progress;
SELECT count(*) FROM sweep.runs;
SELECT count(*) FROM sweep.databases;
SELECT count(*) FROM sweep.decisions;
SELECT count(*) FROM sweep.status;
SELECT count(*) FROM sweep.features;
SELECT count(*) FROM sweep.tables;
SELECT count(*) FROM sweep.queue;
SELECT count(*) FROM sweep.budget;
SELECT count(*) FROM sweep.governor;
SELECT sweep.slow(1);
SELECT sweep.hurry(1);
SELECT sweep.release(1);
SELECT count(*) FROM sweep.blockers;
SELECT count(*) FROM sweep.table_settings;
SELECT count(*) FROM sweep_internal.get_progress();
SELECT count(*) FROM sweep_internal.get_runs();
SELECT count(*) FROM sweep_internal.get_databases();
SELECT count(*) FROM sweep_internal.get_decisions();
SELECT count(*) FROM sweep_internal.get_status();
SELECT count(*) FROM sweep_internal.get_server();
SELECT count(*) FROM sweep_internal.get_features();
SELECT count(*) FROM sweep_internal.get_tables();
SELECT count(*) FROM sweep_internal.get_queue();
SELECT count(*) FROM sweep_internal.get_xid_rate();
SELECT count(*) FROM sweep_internal.get_horizon_holders();
SELECT count(*) FROM sweep_internal.get_holders();
SELECT count(*) FROM sweep_internal.get_blockers();
SELECT count(*) FROM sweep_internal.get_explanation('{}');
SELECT count(*) FROM sweep.explain('pg_class');
SELECT count(*) FROM sweep.explain();
SELECT sweep.cancel(1);
SELECT sweep.cancel(1, '1 hour');
SELECT sweep.vacuum('pg_class');
SELECT sweep.vacuum('pg_class', aux => true);
SELECT sweep.snooze('pg_class', '1 hour');
SELECT sweep.hold();
SELECT sweep.hold('0');
SELECT sweep.set('pg_class', 'enabled', 'off');
SELECT sweep.reset_runs();
SELECT sweep.rearm();
RESET ROLE;

-- pg_monitor reads and cannot act
SET ROLE regress_sweep_monitor;
SELECT count(*) >= 0 AS progress FROM sweep.progress;
SELECT count(*) >= 0 AS runs FROM sweep.runs;
SELECT count(*) > 0 AS databases FROM sweep.databases;
SELECT count(*) >= 0 AS decisions FROM sweep.decisions;
SELECT count(*) = 1 AS status FROM sweep.status;
SELECT count(*) > 0 AS features FROM sweep.features;
SELECT count(*) > 0 AS tables FROM sweep.tables;
SELECT count(*) >= 0 AS queue FROM sweep.queue;
SELECT count(*) >= 0 AS blockers FROM sweep.blockers;
SELECT count(*) > 0 AS explained FROM sweep.explain('pg_class');
SELECT count(*) >= 0 AS explained FROM sweep.explain();
SELECT count(*) >= 0 AS table_settings FROM sweep.table_settings;
INSERT INTO sweep.table_settings VALUES ('pg_class', 'enabled', 'off');
SELECT sweep.cancel(1);
SELECT sweep.cancel(1, '1 hour');
SELECT sweep.vacuum('pg_class');
SELECT sweep.vacuum('pg_class', aux => true);
SELECT sweep.snooze('pg_class', '1 hour');
SELECT sweep.hold();
SELECT sweep.hold('0');
SELECT sweep.set('pg_class', 'enabled', 'off');
SELECT sweep.reset_runs();
SELECT sweep.rearm();
RESET ROLE;

-- an on-call role is given exactly what it needs
GRANT USAGE ON SCHEMA sweep TO regress_sweep_oncall;
GRANT EXECUTE ON FUNCTION sweep.cancel, sweep.rearm() TO regress_sweep_oncall;
SET ROLE regress_sweep_oncall;
SELECT sweep.rearm();
SELECT sweep.cancel(0);
SELECT sweep.cancel(-1);
SELECT sweep.cancel(2147483647);
SELECT sweep.cancel(NULL) IS NULL AS null_is_null;
SELECT sweep.reset_runs();
RESET ROLE;

-- a session that runs none, though it is there
SET client_min_messages = error;
SELECT sweep.cancel(pg_backend_pid()) AS cancelled, 'still here' AS and_it_is;
RESET client_min_messages;

-- the views only read
INSERT INTO sweep.runs (run_id) VALUES (1);
DELETE FROM sweep.runs;
UPDATE sweep.features SET enabled = true;

DROP OWNED BY regress_sweep_nobody, regress_sweep_monitor, regress_sweep_oncall;
DROP ROLE regress_sweep_nobody, regress_sweep_monitor, regress_sweep_oncall;
