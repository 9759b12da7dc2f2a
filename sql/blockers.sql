
--
-- sweep.blockers
--

-- As many names as 200 bytes hold, and how many more there are.
CREATE FUNCTION sweep_internal.get_list(names text[])
RETURNS text
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT string_agg(n.name, ', ' ORDER BY n.place) FILTER (WHERE n.fits)
	|| CASE WHEN bool_and(n.fits) THEN '' ELSE format(' and %s more', count(*) FILTER (WHERE NOT n.fits)) END
FROM (SELECT u.name, u.place, u.place = 1 OR sum(octet_length(u.name) + 2) OVER (ORDER BY u.place) <= 202 AS fits
	FROM unnest(names) WITH ORDINALITY AS u (name, place)) n
$$;

-- "1 row" or "2 rows".
CREATE FUNCTION sweep_internal.get_plural(count bigint, noun text)
RETURNS text
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('%s %s%s', count, noun, CASE WHEN count <> 1 THEN 's' END)
$$;

CREATE FUNCTION sweep_internal.get_horizon_holders(
	OUT pid integer, OUT datid oid, OUT xmin xid, OUT age bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_horizon_holders_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- A session that Citus has opened on behalf of one on another node says so by its name. The
-- name holds the other one's global pid, which is 10000000000 times the number of the node,
-- plus the pid there.
CREATE FUNCTION sweep_internal.get_origin(application_name text)
RETURNS text
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT coalesce((SELECT format('%s (pid %s on node %s)', m.a[1], m.a[2]::bigint % 10000000000, m.a[2]::bigint / 10000000000)
	FROM regexp_match(application_name, '^(citus_[a-z_]+ gpid=(\d{1,18}))') AS m (a) WHERE m.a IS NOT NULL), nullif(application_name, ''))
$$;

-- What ends the session or statement there. NULL if it is not such a session, or if Citus is
-- not in this database.
CREATE FUNCTION sweep_internal.get_origin_fix(application_name text, state text)
RETURNS text
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('SELECT pg_catalog.%s(%s::bigint); -- a global pid', f.name, m.a[1])
FROM regexp_match(application_name, '^citus_[a-z_]+ gpid=(\d{1,18})') AS m (a),
	(SELECT CASE WHEN state LIKE 'idle in transaction%' THEN 'pg_terminate_backend' ELSE 'pg_cancel_backend' END) AS f (name)
WHERE m.a IS NOT NULL AND EXISTS (SELECT FROM pg_proc p
	WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = f.name AND p.proargtypes[0] = 'bigint'::regtype)
$$;

CREATE FUNCTION sweep_internal.get_temp_owner(namespace oid) RETURNS integer
AS 'MODULE_PATHNAME', 'sweep_temp_owner_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- What holds a horizon, or keeps this database from getting younger, without what
-- is to be done about it. datid says whose
-- it is (NULL: that of all databases), catalogs whether it is theirs only. A
-- process that only has the age of somebody else's running transaction is left
-- out, and so is the one that asks.
CREATE FUNCTION sweep_internal.get_holders(
	OUT kind text, OUT pid integer, OUT datid oid, OUT usename text, OUT name text, OUT state text,
	OUT xmin xid, OUT age bigint, OUT since timestamptz, OUT query text, OUT catalogs boolean)
RETURNS SETOF record
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
-- The functions under core's views, because a view is planned anew each time, which takes ten times
-- as long as to run it.
WITH activity AS MATERIALIZED (
	SELECT * FROM pg_stat_get_activity(NULL)
), running AS (
	SELECT a.backend_xid AS xid FROM activity a WHERE a.backend_xid IS NOT NULL
	UNION ALL
	SELECT p.transaction FROM pg_prepared_xact() p
), transactions AS (
	SELECT CASE WHEN a.backend_type = 'walsender' THEN 'standby feedback'
	            WHEN i.pid IS NOT NULL THEN 'create index'
	            WHEN v.pid IS NOT NULL THEN 'vacuum'
	            WHEN a.state LIKE 'idle in transaction%' THEN 'idle in transaction'
	            WHEN a.backend_type = 'client backend' THEN 'transaction'
	            ELSE 'other' END AS kind,
	       h.pid, h.datid, sweep_internal.get_readable(pg_get_userbyid(a.usesysid)::text) AS usename,
	       -- a function in SQL is planned in each session that calls it
	       CASE WHEN a.application_name LIKE 'citus\_%' THEN sweep_internal.get_origin(sweep_internal.get_readable(a.application_name))
	            ELSE sweep_internal.get_readable(nullif(a.application_name, '')) END AS name,
	       coalesce(a.state, a.backend_type) AS state, h.xmin, h.age,
	       CASE WHEN a.backend_type = 'walsender' THEN a.backend_start ELSE a.xact_start END AS since,
	       sweep_internal.get_readable(nullif(a.query, '')) AS query
	FROM sweep_internal.get_horizon_holders() h
	     LEFT JOIN activity a ON a.pid = h.pid
	     LEFT JOIN pg_stat_get_progress_info('CREATE INDEX') i ON i.pid = h.pid
	     LEFT JOIN (SELECT DISTINCT p.pid FROM sweep_internal.get_progress() p) v ON v.pid = h.pid
	WHERE a.leader_pid IS NULL AND h.pid IS NOT NULL
	UNION ALL
	SELECT 'prepared transaction', NULL, x.datid, sweep_internal.get_readable(pg_get_userbyid(p.ownerid)::text),
	       sweep_internal.get_readable(p.gid), 'prepared', p.transaction, age(p.transaction), p.prepared, NULL
	FROM pg_prepared_xact() p
	     CROSS JOIN LATERAL (SELECT p.dbid
	                         UNION SELECT h.datid FROM sweep_internal.get_horizon_holders() h
	                         WHERE h.pid IS NULL AND h.xmin = p.transaction) x (datid)
), slots AS (
	SELECT s.slot_type, s.active, s.active_pid,
	       sweep_internal.get_readable(pg_get_userbyid(r.usesysid)::text) AS usename, s.slot_name, m.xmin, m.catalogs,
	       (to_jsonb(s) ->> 'inactive_since')::timestamptz AS since,
	       -- what its consumer needs is as old as the oldest transaction here
	       s.active AND EXISTS (SELECT FROM running WHERE running.xid = m.xmin) AS inherits
	FROM pg_get_replication_slots() s
	     CROSS JOIN LATERAL (VALUES (s.xmin, false), (s.catalog_xmin, true)) AS m (xmin, catalogs)
	     LEFT JOIN activity r ON r.pid = s.active_pid AND r.backend_type = 'walsender'
	WHERE m.xmin IS NOT NULL AND NOT (m.catalogs AND s.xmin IS NOT NULL AND age(s.xmin) >= age(m.xmin))
)
SELECT t.*, false FROM transactions t
UNION ALL
-- a slot makes it felt in all databases
SELECT DISTINCT ON (t.pid, t.name, s.catalogs)
       t.kind, t.pid, NULL::oid, t.usename, t.name, t.state, t.xmin, t.age, t.since, t.query, s.catalogs
FROM slots s JOIN transactions t ON t.xmin = s.xmin
WHERE s.inherits AND t.datid IS NOT NULL
UNION ALL
SELECT CASE WHEN s.slot_type = 'logical' THEN 'logical slot'
            WHEN s.active THEN 'standby feedback' ELSE 'physical slot' END,
       s.active_pid, NULL, s.usename, s.slot_name::text,
       CASE WHEN s.active THEN 'active' ELSE 'inactive' END,
       s.xmin, age(s.xmin), s.since, NULL, s.catalogs
FROM slots s WHERE NOT s.inherits
UNION ALL
-- before PostgreSQL 16
SELECT 'other', NULL, NULL, NULL, 'vacuum_defer_cleanup_age', 'setting', NULL, g.setting::bigint, NULL, NULL, false
FROM current_setting('vacuum_defer_cleanup_age', true) g (setting) WHERE g.setting <> '0'
UNION ALL
-- No vacuum but their own session's can freeze temporary tables. Of each session the oldest that is
-- older than autovacuum lets any other table become. None is older than the oldest id of the database,
-- which spares nearly always the look at pg_class.
(SELECT DISTINCT ON (t.pid, CASE WHEN t.pid IS NULL THEN t.oid END)
        'temporary table', t.pid, d.oid, sweep_internal.get_readable(pg_get_userbyid(coalesce(a.usesysid, t.relowner))::text),
        sweep_internal.get_readable(t.oid::regclass::text), coalesce(a.state, 'its session has ended'),
        t.relfrozenxid, t.age, a.backend_start, sweep_internal.get_readable(nullif(a.query, '')), false
 FROM (SELECT c.oid, c.relowner, c.relfrozenxid, age(c.relfrozenxid)::bigint AS age, sweep_internal.get_temp_owner(c.relnamespace) AS pid
       FROM pg_class c
       WHERE c.relpersistence = 't' AND c.relkind IN ('r', 'm')
         AND age(c.relfrozenxid) > current_setting('autovacuum_freeze_max_age')::int
         AND (SELECT age(x.datfrozenxid) FROM pg_database x WHERE x.datname = current_database())
             > current_setting('autovacuum_freeze_max_age')::int) t
      JOIN pg_database d ON d.datname = current_database()
      LEFT JOIN activity a ON a.pid = t.pid
 ORDER BY t.pid, CASE WHEN t.pid IS NULL THEN t.oid END, t.age DESC, t.oid)
$$;

-- The statement that makes it let go, and what that costs.
CREATE FUNCTION sweep_internal.get_holder_fix(
	kind text, pid integer, name text, state text, OUT fix text, OUT risk text)
RETURNS record
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT f.fix, f.risk FROM (SELECT CASE WHEN name LIKE 'citus\_%' THEN sweep_internal.get_origin_fix(name, kind) END) AS o (fix), LATERAL (VALUES
	(o.fix IS NOT NULL,
	 o.fix,
	 'what its transaction did is rolled back on all nodes. Ending only the session here would leave the one where it began'),
	(kind = 'idle in transaction',
	 format('SELECT pg_catalog.pg_terminate_backend(%s);', pid),
	 'the session ends and what its transaction did is rolled back. idle_in_transaction_session_timeout does this by itself'),
	(kind = 'transaction',
	 format('SELECT pg_catalog.pg_cancel_backend(%s);', pid),
	 'the statement ends in an error and its transaction is rolled back'),
	(kind = 'temporary table' AND pid IS NOT NULL,
	 format('SELECT pg_catalog.pg_terminate_backend(%s);', pid),
	 'the session ends and its temporary tables are dropped. Or its owner runs VACUUM on them there'),
	(kind = 'temporary table',
	 format('DROP TABLE %s;', name),
	 'none: its session has ended. Autovacuum drops it as well when it comes to this database'),
	(kind = 'prepared transaction' AND name LIKE 'citus\_%',
	 'SELECT recover_prepared_transactions(); -- on the coordinator',
	 'Citus finds out whether the transaction was committed elsewhere. COMMIT or ROLLBACK PREPARED by hand can leave half of it'),
	(kind = 'prepared transaction',
	 format('ROLLBACK PREPARED %L; -- in its database', name),
	 'what the transaction did is lost. Ask its transaction manager first: it may have promised to commit it (COMMIT PREPARED)'),
	(kind IN ('physical slot', 'logical slot') AND state = 'inactive',
	 format('SELECT pg_catalog.pg_drop_replication_slot(%L);', name),
	 CASE kind WHEN 'logical slot' THEN 'its consumer loses all changes since and has to be copied afresh'
		ELSE 'its standby may not find the WAL that it needs any more, and has to be made anew' END),
	(kind = 'logical slot',
	 format('SELECT confirmed_flush_lsn, pg_catalog.pg_current_wal_lsn() FROM pg_catalog.pg_replication_slots WHERE slot_name = %L;', name),
	 'none, because it only looks. The consumer has to confirm what it has received. When it is ended it begins there again'),
	(kind = 'standby feedback',
	 'ALTER SYSTEM SET hot_standby_feedback = off; SELECT pg_catalog.pg_reload_conf(); -- on the standby',
	 'queries on the standby are cancelled when they need rows that are removed here. Or end there the query that runs longest'),
	(kind = 'create index',
	 format('SELECT pg_catalog.pg_cancel_backend(%s);', pid),
	 'the index is not made. CREATE INDEX CONCURRENTLY leaves an invalid one that has to be dropped'),
	(kind = 'vacuum',
	 format('SELECT pg_catalog.pg_cancel_backend(%s);', pid),
	 'what it has done so far is lost. VACUUM FULL and ANALYZE begin anew'),
	(name = 'vacuum_defer_cleanup_age',
	 'ALTER SYSTEM RESET vacuum_defer_cleanup_age; SELECT pg_catalog.pg_reload_conf();',
	 'queries on standbys without feedback are cancelled more often'),
	(pid IS NOT NULL,
	 format('SELECT pg_catalog.pg_terminate_backend(%s);', pid),
	 'the process ends and what its transaction did is rolled back')
) AS f (applies, fix, risk) WHERE f.applies LIMIT 1
$$;

-- The vacuum that a process waits for, itself or behind others who do. To end one of those who
-- wait would help nobody. None if the vacuum itself waits for somebody.
CREATE FUNCTION sweep_internal.get_vacuum_ahead(
	waiting integer, OUT pid integer, OUT relid oid, OUT said text, OUT fix text, OUT risk text)
RETURNS SETOF record
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
WITH RECURSIVE ahead AS (
	SELECT b.pid FROM unnest(pg_blocking_pids($1)) AS b (pid)
	UNION
	SELECT b.pid FROM ahead a CROSS JOIN LATERAL unnest(pg_blocking_pids(a.pid)) AS b (pid))
SELECT p.pid, p.relid, format('the vacuum of %s (pid %s, %s)', coalesce(nullif(concat_ws('.', p.schemaname, p.relname), ''), 'OID ' || p.relid), p.pid, p.started_by),
	format('SELECT pg_catalog.pg_cancel_backend(%s);', p.pid),
	'what the vacuum has done so far is lost' || CASE p.started_by
		WHEN 'autovacuum_wraparound' THEN ', and autovacuum begins it again: it prevents wraparound' ELSE '' END
FROM ahead a JOIN sweep_internal.get_progress() p ON p.pid = a.pid
WHERE p.leader_pid IS NULL AND p.phase <> 'waiting' AND cardinality(pg_blocking_pids(p.pid)) = 0
LIMIT 1
$$;

CREATE FUNCTION sweep_internal.get_blockers(
	OUT kind text, OUT pid integer, OUT datname name, OUT usename text, OUT name text, OUT state text,
	OUT xmin xid, OUT age bigint, OUT since timestamptz, OUT query text, OUT withholds text,
	OUT fix text, OUT risk text, OUT catalogs boolean)
RETURNS SETOF record
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
WITH held AS (
	SELECT g.datid, g.relid, concat_ws('.', sweep_internal.get_readable(d.datname::text), g.schemaname, g.relname) AS name, age(g.waits_for) AS age
	FROM sweep_internal.get_decisions() g LEFT JOIN pg_database d ON d.oid = g.datid
	WHERE g.decision = 'held back' AND g.waits_for IS NOT NULL)
SELECT h.kind, h.pid, sweep_internal.get_readable(d.datname::text)::name, h.usename, h.name, h.state, h.xmin, h.age, h.since, h.query,
       coalesce((SELECT format('dead rows of %s: %s', sweep_internal.get_plural(count(*), 'table'),
                               sweep_internal.get_list(array_agg(t.name ORDER BY t.name)))
                 FROM held t
                 WHERE t.age < h.age AND (h.datid IS NULL OR t.datid IS NULL OR t.datid = h.datid)
                   AND (NOT h.catalogs OR t.relid < 16384)
                 HAVING count(*) > 0 AND h.kind <> 'temporary table'),
                CASE WHEN h.kind = 'temporary table' THEN format('the age of database "%s"', sweep_internal.get_readable(d.datname::text)) END,
                format('%s that died in the last %s%s',
                       CASE WHEN h.catalogs THEN 'rows of catalogs' ELSE 'rows' END, sweep_internal.get_plural(h.age, 'transaction'),
                       CASE WHEN h.datid IS NULL THEN ', in all databases'
                            ELSE format(', in database "%s" and the shared catalogs', sweep_internal.get_readable(d.datname::text)) END))
       -- an index of 15 does not know whose rows it is of
       || CASE WHEN (h.catalogs OR h.datid IS NOT NULL) AND h.kind <> 'temporary table' AND current_setting('server_version_num')::int < 160000
               THEN '; empty index pages, in all databases' ELSE '' END,
       coalesce(v.fix, f.fix), coalesce(format('it only waits for %s, and goes on when that ends. If you end the vacuum, %s', v.said, v.risk), f.risk), h.catalogs
FROM sweep_internal.get_holders() h
     LEFT JOIN pg_database d ON d.oid = h.datid
     LEFT JOIN LATERAL sweep_internal.get_holder_fix(h.kind, h.pid, h.name, h.state) f ON true
     -- no process has the PID 0, and NULL would be all of them
     LEFT JOIN LATERAL pg_stat_get_activity(coalesce(h.pid, 0)) a ON true
     LEFT JOIN LATERAL sweep_internal.get_vacuum_ahead(CASE a.wait_event_type WHEN 'Lock' THEN h.pid END) v ON true
WHERE h.age > 0
$$;

CREATE VIEW sweep.blockers AS
SELECT b.kind, b.pid, b.datname, b.usename, b.name, b.state, b.xmin, b.age, b.since, b.query, b.withholds, b.fix, b.risk
FROM sweep_internal.get_blockers() b
ORDER BY b.age DESC, b.since;

COMMENT ON VIEW sweep.blockers IS 'one row per thing that keeps dead rows from being removed or this database from getting younger, the oldest first: what it withholds, what to do about it, and what that costs';

REVOKE ALL ON FUNCTION sweep_internal.get_list(text[]), sweep_internal.get_plural(bigint, text), sweep_internal.get_origin(text), sweep_internal.get_origin_fix(text, text), sweep_internal.get_horizon_holders(), sweep_internal.get_holders(), sweep_internal.get_temp_owner(oid),
	sweep_internal.get_holder_fix(text, integer, text, text), sweep_internal.get_vacuum_ahead(integer), sweep_internal.get_blockers() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sweep_internal.get_list(text[]), sweep_internal.get_plural(bigint, text), sweep_internal.get_origin(text), sweep_internal.get_origin_fix(text, text), sweep_internal.get_horizon_holders(), sweep_internal.get_holders(), sweep_internal.get_temp_owner(oid),
	sweep_internal.get_holder_fix(text, integer, text, text), sweep_internal.get_vacuum_ahead(integer), sweep_internal.get_blockers() TO pg_monitor;
GRANT SELECT ON sweep.blockers TO pg_monitor;
