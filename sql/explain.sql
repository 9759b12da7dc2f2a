
--
-- sweep.explain()
--
-- A cause is a row (weight, verdict, cause, evidence, fix, risk); the one with the
-- largest weight gives the verdict about the table.  Each of the functions looks at
-- one kind of causes of one table, given as a row of sweep.tables.
--

-- ALTER TABLE for a table's option, on its owner for a TOAST table; NULL: catalogs have none.
CREATE FUNCTION sweep.get_option_fix(relid oid, action text, option text, value text)
RETURNS text
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN relid >= 16384 THEN
	format('ALTER %s %s %s (%s%s%s);', CASE o.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END,
		o.oid::regclass, action, CASE WHEN o.oid <> relid THEN 'toast.' END, option, ' = ' || value) END
FROM pg_class o WHERE o.oid = relid AND o.relkind <> 't' OR o.reltoastrelid = relid
$$;

-- What pg_sweep is told to leave alone, for the whole server or this database.
CREATE FUNCTION sweep.get_causes_of_mode(t sweep.tables)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN t.do_vacuum THEN 90 ELSE 30 END, 'due, but pg_sweep does not act', f.cause, f.evidence, f.fix, f.risk
FROM sweep.get_status() s, LATERAL (VALUES
	(s.effective_mode = 'off' AND s.mode <> 'off',
	 'pg_sweep does not work', s.reason,
	 CASE WHEN s.reason LIKE 'switched off%' THEN 'SELECT sweep.rearm();'
	      WHEN s.reason LIKE 'the launcher%' THEN 'ALTER SYSTEM SET max_worker_processes = '
		|| current_setting('max_worker_processes')::int + 8 || '; -- and restart the server'
	      WHEN s.reason LIKE 'track_counts%' THEN 'ALTER SYSTEM RESET track_counts; SELECT pg_catalog.pg_reload_conf();'
	      WHEN s.reason LIKE 'sweep.max_workers%' THEN 'ALTER SYSTEM RESET sweep.max_workers; SELECT pg_catalog.pg_reload_conf();' END,
	 CASE WHEN s.reason LIKE 'switched off%' THEN 'what crashed it may do so again: read the server log first'
	      WHEN s.reason LIKE 'the launcher%' THEN 'a restart ends all sessions'
	      WHEN s.reason LIKE 'this server is a standby' THEN 'the primary vacuums' END),
	(s.mode = 'off', 'sweep.mode is off', 'pg_sweep does nothing; autovacuum is ' || current_setting('autovacuum'),
	 'ALTER SYSTEM SET sweep.mode = act; SELECT pg_catalog.pg_reload_conf();',
	 'pg_sweep then vacuums by itself, within the cost limits'),
	(s.effective_mode = 'observe', 'sweep.mode is observe: it only says what it would do',
	 'autovacuum is ' || current_setting('autovacuum'),
	 'ALTER SYSTEM SET sweep.mode = act; SELECT pg_catalog.pg_reload_conf();',
	 'pg_sweep then vacuums by itself, within the cost limits')
) AS f (applies, cause, evidence, fix, risk) WHERE f.applies
UNION ALL
SELECT CASE WHEN t.do_vacuum THEN 89 ELSE 29 END, 'due, but not in scope', 'this database is not pg_sweep''s', d.reason,
	'ALTER SYSTEM RESET ' || CASE WHEN d.reason LIKE '%exclude%' THEN 'sweep.exclude_databases' ELSE 'sweep.databases' END
		|| '; SELECT pg_catalog.pg_reload_conf();',
	'other databases that were left out come back, too'
FROM sweep.get_databases() d JOIN pg_database b ON b.oid = d.datid
WHERE b.datname = current_database() AND NOT d.ours
UNION ALL
SELECT CASE WHEN t.do_vacuum THEN 88 ELSE 28 END, 'due, but not in scope', 'the table is not in sweep.scope',
	format('sweep.scope is %s, and this is a table of the lane %s', current_setting('sweep.scope'), t.lane),
	'ALTER SYSTEM RESET sweep.scope; SELECT pg_catalog.pg_reload_conf();', 'all other tables come into scope, too'
WHERE t.decision = 'out of scope'
$$;

-- What the table itself is or says.
CREATE FUNCTION sweep.get_causes_of_table(t sweep.tables)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT 96, 'never by autovacuum', 'the relation is partitioned: it has no rows of its own, its partitions are vacuumed each for itself',
	(SELECT format('%s partitions, %s of them due: %s', count(*), count(*) FILTER (WHERE p.do_vacuum),
		coalesce(left(string_agg(p.relid::regclass::text, ', ') FILTER (WHERE p.do_vacuum), 200), 'none'))
	 FROM pg_partition_tree(t.relid) r JOIN sweep.tables p ON p.relid = r.relid WHERE r.isleaf),
	format('ANALYZE %s;', t.relid::regclass),
	'reads a sample of all partitions; the core daemon never does that for the statistics of the whole'
FROM pg_class c WHERE c.oid = t.relid AND c.relkind = 'p'
UNION ALL
SELECT 95, 'never by autovacuum', 'the relation is temporary: only its own session can vacuum it', format('schema %s', t.schemaname),
	format('VACUUM %s; -- in that session', t.relid::regclass), 'none'
FROM pg_class c WHERE c.oid = t.relid AND c.relpersistence = 't'
UNION ALL
SELECT 94, 'never by autovacuum', 'autovacuum is disabled for this table by its option autovacuum_enabled',
	CASE WHEN c.relkind = 't' THEN 'in the options of it or of its owner' ELSE array_to_string(c.reloptions, ', ') END,
	sweep.get_option_fix(t.relid, 'RESET', 'autovacuum_enabled', NULL),
	'it is vacuumed like any other then; takes a ShareUpdateExclusiveLock for a moment'
FROM pg_class c LEFT JOIN pg_class o ON c.relkind = 't' AND o.reltoastrelid = c.oid
	LEFT JOIN sweep.table_settings e ON e.relid = coalesce(o.oid, c.oid) AND e.name = 'enabled'
WHERE c.oid = t.relid AND e.relid IS NULL AND (t.decision = 'disabled' OR EXISTS (
	SELECT FROM pg_options_to_table(c.reloptions) AS x (name, value)
	WHERE CASE x.name WHEN 'autovacuum_enabled' THEN NOT x.value::boolean END))
UNION ALL
SELECT 94, 'due, but pg_sweep does not act', 'pg_sweep is disabled for this table by sweep.set()',
	concat_ws(' ', 'by', e.set_by, 'at', date_trunc('second', e.set_at)),
	format('SELECT sweep.set(%L, ''enabled'', NULL);', e.relid), 'it is vacuumed like any other then'
FROM sweep.table_settings e
-- anything may be in it after a restore from elsewhere
WHERE e.relid IN (t.relid, (SELECT o.oid FROM pg_class o WHERE o.reltoastrelid = t.relid)) AND e.name = 'enabled' AND lower(e.value) ~ '^(of|off|0|n|no|f|fa|fal|fals|false)$'
UNION ALL
SELECT 84, CASE WHEN c.relpages > 0 OR c.reltuples > 0 THEN 'unknown' ELSE 'not due' END,
	CASE WHEN c.relpages > 0 OR c.reltuples > 0 THEN 'statistics missing or reset: how many rows are dead is not known'
	     ELSE 'nothing was counted yet: no row was written since the statistics began' END,
	format('%s pages and %s rows by pg_class, %s dead and %s inserted by the counters; statistics of this database reset: %s',
		c.relpages, c.reltuples::bigint, coalesce(t.dead_tuples::text, 'unknown'), coalesce(t.ins_since_vacuum::text, 'unknown'),
		coalesce(pg_stat_get_db_stat_reset_time(d.oid)::text, 'never')),
	format('VACUUM (ANALYZE) %s;', t.relid::regclass), 'reads all pages that are not all-visible'
FROM pg_class c, pg_database d
WHERE c.oid = t.relid AND d.datname = current_database() AND c.relkind <> 'p' AND NOT coalesce(t.do_vacuum, false)
	AND (t.dead_tuples IS NULL OR coalesce(t.live_tuples, 0) = 0 AND t.dead_tuples = 0 AND c.relpages > 0 AND c.reltuples > 0)
$$;

-- Not due: by how much, and when at the present rate.
CREATE FUNCTION sweep.get_causes_of_counters(t sweep.tables)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT 82, 'not due', 'below the threshold',
	concat_ws('; ',
		format('dead tuples %s of %s (%s missing)', t.dead_tuples, round(t.vacuum_threshold::numeric),
			greatest(0, ceil(t.vacuum_threshold - t.dead_tuples))::bigint),
		CASE WHEN t.insert_threshold IS NULL THEN 'inserts do not count'
		     ELSE format('inserted tuples %s of %s (%s missing)', t.ins_since_vacuum, round(t.insert_threshold::numeric),
			greatest(0, ceil(t.insert_threshold - t.ins_since_vacuum))::bigint) END,
		CASE WHEN r.since IS NULL THEN 'never vacuumed, so the rate is unknown'
		     WHEN r.due IS NULL THEN format('no change since the last vacuum at %s', r.since)
		     ELSE format('at the rate since the last vacuum at %s due at %s', date_trunc('second', r.since), date_trunc('second', r.due)) END),
	coalesce(sweep.get_option_fix(t.relid, 'SET', 'autovacuum_vacuum_scale_factor', '0.05'), format('VACUUM %s;', t.relid::regclass)),
	CASE WHEN t.relid >= 16384 THEN 'it is vacuumed more often, by the core daemon, too; takes a ShareUpdateExclusiveLock for a moment'
	     ELSE 'a manual VACUUM gives way to nobody' END
FROM (SELECT v.since,
		now() + make_interval(secs => least(
			CASE WHEN t.dead_tuples > 0 THEN (t.vacuum_threshold - t.dead_tuples) * v.s / t.dead_tuples END,
			CASE WHEN t.ins_since_vacuum > 0 THEN (t.insert_threshold - t.ins_since_vacuum) * v.s / t.ins_since_vacuum END,
			3155760000)) AS due_or_never,
		CASE WHEN t.dead_tuples > 0 OR t.ins_since_vacuum > 0 AND t.insert_threshold IS NOT NULL THEN true END AS changes
	FROM (SELECT l.since, extract(epoch FROM now() - l.since)::float8 AS s
		FROM (SELECT greatest(t.last_run, pg_stat_get_last_vacuum_time(t.relid), pg_stat_get_last_autovacuum_time(t.relid)) AS since) l) v) q
	CROSS JOIN LATERAL (SELECT q.since, CASE WHEN q.changes THEN q.due_or_never END AS due) r
WHERE NOT t.do_vacuum AND t.decision NOT IN ('disabled', 'partitioned', 'out of scope')
$$;

-- Who is in the way: locks, and those who cancel.
CREATE FUNCTION sweep.get_causes_of_locks(t sweep.tables)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT 100, 'being vacuumed now', 'a vacuum is working on it',
	format('pid %s (%s), %s since %s%s', p.pid, p.started_by, p.phase, date_trunc('second', p.started_at),
		', ' || round(p.done_pct::numeric) || ' % done'), NULL, NULL
FROM sweep.get_progress() p JOIN pg_database d ON d.oid = p.datid
WHERE p.relid = t.relid AND d.datname = current_database() AND p.leader_pid IS NULL AND p.phase <> 'waiting'
UNION ALL
(SELECT 80, 'due, but waiting', format('locked by %s', coalesce('pid ' || l.pid, 'prepared transaction "' || x.gid || '"', 'a prepared transaction')),
	concat_ws(', ', l.mode || CASE WHEN l.granted THEN '' ELSE ' (waited for)' END, a.usename, nullif(a.application_name, ''), a.state,
		'since ' || date_trunc('second', coalesce(a.xact_start, x.prepared))::text, left(a.query, 100)),
	CASE WHEN x.gid IS NOT NULL THEN f.fix
	     WHEN a.state LIKE 'idle in transaction%' THEN format('SELECT pg_catalog.pg_terminate_backend(%s);', l.pid)
	     WHEN l.pid IS NOT NULL THEN format('SELECT pg_catalog.pg_cancel_backend(%s);', l.pid) END,
	CASE WHEN x.gid IS NOT NULL THEN f.risk
	     ELSE 'its transaction is rolled back' END
FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
	-- a prepared transaction still holds the lock on its own id
	LEFT JOIN pg_locks i ON l.pid IS NULL AND i.pid IS NULL AND i.locktype = 'transactionid' AND i.virtualtransaction = l.virtualtransaction
	LEFT JOIN pg_prepared_xacts x ON x.transaction = i.transactionid
	LEFT JOIN LATERAL sweep.get_holder_fix('prepared transaction', NULL, x.gid, NULL) f ON true
WHERE coalesce(t.do_vacuum, false) AND l.locktype = 'relation' AND l.relation = t.relid
	AND l.database IN (0, (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()))
	AND l.mode IN ('ShareUpdateExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
	AND l.pid IS DISTINCT FROM pg_backend_pid()
	AND NOT EXISTS (SELECT FROM sweep.get_progress() p WHERE p.pid = l.pid AND p.relid = t.relid AND p.phase <> 'waiting')
ORDER BY l.granted DESC, coalesce(a.xact_start, x.prepared) LIMIT 3)
UNION ALL
SELECT CASE WHEN t.do_vacuum THEN 78 ELSE 27 END, 'due, but waiting', 'its vacuums keep being cancelled',
	format('%s times since %s, tried again at %s; the last one: %s', g.times, date_trunc('second', g.first_at), date_trunc('second', g.not_before),
		coalesce((SELECT format('pid %s (%s) after %s%s%s', r.pid, r.started_by, r.ended_at - r.started_at, ', ' || r.reason,
				(SELECT format(' (%s)', concat_ws(', ', w.usename, nullif(w.application_name, ''), left(w.query, 100)))
				 FROM pg_stat_activity w WHERE w.pid::text = substring(r.reason FROM 'gave way to pid (\d+)$') AND w.backend_start < r.ended_at))
			FROM sweep.runs r WHERE r.relid = t.relid AND r.datname = current_database() AND r.outcome = 'cancelled'
			ORDER BY r.run_id DESC LIMIT 1), 'not in the ledger any more')),
	format('VACUUM %s;', t.relid::regclass),
	'a manual VACUUM gives way to nobody: whoever wants a stronger lock waits for it, and all others behind them'
FROM sweep.get_decisions() g JOIN pg_database d ON d.oid = g.datid
WHERE g.relid = t.relid AND d.datname = current_database() AND g.decision = 'cancelled'
$$;

-- Dead rows that cannot be removed, and old ids that cannot be frozen.
CREATE FUNCTION sweep.get_causes_of_horizon(t sweep.tables)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
WITH held AS (
	SELECT g.waits_for FROM sweep.get_decisions() g
	WHERE g.relid = t.relid AND g.decision = 'held back' AND g.waits_for IS NOT NULL
		AND (g.datid IS NULL OR g.datid = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())))
SELECT CASE WHEN h.waits_for IS NOT NULL AND t.do_vacuum THEN 76 ELSE 40 END,
	'due, but waiting', f.cause,
	concat_ws(', ', CASE WHEN h.waits_for IS NOT NULL THEN 'the last vacuum left dead rows that it may still see' END,
		'pid ' || b.pid, b.usename, b.name, b.state, 'in database ' || b.datname,
		'since ' || date_trunc('second', b.since)::text, format('%s transactions old', b.age), left(b.query, 100)),
	b.fix, b.risk
FROM pg_class c LEFT JOIN held h ON true CROSS JOIN LATERAL (
	SELECT x.* FROM sweep.get_blockers() x
	WHERE (x.datname IS NULL OR c.relisshared OR x.datname = current_database())
		AND (NOT x.catalogs OR t.lane = 'catalog' OR 'user_catalog_table=true' = ANY (c.reloptions))
		AND CASE WHEN h.waits_for IS NOT NULL THEN x.age > age(h.waits_for)
		         ELSE t.do_vacuum AND x.since < now() - interval '1 minute' END
	ORDER BY x.age DESC, x.since LIMIT 3) b
	CROSS JOIN LATERAL (SELECT CASE b.kind
		WHEN 'transaction' THEN 'an open transaction still needs its dead rows'
		WHEN 'idle in transaction' THEN 'a session that is idle in transaction still needs its dead rows'
		WHEN 'prepared transaction' THEN 'a prepared transaction still needs its dead rows'
		WHEN 'physical slot' THEN 'a physical replication slot still needs its dead rows'
		WHEN 'logical slot' THEN 'a logical replication slot still needs its dead rows'
		WHEN 'standby feedback' THEN 'a standby still needs its dead rows: it sends feedback'
		WHEN 'vacuum' THEN 'a long VACUUM FULL or ANALYZE still needs its dead rows'
		WHEN 'create index' THEN 'a long CREATE INDEX still needs its dead rows'
		ELSE 'something still needs its dead rows: ' || b.kind END
		|| CASE WHEN c.relisshared AND b.datname <> current_database()
			THEN '; it is in another database, but this catalog is shared' ELSE '' END AS cause) f
WHERE c.oid = t.relid
$$;

-- Due, and nothing but time or a worker is missing.
CREATE FUNCTION sweep.get_causes_of_queue(t sweep.tables)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT f.weight, CASE WHEN q.waiting_for = 'next round' THEN 'due, and next' ELSE 'due, but waiting' END, f.cause,
	concat_ws(', ', q.reason, 'score ' || round(q.score::numeric, 2), format('number %s of %s', q.position, q.total),
		format('waiting since %s', date_trunc('second', q.waiting_since)),
		CASE WHEN q.waiting_for <> 'next round' THEN 'for: ' || q.waiting_for END), f.fix, f.risk
FROM (SELECT w.*, count(*) OVER () AS total FROM sweep.queue w) q
	CROSS JOIN LATERAL (VALUES
	(q.waiting_for LIKE 'worker slot%', 70, 'all worker slots are busy',
	 format('ALTER SYSTEM SET sweep.max_workers = %s; SELECT pg_catalog.pg_reload_conf();', current_setting('sweep.max_workers')::int + 1),
	 'more vacuums at a time: they share the cost limit, but need their part of max_worker_processes'),
	(q.waiting_for LIKE 'minimum interval%', 72, 'it was vacuumed a short while ago and waits for the minimum interval',
	 CASE WHEN t.lane = 'catalog' THEN 'ALTER SYSTEM SET sweep.catalog_min_interval = ''1s''; SELECT pg_catalog.pg_reload_conf();'
	      ELSE format('SELECT sweep.set(%L, ''min_interval'', ''5 s'');', t.relid::regclass) END,
	 'every vacuum makes all sessions read again what they know of the table'),
	(q.waiting_for LIKE 'horizon%', 74, 'dead rows are still needed by something older', 'SELECT * FROM sweep.blockers;', 'none'),
	(q.waiting_for LIKE 'lock: not free%', 77, 'the lock was not free when it was tried', NULL, NULL),
	(q.waiting_for LIKE 'lock: cancelled%', 26, 'waits after it was cancelled', NULL, NULL),
	(q.waiting_for LIKE 'failed%', 79, 'its vacuum ended in an error; the server log has it', format('VACUUM (VERBOSE) %s;', t.relid::regclass),
	 'shows the error; a manual VACUUM gives way to nobody'),
	(q.waiting_for LIKE 'snoozed%', 87, 'it is snoozed', format('SELECT sweep.snooze(%L, ''0'');', t.relid::regclass), 'it is vacuumed when it is due'),
	(q.waiting_for LIKE 'hold%', 88, 'all vacuums of pg_sweep are on hold', 'SELECT sweep.unhold();', 'all that waits begins'),
	(q.waiting_for LIKE 'checkpoint%', 71, 'its new rows are vacuumed just before the next checkpoint, so that no page is logged in full twice', NULL, NULL),
	(q.waiting_for LIKE 'database%', 73, 'the last visit of this database failed; the server log has the error', NULL, NULL),
	(q.waiting_for LIKE 'the core daemon%', 86, 'it is left to the core daemon''s anti-wraparound vacuum', format('VACUUM %s;', t.relid::regclass),
	 'a manual VACUUM gives way to nobody'),
	(q.waiting_for = 'next round', 68, 'nothing is in its way: a worker takes it next', NULL, NULL)
) AS f (applies, weight, cause, fix, risk)
WHERE q.relid = t.relid AND (q.datid IS NULL OR q.datname = current_database()) AND f.applies
$$;

-- How far wraparound is, when half of the way is behind it.
CREATE FUNCTION sweep.get_causes_of_age(t sweep.tables)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN a.age > 0.95 * a.core_at THEN 97 ELSE 60 END,
	CASE WHEN t.do_vacuum THEN 'due, and wraparound ahead' ELSE 'wraparound ahead' END,
	CASE WHEN a.age > a.core_at THEN 'wraparound ahead: its oldest ' || a.what || ' is beyond the age at which the core daemon vacuums it in any case'
	     ELSE 'wraparound ahead: its oldest ' || a.what || ' is past half of the age at which the core daemon vacuums it in any case' END,
	format('%s of %s; ', a.age, a.core_at)
		|| CASE WHEN a.rate IS NULL THEN 'the rate of transactions is not known yet'
		        WHEN a.rate <= 0 THEN format('none was used since %s', date_trunc('second', a.since))
		        ELSE format('at %s a second, as since %s: the core daemon''s anti-wraparound vacuum %s, the server stops taking writes at %s',
				round(a.rate::numeric, 2), date_trunc('second', a.since),
				CASE WHEN a.age >= a.core_at THEN 'is overdue'
				     ELSE 'at ' || date_trunc('second', now() + make_interval(secs => least(3155760000, (a.core_at - a.age) / a.rate))) END,
				date_trunc('second', now() + make_interval(secs => least(31557600000, (a.stop_at - a.age) / a.rate)))) END,
	format('VACUUM (FREEZE) %s;', t.relid::regclass),
	'reads every page that is not frozen and writes WAL for it; gives way to nobody'
FROM (SELECT x.what, x.age, x.core_at, x.rate, r.since, 2144483647 AS stop_at
	FROM sweep.get_xid_rate() r CROSS JOIN LATERAL (VALUES
		('transaction id', t.xid_age, t.xid_limit, r.xids_per_s),
		('multixact', t.mxid_age, t.mxid_limit, r.mxids_per_s)) AS x (what, age, core_at, rate)) a
WHERE a.age > 0.5 * a.core_at
$$;

-- Relations that are never vacuumed.
CREATE FUNCTION sweep.get_causes_of_kind(relation regclass)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT 100, 'never by autovacuum',
	CASE c.relkind WHEN 'f' THEN 'the relation is a foreign table: its rows are elsewhere'
		WHEN 'v' THEN 'the relation is a view: it has no rows of its own'
		WHEN 'S' THEN 'the relation is a sequence: it has one row, in place'
		WHEN 'c' THEN 'the relation is a composite type: it has no rows'
		ELSE 'the relation is an index: it is vacuumed together with its table' END,
	CASE WHEN c.relkind IN ('i', 'I') THEN (SELECT 'of ' || i.indrelid::regclass::text FROM pg_index i WHERE i.indexrelid = c.oid)
	     WHEN c.relkind = 'f' THEN (SELECT 'server ' || s.srvname FROM pg_foreign_table f JOIN pg_foreign_server s ON s.oid = f.ftserver
		WHERE f.ftrelid = c.oid) END,
	CASE c.relkind WHEN 'i' THEN (SELECT format('SELECT * FROM sweep.explain(%L);', i.indrelid::regclass) FROM pg_index i WHERE i.indexrelid = c.oid)
		WHEN 'f' THEN format('ANALYZE %s;', relation) END,
	CASE c.relkind WHEN 'i' THEN 'none' WHEN 'f' THEN 'reads the foreign table, if its wrapper can; autovacuum never does' END
FROM pg_class c WHERE c.oid = relation AND c.relkind NOT IN ('r', 'm', 't', 'p')
$$;

CREATE FUNCTION sweep.get_explanation(relids oid[])
RETURNS TABLE (rank integer, relation text, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE plpgsql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	t sweep.tables;
BEGIN
	FOR t IN SELECT s.* FROM sweep.tables s WHERE s.relid = ANY (relids) ORDER BY array_position(relids, s.relid)
	LOOP
		RETURN QUERY
		SELECT row_number() OVER w::integer, t.relid::regclass::text, first_value(c.verdict) OVER w, c.cause, c.evidence, c.fix, c.risk
		FROM (SELECT u.*, max(u.weight) OVER () AS top FROM (
			SELECT * FROM sweep.get_causes_of_mode(t)
			UNION ALL SELECT * FROM sweep.get_causes_of_table(t)
			UNION ALL SELECT * FROM sweep.get_causes_of_counters(t)
			UNION ALL SELECT * FROM sweep.get_causes_of_locks(t)
			UNION ALL SELECT * FROM sweep.get_causes_of_horizon(t)
			UNION ALL SELECT * FROM sweep.get_causes_of_queue(t)
			UNION ALL SELECT * FROM sweep.get_causes_of_age(t)
			-- between two rounds of the scout, or nothing that anybody waits for
			UNION ALL SELECT 1, CASE t.decision WHEN 'vacuum' THEN 'due, and next' ELSE 'due, but waiting' END,
				CASE t.decision WHEN 'vacuum' THEN 'the scout has not seen it in its last round yet' ELSE t.decision END,
				t.reason, NULL, NULL
				WHERE t.do_vacuum) u) c
		WHERE c.weight > 1 OR c.top = 1
		WINDOW w AS (ORDER BY c.weight DESC, c.cause)
		ORDER BY 1
		LIMIT 8;
	END LOOP;
END
$$;

CREATE FUNCTION sweep.explain(target regclass)
RETURNS TABLE (rank integer, relation text, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT e.* FROM sweep.get_explanation(ARRAY[$1::oid]) e
UNION ALL
SELECT 1, $1::text, k.verdict, k.cause, k.evidence, k.fix, k.risk FROM sweep.get_causes_of_kind($1) k
$$;
COMMENT ON FUNCTION sweep.explain(regclass) IS 'why is this table not being vacuumed: the causes, the weightiest first';

CREATE FUNCTION sweep.explain()
RETURNS TABLE (rank integer, relation text, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT e.* FROM sweep.get_explanation(ARRAY(
	SELECT t.relid FROM sweep.tables t
	WHERE t.do_vacuum OR greatest(t.vacuum_score, t.vacuum_insert_score, t.xid_score, t.mxid_score) >= 0.5
	ORDER BY coalesce(t.do_vacuum, false) DESC, t.score DESC LIMIT 10)) e
$$;
COMMENT ON FUNCTION sweep.explain() IS 'the same for the ten worst tables of this database: due, or half way to it';

REVOKE ALL ON FUNCTION sweep.get_option_fix(oid, text, text, text),
	sweep.get_causes_of_mode(sweep.tables), sweep.get_causes_of_table(sweep.tables),
	sweep.get_causes_of_counters(sweep.tables), sweep.get_causes_of_locks(sweep.tables),
	sweep.get_causes_of_horizon(sweep.tables), sweep.get_causes_of_queue(sweep.tables),
	sweep.get_causes_of_age(sweep.tables), sweep.get_causes_of_kind(regclass),
	sweep.get_explanation(oid[]), sweep.explain(regclass), sweep.explain() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sweep.get_option_fix(oid, text, text, text),
	sweep.get_causes_of_mode(sweep.tables), sweep.get_causes_of_table(sweep.tables),
	sweep.get_causes_of_counters(sweep.tables), sweep.get_causes_of_locks(sweep.tables),
	sweep.get_causes_of_horizon(sweep.tables), sweep.get_causes_of_queue(sweep.tables),
	sweep.get_causes_of_age(sweep.tables), sweep.get_causes_of_kind(regclass),
	sweep.get_explanation(oid[]), sweep.explain(regclass), sweep.explain() TO pg_monitor;
