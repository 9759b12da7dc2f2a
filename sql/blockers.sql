
--
-- sweep.blockers
--

CREATE FUNCTION sweep.get_horizon_holders(
	OUT pid integer, OUT datid oid, OUT xmin xid, OUT age bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_horizon_holders_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- What holds a horizon, without what is to be done about it. datid: whose
-- (NULL: of all databases); catalogs: those only.
CREATE FUNCTION sweep.get_holders(
	OUT kind text, OUT pid integer, OUT datid oid, OUT usename text, OUT name text, OUT state text,
	OUT xmin xid, OUT age bigint, OUT since timestamptz, OUT query text, OUT catalogs boolean)
RETURNS SETOF record
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN a.backend_type = 'walsender' THEN 'standby feedback'
            WHEN i.pid IS NOT NULL THEN 'create index'
            WHEN v.pid IS NOT NULL THEN 'vacuum'
            WHEN a.state LIKE 'idle in transaction%' THEN 'idle in transaction'
            WHEN a.backend_type = 'client backend' THEN 'transaction'
            ELSE 'other' END,
       h.pid, h.datid, a.usename::text, nullif(a.application_name, ''),
       coalesce(a.state, a.backend_type), h.xmin, h.age,
       CASE WHEN a.backend_type = 'walsender' THEN a.backend_start ELSE a.xact_start END,
       nullif(a.query, ''), false
FROM sweep.get_horizon_holders() h
     LEFT JOIN pg_stat_activity a ON a.pid = h.pid
     LEFT JOIN pg_stat_progress_create_index i ON i.pid = h.pid
     LEFT JOIN (SELECT DISTINCT p.pid FROM sweep.get_progress() p) v ON v.pid = h.pid
WHERE a.leader_pid IS NULL
UNION ALL
SELECT 'prepared transaction', NULL, d.oid, p.owner::text, p.gid, 'prepared', p.transaction,
       age(p.transaction), p.prepared, NULL, false
FROM pg_prepared_xacts p JOIN pg_database d ON d.datname = p.database
UNION ALL
SELECT CASE WHEN s.slot_type = 'logical' THEN 'logical slot'
            WHEN s.active THEN 'standby feedback' ELSE 'physical slot' END,
       s.active_pid, NULL, r.usename::text, s.slot_name::text,
       CASE WHEN s.active THEN 'active' ELSE 'inactive' END,
       m.xmin, age(m.xmin), (to_jsonb(s) ->> 'inactive_since')::timestamptz, NULL, m.catalogs
FROM pg_replication_slots s
     CROSS JOIN LATERAL (VALUES (s.xmin, false), (s.catalog_xmin, true)) AS m (xmin, catalogs)
     LEFT JOIN pg_stat_replication r ON r.pid = s.active_pid
WHERE m.xmin IS NOT NULL AND NOT (m.catalogs AND s.xmin IS NOT NULL AND age(s.xmin) >= age(m.xmin))
UNION ALL
SELECT 'other', NULL, NULL, NULL, 'vacuum_defer_cleanup_age', 'setting', NULL, g.setting::bigint, NULL, NULL, false
FROM pg_settings g WHERE g.name = 'vacuum_defer_cleanup_age' AND g.setting <> '0'
$$;

-- The statement that makes it let go, and what that costs.
CREATE FUNCTION sweep.get_holder_fix(
	kind text, pid integer, name text, state text, OUT fix text, OUT risk text)
RETURNS record
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT f.fix, f.risk FROM (VALUES
	(kind = 'idle in transaction',
	 format('SELECT pg_catalog.pg_terminate_backend(%s);', pid),
	 'the session ends and what its transaction did is rolled back; idle_in_transaction_session_timeout does this by itself'),
	(kind = 'transaction',
	 format('SELECT pg_catalog.pg_cancel_backend(%s);', pid),
	 'the statement ends in an error and its transaction is rolled back'),
	(kind = 'prepared transaction' AND name LIKE 'citus\_%',
	 'SELECT recover_prepared_transactions(); -- on the coordinator',
	 'Citus finds out whether the transaction was committed elsewhere; COMMIT or ROLLBACK PREPARED by hand can leave half of it'),
	(kind = 'prepared transaction',
	 format('ROLLBACK PREPARED %L; -- in its database', name),
	 'what the transaction did is lost; ask its transaction manager first: it may have promised to commit it (COMMIT PREPARED)'),
	(kind IN ('physical slot', 'logical slot') AND state = 'inactive',
	 format('SELECT pg_catalog.pg_drop_replication_slot(%L);', name),
	 CASE kind WHEN 'logical slot' THEN 'its consumer loses all changes since and has to be copied afresh'
		ELSE 'its standby may not find the WAL that it needs any more, and has to be made anew' END),
	(kind = 'logical slot',
	 format('SELECT confirmed_flush_lsn, pg_catalog.pg_current_wal_lsn() FROM pg_catalog.pg_replication_slots WHERE slot_name = %L;', name),
	 'none, it only looks: the consumer has to confirm what it has received; ending it makes it begin there again'),
	(kind = 'standby feedback',
	 'ALTER SYSTEM SET hot_standby_feedback = off; SELECT pg_catalog.pg_reload_conf(); -- on the standby',
	 'queries on the standby are cancelled when they need rows that are removed here; or end there what runs longest'),
	(kind = 'create index',
	 format('SELECT pg_catalog.pg_cancel_backend(%s);', pid),
	 'the index is not made; CREATE INDEX CONCURRENTLY leaves an invalid one that has to be dropped'),
	(kind = 'vacuum',
	 format('SELECT pg_catalog.pg_cancel_backend(%s);', pid),
	 'what it has done so far is lost; VACUUM FULL and ANALYZE begin anew'),
	(name = 'vacuum_defer_cleanup_age',
	 'ALTER SYSTEM RESET vacuum_defer_cleanup_age; SELECT pg_catalog.pg_reload_conf();',
	 'queries on standbys without feedback are cancelled more often'),
	(pid IS NOT NULL,
	 format('SELECT pg_catalog.pg_terminate_backend(%s);', pid),
	 'the process ends and what its transaction did is rolled back')
) AS f (applies, fix, risk) WHERE f.applies LIMIT 1
$$;

CREATE FUNCTION sweep.get_blockers(
	OUT kind text, OUT pid integer, OUT datname name, OUT usename text, OUT name text, OUT state text,
	OUT xmin xid, OUT age bigint, OUT since timestamptz, OUT query text, OUT withholds text,
	OUT fix text, OUT risk text, OUT catalogs boolean)
RETURNS SETOF record
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
WITH held AS (
	SELECT g.datid, g.relid, concat_ws('.', d.datname, g.schemaname, g.relname) AS name, age(g.waits_for) AS age
	FROM sweep.get_decisions() g LEFT JOIN pg_database d ON d.oid = g.datid
	WHERE g.decision = 'held back' AND g.waits_for IS NOT NULL)
SELECT h.kind, h.pid, d.datname, h.usename, h.name, h.state, h.xmin, h.age, h.since, h.query,
       coalesce((SELECT format('dead rows of %s %s: %s', count(*), CASE WHEN count(*) = 1 THEN 'table' ELSE 'tables' END,
                               left(string_agg(t.name, ', ' ORDER BY t.name), 200))
                 FROM held t
                 WHERE t.age < h.age AND (h.datid IS NULL OR t.datid IS NULL OR t.datid = h.datid)
                   AND (NOT h.catalogs OR t.relid < 16384)
                 HAVING count(*) > 0),
                format('%s that died in the last %s transactions%s',
                       CASE WHEN h.catalogs THEN 'rows of catalogs' ELSE 'rows' END, h.age,
                       CASE WHEN h.datid IS NULL THEN ', in all databases'
                            ELSE format(', in database "%s" and the shared catalogs', d.datname) END)),
       f.fix, f.risk, h.catalogs
FROM sweep.get_holders() h
     LEFT JOIN pg_database d ON d.oid = h.datid
     LEFT JOIN LATERAL sweep.get_holder_fix(h.kind, h.pid, h.name, h.state) f ON true
WHERE h.age > 0
$$;

CREATE VIEW sweep.blockers AS
SELECT b.kind, b.pid, b.datname, b.usename, b.name, b.state, b.xmin, b.age, b.since, b.query, b.withholds, b.fix, b.risk
FROM sweep.get_blockers() b
ORDER BY b.age DESC, b.since;

COMMENT ON VIEW sweep.blockers IS 'one row per thing that keeps dead rows from being removed, the oldest first: what it withholds, what to do about it, and what that costs';

REVOKE ALL ON FUNCTION sweep.get_horizon_holders(), sweep.get_holders(),
	sweep.get_holder_fix(text, integer, text, text), sweep.get_blockers() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sweep.get_horizon_holders(), sweep.get_holders(),
	sweep.get_holder_fix(text, integer, text, text), sweep.get_blockers() TO pg_monitor;
GRANT SELECT ON sweep.blockers TO pg_monitor;
