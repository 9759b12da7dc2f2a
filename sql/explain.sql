
--
-- sweep.explain()
--
-- A cause is a row (weight, verdict, cause, evidence, fix, risk). The cause with the
-- largest weight gives the verdict about the table. Each of the functions looks at one
-- kind of causes of one table, which is given as a row of sweep.tables.
--

-- The distributed table of Citus that a table is a shard of. NULL if it is none.
CREATE FUNCTION sweep_internal.get_shell(relation oid) RETURNS oid
AS 'MODULE_PATHNAME', 'sweep_shell_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- What sweep.set() has set that is in force for the table. A TOAST table has what its table
-- has, and a shard what its distributed table has, but for what is set for the shard itself.
CREATE FUNCTION sweep_internal.get_setting(relid oid, name text)
RETURNS SETOF sweep.table_settings
LANGUAGE sql VOLATILE PARALLEL RESTRICTED ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
SELECT s.* FROM sweep_internal.get_relation($1) r CROSS JOIN LATERAL (SELECT coalesce(r.toast_owner, r.oid) AS oid) o
	JOIN sweep.table_settings s ON s.name = $2 AND s.relid IN (o.oid, sweep_internal.get_shell(o.oid))
ORDER BY s.relid = o.oid DESC LIMIT 1
$$;

-- The table for which sweep.set() is to be called, so that it is in force for this one.
CREATE FUNCTION sweep_internal.get_settings_of(relid oid, name text)
RETURNS regclass
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT coalesce((SELECT s.relid::oid FROM sweep_internal.get_setting($1, $2) s), sweep_internal.get_shell(coalesce(r.toast_owner, r.oid)),
	r.toast_owner, r.oid)::regclass
FROM sweep_internal.get_relation($1) r
$$;

-- ALTER TABLE for a table's option, on its owner for a TOAST table. A shard would lose it when
-- Citus moves it, so there it is for the distributed table. NULL for catalogs, which have none.
CREATE FUNCTION sweep_internal.get_option_fix(relid oid, action text, option text, value text)
RETURNS text
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN relid >= 16384 THEN
	format('ALTER %s %s %s (%s%s%s);%s', CASE o.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END,
		coalesce(s.shell, o.oid)::regclass, action, CASE WHEN o.oid <> relid THEN 'toast.' END, option, ' = ' || value,
		CASE WHEN s.shell IS NOT NULL THEN ' -- on the coordinator of Citus' END) END
FROM sweep_internal.get_relation($1) r, sweep_internal.get_relation(coalesce(r.toast_owner, r.oid)) o, sweep_internal.get_shell(o.oid) s (shell)
WHERE o.relkind <> 't'
$$;

-- How fast its vacuums are.
CREATE FUNCTION sweep_internal.get_pace()
RETURNS text
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN current_setting('sweep.adaptive')::boolean THEN 'Its vacuums slow down as soon as users wait for them (sweep.adaptive)'
	ELSE 'Its vacuums together stay within the cost limit' END
$$;

-- Which scale factor is in force for the table? It comes from sweep.set(), from
-- the table's options, or from one of the two settings. A TOAST table has that of
-- its table.
CREATE FUNCTION sweep_internal.get_scale_in_force(relid oid, OUT scale double precision, OUT by_set boolean)
RETURNS record
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT f.value, f.place = 1
FROM sweep_internal.get_relation($1) r CROSS JOIN LATERAL sweep_internal.get_relation(coalesce(r.toast_owner, r.oid)) o CROSS JOIN LATERAL (
	SELECT 1 AS place, s.value::float8 FROM sweep_internal.get_setting($1, 'vacuum_scale_factor') s
	-- anything may be in it after a restore from elsewhere
	WHERE s.value ~ '^ *[0-9]+([.][0-9]*)? *$'
	UNION ALL
	SELECT CASE c.oid WHEN $1 THEN 2 ELSE 3 END, x.value::float8
	FROM (SELECT r.oid, r.reloptions UNION SELECT o.oid, o.reloptions) c, pg_options_to_table(c.reloptions) AS x (name, value)
	WHERE x.name = 'autovacuum_vacuum_scale_factor'
	UNION ALL
	SELECT 4, nullif(current_setting('sweep.vacuum_scale_factor')::float8, -1)
	UNION ALL
	SELECT 5, current_setting('autovacuum_vacuum_scale_factor')::float8) f
WHERE f.value IS NOT NULL AND o.relkind <> 't'
ORDER BY f.place LIMIT 1
$$;

-- The shortest time between two vacuums of the table, in seconds.
CREATE FUNCTION sweep_internal.get_interval_in_force(relid oid, lane text)
RETURNS double precision
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT coalesce(
	(SELECT extract(epoch FROM s.value::interval)::float8 FROM sweep_internal.get_setting($1, 'min_interval') s
	 WHERE s.value ~ '^ *[0-9]{1,9} *(us|ms|s|min|h|d)? *$'),
	CASE lane WHEN 'catalog' THEN 1 END,
	-- autovacuum would not wait longer than its naptime
	(SELECT min(CASE WHEN g.setting = '-1' THEN 60 ELSE g.setting::float8 END) FROM pg_settings g
	 WHERE g.name = 'sweep.min_interval'
		OR g.name = 'autovacuum_naptime' AND current_setting('autovacuum')::boolean AND current_setting('track_counts')::boolean))
$$;

-- What frees vacuums from standbys whose queries they could cancel.
CREATE FUNCTION sweep_internal.get_standby_fix(OUT fix text, OUT risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN current_setting('sweep.standby_conflicts') = 'on'
		THEN 'ALTER SYSTEM RESET sweep.standby_conflicts; SELECT pg_catalog.pg_reload_conf();'
		ELSE 'ALTER SYSTEM SET hot_standby_feedback = on; SELECT pg_catalog.pg_reload_conf(); -- on the standby' END,
	CASE WHEN current_setting('sweep.standby_conflicts') = 'on'
		THEN 'queries of standbys that cannot be seen from here are cancelled more often'
		ELSE 'a long query there then keeps dead rows from being removed here' END
$$;

-- What pg_sweep is told to leave alone, for the whole server or this database.
CREATE FUNCTION sweep_internal.get_causes_of_mode(t sweep.tables)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN t.do_vacuum THEN 90 ELSE 30 END, 'due, but pg_sweep does not act', f.cause, f.evidence, f.fix, f.risk
FROM sweep_internal.get_status() s, LATERAL (VALUES
	(s.effective_mode = 'off' AND s.mode <> 'off',
	 'pg_sweep does not work', s.reason,
	 CASE WHEN s.reason LIKE 'switched off%' THEN 'SELECT sweep.rearm();'
	      WHEN s.reason LIKE 'the launcher%' THEN 'ALTER SYSTEM SET max_worker_processes = '
		|| current_setting('max_worker_processes')::int + 8 || '; -- and restart the server'
	      WHEN s.reason LIKE 'track_counts%' THEN 'ALTER SYSTEM RESET track_counts; SELECT pg_catalog.pg_reload_conf();'
	      WHEN s.reason LIKE 'sweep.max_workers%' THEN 'ALTER SYSTEM RESET sweep.max_workers; SELECT pg_catalog.pg_reload_conf();' END,
	 CASE WHEN s.reason LIKE 'switched off%' THEN 'what crashed it may do so again. Read the server log first'
	      WHEN s.reason LIKE 'the launcher%' THEN 'a restart ends all sessions'
	      WHEN s.reason LIKE 'this server is a standby' THEN 'the primary vacuums' END),
	(s.mode = 'off', 'sweep.mode is off', 'pg_sweep does nothing. The setting autovacuum is ' || current_setting('autovacuum'),
	 'ALTER SYSTEM SET sweep.mode = act; SELECT pg_catalog.pg_reload_conf();',
	 'pg_sweep then vacuums by itself. ' || sweep_internal.get_pace()),
	(s.effective_mode = 'observe', 'sweep.mode is observe: it only says what it would do',
	 'autovacuum is ' || current_setting('autovacuum'),
	 'ALTER SYSTEM SET sweep.mode = act; SELECT pg_catalog.pg_reload_conf();',
	 'pg_sweep then vacuums by itself. ' || sweep_internal.get_pace())
) AS f (applies, cause, evidence, fix, risk) WHERE f.applies
UNION ALL
SELECT CASE WHEN t.do_vacuum THEN 89 ELSE 29 END, 'due, but not in scope', 'this database is not pg_sweep''s', d.reason,
	'ALTER SYSTEM RESET ' || CASE WHEN d.reason LIKE '%exclude%' THEN 'sweep.exclude_databases' ELSE 'sweep.databases' END
		|| '; SELECT pg_catalog.pg_reload_conf();',
	'other databases that were left out come back, too'
FROM sweep_internal.get_databases() d JOIN pg_database b ON b.oid = d.datid
WHERE b.datname = current_database() AND NOT d.ours
UNION ALL
SELECT CASE WHEN t.do_vacuum THEN 88 ELSE 28 END, 'due, but not in scope', 'the table is not in sweep.scope',
	format('sweep.scope is %s, and this is a table of the lane %s', current_setting('sweep.scope'), t.lane),
	'ALTER SYSTEM RESET sweep.scope; SELECT pg_catalog.pg_reload_conf();', 'all other tables come into scope, too'
WHERE t.decision = 'out of scope'
$$;

-- The size of its file in bytes. NULL if it cannot be had now: its lock is not waited for.
CREATE FUNCTION sweep_internal.get_bytes(relation oid) RETURNS bigint
LANGUAGE plpgsql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1ms'
AS $$
BEGIN
	RETURN pg_relation_size(relation);
EXCEPTION WHEN OTHERS THEN
	RETURN NULL;
END
$$;

-- What the table itself is or says.
CREATE FUNCTION sweep_internal.get_causes_of_table(t sweep.tables)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT 96, 'never by autovacuum', 'the relation is partitioned: only its partitions have rows, and each of them is vacuumed by itself',
	(SELECT format('%s, %s of them due: %s', sweep_internal.get_plural(count(*), 'partition'), count(*) FILTER (WHERE p.do_vacuum),
		coalesce(sweep_internal.get_list(array_agg(p.relid::regclass::text ORDER BY p.score DESC) FILTER (WHERE p.do_vacuum)), 'none'))
	 FROM pg_partition_tree(t.relid) r JOIN sweep.tables p ON p.relid = r.relid WHERE r.isleaf),
	format('ANALYZE %s;', t.relid::regclass),
	'reads a sample of all partitions. Autovacuum never makes statistics of the whole'
FROM sweep_internal.get_relation(t.relid) c WHERE c.relkind = 'p'
UNION ALL
SELECT 95, 'never by autovacuum', 'the relation is temporary: only its own session can vacuum it', format('schema %s', t.schemaname),
	format('VACUUM %s; -- in that session', t.relid::regclass), 'none'
FROM sweep_internal.get_relation(t.relid) c WHERE c.relpersistence = 't'
UNION ALL
-- what its vacuum does, and what it tells the statistics, is up to the access method
SELECT CASE WHEN g.uncounted THEN 73 ELSE 14 END, CASE WHEN t.do_vacuum THEN 'due, but waiting' ELSE 'not due' END,
	format('the table is no heap: its access method is %s', a.amname),
	CASE WHEN g.uncounted THEN 'its vacuums tell the statistics nothing, so it stays due' ELSE 'what a vacuum does is up to the access method' END,
	CASE WHEN g.uncounted THEN format('SELECT sweep.set(%L, ''enabled'', ''off'');', sweep_internal.get_settings_of(t.relid, 'enabled')) END,
	CASE WHEN g.uncounted THEN 'pg_sweep leaves it alone. Autovacuum does not' END
FROM pg_class c JOIN pg_am a ON a.oid = c.relam
	CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM sweep_internal.get_decisions() x JOIN pg_database d ON d.oid = x.datid
		WHERE x.relid = t.relid AND d.datname = current_database() AND x.reason LIKE '%statistics know nothing of it%') AS uncounted) g
WHERE c.oid = t.relid AND c.relkind IN ('r', 'm') AND a.amname <> 'heap'
UNION ALL
SELECT 94, 'never by autovacuum', 'autovacuum is disabled for this table by its option autovacuum_enabled',
	CASE WHEN c.relkind = 't' THEN 'in the options of it or of its owner' ELSE array_to_string(c.reloptions, ', ') END,
	sweep_internal.get_option_fix(t.relid, 'RESET', 'autovacuum_enabled', NULL),
	'then it is vacuumed like any other. The statement takes a ShareUpdateExclusiveLock for a moment'
FROM sweep_internal.get_relation(t.relid) c
	LEFT JOIN sweep_internal.get_setting(t.relid, 'enabled') e ON true
WHERE e.relid IS NULL AND (t.decision = 'disabled' OR EXISTS (
	SELECT FROM pg_options_to_table(c.reloptions) AS x (name, value)
	WHERE CASE x.name WHEN 'autovacuum_enabled' THEN NOT x.value::boolean END))
UNION ALL
SELECT 94, 'due, but pg_sweep does not act', 'pg_sweep is disabled for this table by sweep.set()',
	concat_ws(' ', 'by', e.set_by, 'at', date_trunc('second', e.set_at)),
	format('SELECT sweep.set(%L, ''enabled'', NULL);', e.relid), 'then it is vacuumed like any other'
FROM sweep_internal.get_setting(t.relid, 'enabled') e
-- anything may be in it after a restore from elsewhere
WHERE lower(e.value) ~ '^(of|off|0|n|no|f|fa|fal|fals|false)$'
UNION ALL
SELECT 84, CASE WHEN b.bytes > 0 THEN 'unknown' ELSE 'not due' END,
	CASE WHEN b.bytes > 0 THEN 'statistics missing or reset: how many rows are dead is not known'
	     WHEN c.relpersistence = 'u' AND c.reltuples > 0 THEN 'the table is empty: a crash empties an unlogged table'
	     ELSE 'nothing was counted yet: no row was written since the statistics began' END,
	format('pg_class knows %s and %s, and the file has %s. %s. The statistics of this database %s',
		sweep_internal.get_plural(c.relpages, 'page'),
		CASE WHEN c.reltuples < 0 THEN 'no number of rows' ELSE sweep_internal.get_plural(c.reltuples::bigint, 'row') END,
		coalesce(pg_size_pretty(b.bytes), 'a size that cannot be read'),
		coalesce('The counters know ' || sweep_internal.get_plural(t.dead_tuples, 'dead row') || ' and '
			|| sweep_internal.get_plural(t.ins_since_vacuum, 'inserted row'), 'The counters know nothing'),
		coalesce('were reset at ' || date_trunc('second', pg_stat_get_db_stat_reset_time(d.oid)), 'were never reset')),
	format('VACUUM (ANALYZE) %s;', t.relid::regclass), 'reads all pages that are not all-visible'
FROM sweep_internal.get_relation(t.relid) c CROSS JOIN LATERAL (SELECT coalesce(sweep_internal.get_bytes(t.relid), c.relpages) AS bytes) b, pg_database d
WHERE d.datname = current_database() AND c.relkind <> 'p' AND NOT coalesce(t.do_vacuum, false) AND NOT sweep_internal.get_distributed(t.relid)
	-- reltuples is -1 until a vacuum or ANALYZE has counted, as after pg_upgrade
	AND (t.dead_tuples IS NULL OR coalesce(t.live_tuples, 0) = 0 AND t.dead_tuples = 0 AND (c.relpages > 0 AND c.reltuples > 0 OR b.bytes > 0)
		OR c.reltuples < 0 AND b.bytes > 8192::bigint * 128 AND t.last_run IS NULL)
UNION ALL
SELECT 30, 'not due', format('its last vacuum read its indexes %s times, because the dead rows did not fit its memory', r.index_pass),
	format('%s, with %s = %s, in %s', sweep_internal.get_plural(r.tuples_removed, 'dead row'), m.name, m.value, r.ended_at - r.started_at),
	CASE WHEN n.megabytes > m.megabytes THEN format('ALTER SYSTEM SET %s = ''%s MB''; SELECT pg_catalog.pg_reload_conf();', m.name, n.megabytes) END,
	CASE WHEN n.megabytes > m.megabytes THEN CASE m.name WHEN 'autovacuum_work_mem' THEN 'each of autovacuum''s workers may take that much'
		ELSE 'each vacuum, and each CREATE INDEX, may take that much' END END
FROM (SELECT x.* FROM sweep_internal.get_runs() x JOIN pg_database d ON d.oid = x.datid
		WHERE x.relid = t.relid AND d.datname = current_database() AND x.command = 'VACUUM' AND x.outcome = 'done' ORDER BY x.run_id DESC LIMIT 1) r
	CROSS JOIN LATERAL (SELECT g.name, current_setting(g.name) AS value, pg_size_bytes(current_setting(g.name)) / 1048576 AS megabytes
		FROM (SELECT CASE WHEN r.started_by LIKE 'autovacuum%' AND current_setting('autovacuum_work_mem') <> '-1'
			THEN 'autovacuum_work_mem' ELSE 'maintenance_work_mem' END AS name) g) m
	-- 6 bytes for each dead row before 17, and up to 1 GB
	CROSS JOIN LATERAL (SELECT CASE WHEN current_setting('server_version_num')::int < 170000 THEN least(1024, r.tuples_removed * 6 / 1048576 + 2)
		ELSE 2 * m.megabytes END AS megabytes) n
WHERE r.index_pass > 1 AND r.tuples_removed IS NOT NULL
$$;

-- Is the table one that Citus distributes: are its rows in shards?
CREATE FUNCTION sweep_internal.get_distributed(relation oid) RETURNS boolean
AS 'MODULE_PATHNAME', 'sweep_is_distributed_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- Rows that are elsewhere. The tables of Citus are asked only where there is one.
CREATE FUNCTION sweep_internal.get_causes_of_distribution(relation regclass)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE plpgsql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	shards text;
BEGIN
	IF NOT sweep_internal.get_distributed(relation) THEN
		RETURN;
	END IF;
	BEGIN
		EXECUTE $query$
			SELECT format('%s shards: ', sum(n.shards)) || string_agg(format('%s at %s:%s (node %s)', n.shards, n.nodename, n.nodeport, n.nodeid), ', ' ORDER BY n.nodeid)
			FROM (SELECT d.nodeid, d.nodename, d.nodeport, count(*) AS shards
				FROM pg_dist_shard s JOIN pg_dist_placement p ON p.shardid = s.shardid JOIN pg_dist_node d ON d.groupid = p.groupid
				WHERE s.logicalrelid = $1 AND d.noderole::text = 'primary' GROUP BY d.nodeid) n
			$query$ INTO shards USING relation;
	EXCEPTION WHEN insufficient_privilege OR undefined_table OR undefined_column THEN
		shards := NULL;
	END;
	RETURN QUERY SELECT 98, 'its rows are elsewhere', 'the table is distributed by Citus: its rows are in shards on nodes, and what is here is an empty shell', shards,
		format('SELECT * FROM run_command_on_shards(%L, $cmd$SELECT verdict || '': '' || cause FROM sweep.explain(''%%s'') WHERE rank = 1$cmd$);',
			(SELECT format('%I.%I', n.schemaname, n.relname) FROM sweep_internal.get_relation(relation) n)),
		'none, because it only asks. The pg_sweep of each node looks after the shards there, if the extension is on it';
END
$$;

-- It is not due: says by how much, and when it will be at the present rate.
CREATE FUNCTION sweep_internal.get_causes_of_counters(t sweep.tables)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT 82, 'not due', 'below the threshold',
	concat_ws('. ',
		format('dead tuples %s of %s (%s missing)', t.dead_tuples, round(t.vacuum_threshold::numeric),
			greatest(0, ceil(t.vacuum_threshold - t.dead_tuples))::bigint),
		CASE WHEN t.insert_threshold IS NULL THEN 'Inserted rows do not make it due'
		     ELSE format('Inserted tuples %s of %s (%s missing)', t.ins_since_vacuum, round(t.insert_threshold::numeric),
			greatest(0, ceil(t.insert_threshold - t.ins_since_vacuum))::bigint) END,
		CASE WHEN r.since IS NULL THEN 'It was never vacuumed, so the rate is unknown'
		     WHEN r.due IS NULL THEN format('Nothing has changed since the last vacuum at %s', date_trunc('second', r.since))
		     ELSE format('At the rate since the last vacuum at %s it is due at %s', date_trunc('second', r.since), date_trunc('second', r.due)) END),
	CASE WHEN w.helps AND w.by_set THEN format('SELECT sweep.set(%L, ''vacuum_scale_factor'', ''0.05'');', sweep_internal.get_settings_of(t.relid, 'vacuum_scale_factor'))
	     WHEN w.helps THEN sweep_internal.get_option_fix(t.relid, 'SET', 'autovacuum_vacuum_scale_factor', '0.05') END,
	CASE WHEN w.helps AND w.by_set THEN 'it is vacuumed more often'
	     WHEN w.helps THEN 'it is vacuumed more often, also by autovacuum. The statement takes a ShareUpdateExclusiveLock for a moment' END
FROM (SELECT v.since,
		now() + make_interval(secs => least(
			CASE WHEN t.dead_tuples > 0 THEN (t.vacuum_threshold - t.dead_tuples) * v.s / t.dead_tuples END,
			CASE WHEN t.ins_since_vacuum > 0 THEN (t.insert_threshold - t.ins_since_vacuum) * v.s / t.ins_since_vacuum END,
			3155760000)) AS due_or_never,
		CASE WHEN t.dead_tuples > 0 OR t.ins_since_vacuum > 0 AND t.insert_threshold IS NOT NULL THEN true END AS changes
	FROM (SELECT l.since, extract(epoch FROM now() - l.since)::float8 AS s
		FROM (SELECT greatest(t.last_run, pg_stat_get_last_vacuum_time(t.relid), pg_stat_get_last_autovacuum_time(t.relid)) AS since) l) v) q
	CROSS JOIN LATERAL (SELECT q.since, CASE WHEN q.changes THEN q.due_or_never END AS due) r
	-- A smaller scale factor helps a table that changes, if its dead rows make it
	-- due first and the scale factor makes up most of its threshold.
	CROSS JOIN LATERAL (SELECT f.by_set,
			t.relid >= 16384 AND r.since IS NOT NULL AND r.due < now() + interval '30 days'
			AND t.dead_tuples / greatest(t.vacuum_threshold, 1) > coalesce(t.ins_since_vacuum / greatest(t.insert_threshold, 1), 0)
			AND f.scale > 0.05 AND f.scale * t.live_tuples > t.vacuum_threshold / 2 AS helps
		FROM sweep_internal.get_scale_in_force(t.relid) f) w
WHERE NOT t.do_vacuum AND t.decision NOT IN ('disabled', 'partitioned', 'out of scope') AND NOT sweep_internal.get_distributed(t.relid)
UNION ALL
SELECT 26, 'not due', 'no earlier than by autovacuum''s thresholds, and nothing is frozen ahead: that would cancel queries on a standby',
	s.standby_conflicts, f.fix, f.risk
FROM sweep_internal.get_status() s, sweep_internal.get_standby_fix() f
WHERE s.standby_conflicts IS NOT NULL AND s.effective_mode <> 'off' AND NOT t.do_vacuum
	AND (t.lane = 'catalog' AND t.vacuum_score >= 0.1 OR t.lane <> 'catalog' AND t.vacuum_insert_score >= 0.1)
$$;

-- Who is in the way: those who hold locks, and those who cancel.
CREATE FUNCTION sweep_internal.get_causes_of_locks(t sweep.tables)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT 100, 'being vacuumed now', 'a vacuum is working on it',
	format('pid %s (%s), %s since %s%s', p.pid, p.started_by, p.phase, date_trunc('second', p.started_at),
		', ' || round(p.done_pct::numeric) || ' % done'), NULL, NULL
FROM sweep_internal.get_progress() p JOIN pg_database d ON d.oid = p.datid
WHERE p.relid = t.relid AND d.datname = current_database() AND p.leader_pid IS NULL AND p.phase <> 'waiting'
UNION ALL
-- a vacuum that gives way does so within a second or two
SELECT 99, CASE v.relid WHEN t.relid THEN 'being vacuumed now' ELSE 'its users wait for a vacuum' END,
	format('%s for the table because of %s', CASE w.n WHEN 1 THEN '1 session waits' ELSE w.n || ' sessions wait' END, v.said),
	format('the first is pid %s, since %s: %s', w.pid, date_trunc('second', w.since),
		(SELECT left(sweep_internal.get_readable(a.query), 100) FROM pg_stat_get_activity(w.pid) a)), v.fix, v.risk
FROM (SELECT count(*) AS n, (array_agg(l.pid ORDER BY l.waitstart))[1] AS pid, min(l.waitstart) AS since
	FROM pg_locks l
	WHERE NOT l.granted AND l.locktype = 'relation' AND l.relation = t.relid AND l.waitstart < clock_timestamp() - interval '2 seconds'
		AND l.database IN (0, (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()))
	HAVING count(*) > 0) w
	CROSS JOIN LATERAL sweep_internal.get_vacuum_ahead(w.pid) v
UNION ALL
-- Autovacuum analyzes no table that is being vacuumed: it takes only what is free.
SELECT 99, 'being vacuumed now', 'its vacuum keeps autovacuum''s ANALYZE away, so its statistics become old',
	format('%s of %s changed rows since the last ANALYZE. pid %s (%s) vacuums it since %s', t.mod_since_analyze, round(t.analyze_threshold::numeric),
		p.pid, p.started_by, date_trunc('second', p.started_at)),
	format('SELECT sweep.hurry(%s);', p.pid), 'that vacuum no longer gives way to users who wait for I/O'
FROM sweep_internal.get_progress() p JOIN pg_database d ON d.oid = p.datid
WHERE p.relid = t.relid AND d.datname = current_database() AND p.leader_pid IS NULL AND p.phase <> 'waiting' AND p.command <> 'ANALYZE'
	AND current_setting('autovacuum')::boolean AND t.mod_since_analyze > t.analyze_threshold AND p.started_at < now() - 2 * (
		SELECT make_interval(secs => s.setting::float8) FROM pg_settings s WHERE s.name = 'autovacuum_naptime')
UNION ALL
-- A vacuum that has its table waits for a row of pg_class, which it updates in place, or for an index.
SELECT 101, 'being vacuumed now', format('its vacuum waits for %s, whose transaction has to end first', coalesce('pid ' || nullif(h.pid, 0), 'a prepared transaction')),
	concat_ws(', ', format('pid %s (%s) waits', p.pid, p.started_by), sweep_internal.get_readable(a.usename::text),
		sweep_internal.get_origin(sweep_internal.get_readable(a.application_name)), a.state, 'since ' || date_trunc('second', a.xact_start)::text,
		left(sweep_internal.get_readable(a.query), 100)),
	CASE WHEN h.pid = 0 THEN 'SELECT * FROM pg_catalog.pg_prepared_xacts;'
	     WHEN sweep_internal.get_origin_fix(a.application_name, a.state) IS NOT NULL THEN sweep_internal.get_origin_fix(a.application_name, a.state)
	     WHEN a.state LIKE 'idle in transaction%' THEN format('SELECT pg_catalog.pg_terminate_backend(%s);', h.pid)
	     ELSE format('SELECT pg_catalog.pg_cancel_backend(%s);', h.pid) END,
	CASE WHEN h.pid = 0 THEN 'none, because it only asks' ELSE 'its transaction is rolled back' END
FROM sweep_internal.get_progress() p JOIN pg_database d ON d.oid = p.datid
	CROSS JOIN LATERAL (SELECT DISTINCT u.pid FROM unnest(pg_blocking_pids(p.pid)) AS u (pid) ORDER BY u.pid LIMIT 3) h
	LEFT JOIN pg_stat_activity a ON a.pid = h.pid
WHERE p.relid = t.relid AND d.datname = current_database() AND p.leader_pid IS NULL AND p.phase <> 'waiting' AND p.waits_for IS NOT NULL
UNION ALL
(SELECT 80, 'due, but waiting', format('locked by %s', coalesce('pid ' || l.pid, 'prepared transaction "' || sweep_internal.get_readable(x.gid) || '"', 'a prepared transaction')),
	concat_ws(', ', l.mode || CASE WHEN l.granted THEN '' ELSE ' (waited for)' END, sweep_internal.get_readable(a.usename::text), sweep_internal.get_origin(sweep_internal.get_readable(a.application_name)), a.state,
		'since ' || date_trunc('second', coalesce(a.xact_start, x.prepared))::text, left(sweep_internal.get_readable(a.query), 100)),
	CASE WHEN x.gid IS NOT NULL THEN f.fix
	     WHEN v.fix IS NOT NULL THEN v.fix
	     WHEN sweep_internal.get_origin_fix(a.application_name, a.state) IS NOT NULL THEN sweep_internal.get_origin_fix(a.application_name, a.state)
	     WHEN a.state LIKE 'idle in transaction%' THEN format('SELECT pg_catalog.pg_terminate_backend(%s);', l.pid)
	     WHEN l.pid IS NOT NULL THEN format('SELECT pg_catalog.pg_cancel_backend(%s);', l.pid) END,
	CASE WHEN x.gid IS NOT NULL THEN f.risk
	     WHEN v.risk IS NOT NULL THEN format('it only waits for %s. If you end the vacuum, %s', v.said, v.risk)
	     ELSE 'its transaction is rolled back' END
FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
	-- a prepared transaction still holds the lock on its own id
	LEFT JOIN pg_locks i ON l.pid IS NULL AND i.pid IS NULL AND i.locktype = 'transactionid' AND i.virtualtransaction = l.virtualtransaction
	LEFT JOIN pg_prepared_xacts x ON x.transaction = i.transactionid
	LEFT JOIN LATERAL sweep_internal.get_holder_fix('prepared transaction', NULL, sweep_internal.get_readable(x.gid), NULL) f ON true
	LEFT JOIN LATERAL sweep_internal.get_vacuum_ahead(CASE a.wait_event_type WHEN 'Lock' THEN l.pid END) v ON true
WHERE coalesce(t.do_vacuum, false) AND l.locktype = 'relation' AND l.relation = t.relid
	AND l.database IN (0, (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()))
	AND l.mode IN ('ShareUpdateExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
	AND l.pid IS DISTINCT FROM pg_backend_pid()
	AND NOT EXISTS (SELECT FROM sweep_internal.get_progress() p WHERE p.pid = l.pid AND p.relid = t.relid AND p.phase <> 'waiting')
ORDER BY l.granted DESC, coalesce(a.xact_start, x.prepared) LIMIT 3)
UNION ALL
SELECT CASE WHEN t.do_vacuum THEN 78 ELSE 27 END, 'due, but waiting',
	CASE t.decision WHEN 'partitioned' THEN 'its ANALYZE keeps being cancelled' ELSE 'its vacuums keep being cancelled' END,
	format('%s since %s. It is tried again at %s. %s', sweep_internal.get_plural(g.times, 'time'), date_trunc('second', g.first_at), date_trunc('second', g.not_before),
		coalesce((SELECT format('The last one was pid %s (%s) after %s%s%s', r.pid, r.started_by, r.ended_at - r.started_at, ', ' || r.reason,
				(SELECT format(' (%s)', concat_ws(', ', sweep_internal.get_readable(w.usename::text), sweep_internal.get_readable(nullif(w.application_name, '')), left(sweep_internal.get_readable(w.query), 100)))
				 FROM pg_stat_activity w WHERE w.pid::text = substring(r.reason FROM 'gave way to pid (\d+)$') AND w.backend_start < r.ended_at))
			FROM sweep.runs r WHERE r.relid = t.relid AND r.datid = (SELECT o.oid FROM pg_database o WHERE o.datname = current_database()) AND r.outcome = 'cancelled'
			ORDER BY r.run_id DESC LIMIT 1), 'The last one is not in the ledger any more'))
	|| coalesce((SELECT format('. All their work is lost: %s read and %s of WAL written in %s', sweep_internal.get_plural(sum(r.blks_read)::bigint, 'page'),
			pg_size_pretty(sum(r.wal_bytes)), sweep_internal.get_plural(count(*), 'run'))
		FROM sweep.runs r WHERE r.relid = t.relid AND r.datid = d.oid AND r.outcome = 'cancelled' AND r.started_at >= g.first_at - interval '1 day'
			AND r.run_id > coalesce((SELECT max(o.run_id) FROM sweep.runs o WHERE o.relid = t.relid AND o.datid = d.oid AND o.outcome = 'done'), 0)
		HAVING count(*) > 0), ''),
	format('%s %s;', CASE t.decision WHEN 'partitioned' THEN 'ANALYZE' ELSE 'VACUUM' END, t.relid::regclass),
	CASE t.decision WHEN 'partitioned' THEN 'what dies meanwhile in this database cannot be removed until it has ended'
		ELSE 'a manual VACUUM gives way to nobody. Whoever wants a stronger lock waits for it, and all others wait behind them' END
FROM sweep_internal.get_decisions() g JOIN pg_database d ON d.oid = g.datid
WHERE g.relid = t.relid AND d.datname = current_database() AND g.decision = 'cancelled'
$$;

-- The error that its vacuums have ended in since one succeeded last, and the index that it
-- names. No row if none has.
CREATE FUNCTION sweep_internal.get_failure(relid oid, OUT reason text, OUT started_by text, OUT times bigint, OUT since timestamptz, OUT index oid)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL RESTRICTED ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
WITH r AS MATERIALIZED (
	SELECT x.* FROM sweep_internal.get_runs() x JOIN pg_database d ON d.oid = x.datid
	WHERE x.relid = $1 AND d.datname = current_database() AND x.command = 'VACUUM' AND x.outcome IN ('done', 'failed'))
SELECT f.reason, f.started_by, f.times, f.since,
	(SELECT i.indexrelid FROM pg_index i, sweep_internal.get_relation(i.indexrelid) c
	 WHERE i.indrelid = $1 AND position(format('index "%s"', c.relname) IN f.reason) > 0 LIMIT 1)
FROM (SELECT (array_agg(r.reason ORDER BY r.run_id DESC))[1] AS reason, (array_agg(r.started_by ORDER BY r.run_id DESC))[1] AS started_by,
		count(*) AS times, min(r.ended_at) AS since
	FROM r WHERE r.run_id > coalesce((SELECT max(d.run_id) FROM r d WHERE d.outcome = 'done'), 0)) f
WHERE f.times > 0
$$;

-- Its vacuums fail.
CREATE FUNCTION sweep_internal.get_causes_of_failure(t sweep.tables)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN t.do_vacuum THEN 79 ELSE 28 END, CASE WHEN t.do_vacuum THEN 'due, but waiting' ELSE 'not due' END,
	'its vacuum ended in an error',
	concat_ws('. ', f.reason, format('%s since %s, the last one by %s', sweep_internal.get_plural(f.times, 'time'), date_trunc('second', f.since), f.started_by),
		'It is tried again at ' || date_trunc('second', t.not_before)),
	CASE WHEN f.index IS NULL THEN format('VACUUM (VERBOSE) %s;', t.relid::regclass)
	     ELSE format('VACUUM (INDEX_CLEANUP off) %s; REINDEX INDEX %s%s;', t.relid::regclass,
			CASE WHEN t.relid < 16384 THEN '' ELSE 'CONCURRENTLY ' END, f.index::regclass) END,
	CASE WHEN f.index IS NULL THEN 'shows the error. A manual VACUUM gives way to nobody'
	     ELSE 'without its indexes the table can be vacuumed and frozen, but no dead row''s place is reused until the index is rebuilt' END
FROM sweep_internal.get_failure(t.relid) f
$$;

-- Rows are inserted into it all the time: are its new pages vacuumed while they are in memory?
CREATE FUNCTION sweep_internal.get_causes_of_growth(t sweep.tables)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN g.late_since IS NOT NULL THEN 66 ELSE 20 END,
	CASE WHEN t.do_vacuum THEN 'due, but waiting' ELSE 'not due' END,
	CASE WHEN g.late_since IS NOT NULL THEN 'it grows, and its vacuums come too late: new pages have left the cache by then'
		WHEN g.growing THEN 'it grows, and its new pages are vacuumed while they are in the cache'
		ELSE 'new pages have left the cache before they were vacuumed' END,
	concat_ws(', ', 'late since ' || date_trunc('second', g.late_since)::text,
		sweep_internal.get_plural(g.late_pages, 'page') || ' had left the cache so far',
		'last vacuum at ' || date_trunc('second', g.last_at)::text, 'shared_buffers ' || current_setting('shared_buffers')),
	CASE WHEN g.late_since IS NOT NULL THEN 'SELECT * FROM sweep.budget;' END,
	CASE WHEN g.late_since IS NOT NULL THEN 'none, because it only shows what limits vacuums' END
FROM sweep_internal.get_decisions() g JOIN pg_database d ON d.oid = g.datid
WHERE g.relid = t.relid AND d.datname = current_database() AND (g.growing OR g.late_pages > 0)
$$;

-- Dead rows that cannot be removed, and old ids that cannot be frozen.
CREATE FUNCTION sweep_internal.get_causes_of_horizon(t sweep.tables)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
WITH held AS (
	SELECT g.waits_for FROM sweep_internal.get_decisions() g
	WHERE g.relid = t.relid AND g.decision = 'held back' AND g.waits_for IS NOT NULL
		AND (g.datid IS NULL OR g.datid = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())))
SELECT CASE WHEN h.waits_for IS NOT NULL AND t.do_vacuum THEN 76 ELSE 40 END,
	'due, but waiting', f.cause,
	concat_ws(', ', CASE WHEN h.waits_for IS NOT NULL THEN 'the last vacuum left dead rows that it may still see' END,
		'pid ' || b.pid, b.usename, b.name, b.state, 'in database ' || b.datname,
		'since ' || date_trunc('second', b.since)::text, sweep_internal.get_plural(b.age, 'transaction') || ' old', left(b.query, 100)),
	b.fix, b.risk
FROM sweep_internal.get_relation(t.relid) c LEFT JOIN held h ON true CROSS JOIN LATERAL (
	SELECT x.* FROM sweep_internal.get_blockers() x
	WHERE x.kind <> 'temporary table' AND (x.datname IS NULL OR c.relisshared OR x.datname = sweep_internal.get_readable(current_database()::text)::name)
		AND (NOT x.catalogs OR t.lane = 'catalog' OR t.relid = 'pg_largeobject'::regclass OR 'user_catalog_table=true' = ANY (c.reloptions))
		AND CASE WHEN h.waits_for IS NOT NULL THEN x.age > age(h.waits_for)
		         ELSE t.do_vacuum AND x.since < now() - interval '1 minute' END
		-- 15 and 16 do not wait for a snapshot that is older than that
		AND (x.catalogs OR t.lane = 'catalog' OR NOT EXISTS (SELECT FROM pg_settings g
			WHERE g.name = 'old_snapshot_threshold' AND g.setting::int > 0 AND x.pid IS NOT NULL
				AND x.since < now() - make_interval(mins => g.setting::int + 1)))
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
		|| CASE WHEN c.relisshared AND b.datname <> sweep_internal.get_readable(current_database()::text)::name
			THEN ' (it is in another database, but this catalog is shared)' ELSE '' END AS cause) f
$$;

-- It is due, and nothing is missing but time or a worker.
CREATE FUNCTION sweep_internal.get_causes_of_queue(t sweep.tables)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT f.weight, CASE WHEN q.waiting_for = 'next round' THEN 'due, and next' ELSE 'due, but waiting' END, f.cause,
	concat_ws(', ', 'requested by ' || q.requested_by, nullif(q.reason, 'requested by ' || q.requested_by), 'score ' || round(q.score::numeric, 2), format('number %s of %s', q.position, q.total),
		format('waiting since %s', date_trunc('second', q.waiting_since)),
		CASE WHEN q.waiting_for <> 'next round' THEN 'for: ' || q.waiting_for END), f.fix, f.risk
FROM (SELECT w.*, count(w.position) OVER () AS total FROM sweep.queue w) q CROSS JOIN sweep_internal.get_standby_fix() sb
	CROSS JOIN (SELECT sweep_internal.get_interval_in_force(t.relid, t.lane) AS s) i
	CROSS JOIN (SELECT g.max_val::int > g.setting::int AS more FROM pg_settings g WHERE g.name = 'sweep.max_workers') m
	CROSS JOIN LATERAL (VALUES
	(q.waiting_for LIKE 'worker slot%', 70, 'all worker slots are busy',
	 CASE WHEN m.more THEN format('ALTER SYSTEM SET sweep.max_workers = %s; SELECT pg_catalog.pg_reload_conf();', current_setting('sweep.max_workers')::int + 1) END,
	 CASE WHEN m.more THEN 'more vacuums run at a time. ' || sweep_internal.get_pace() || '. Each worker is one of max_worker_processes' END),
	(q.waiting_for LIKE 'disk:%', 85, 'the file system of WAL is nearly full, and a vacuum writes WAL', 'SELECT * FROM sweep.sensors() WHERE name LIKE ''wal%'';', 'none'),
	(q.waiting_for LIKE 'background worker%', 70, 'too few background workers are left for replication, parallel queries and vacuums',
	 format('ALTER SYSTEM SET max_worker_processes = %s; -- and restart the server', current_setting('max_worker_processes')::int + 8), 'a restart ends all sessions'),
	(q.waiting_for LIKE 'minimum interval%', 72, 'it was vacuumed a short while ago and waits for the minimum interval',
	 CASE WHEN i.s > CASE t.lane WHEN 'catalog' THEN 1 ELSE 5 END
	      THEN format('SELECT sweep.set(%L, ''min_interval'', ''5 s'');', sweep_internal.get_settings_of(t.relid, 'min_interval')) END,
	 CASE WHEN i.s > CASE t.lane WHEN 'catalog' THEN 1 ELSE 5 END
	      THEN 'every vacuum makes all sessions read again what they know of the table' END),
	(q.waiting_for LIKE 'uncounted%', 72, 'its vacuums tell the statistics nothing, so it stays due and waits longer each time', 'SHOW track_counts;', 'none'),
	(q.waiting_for LIKE 'horizon%', 74, 'dead rows are still needed by something older', 'SELECT * FROM sweep.blockers;', 'none'),
	(q.waiting_for LIKE 'lock: not free%', 77, 'the lock was not free when it was tried', NULL, NULL),
	(q.waiting_for LIKE 'lock: cancelled%', 26, 'waits after it was cancelled', NULL, NULL),
	(q.waiting_for LIKE 'snoozed%', 87, 'it is snoozed', format('SELECT sweep.snooze(%L, ''0'');', t.relid::regclass), 'it is vacuumed when it is due'),
	(q.waiting_for LIKE 'standby:%', 75, 'it would cancel queries on a standby, so it begins together with autovacuum''s vacuums, once in autovacuum_naptime',
	 sb.fix, sb.risk),
	(q.waiting_for LIKE 'hold%', 88, 'all vacuums of pg_sweep are on hold', 'SELECT sweep.hold(''0'');', 'all that waits begins'),
	(q.waiting_for LIKE 'checkpoint%', 71, 'its new rows are vacuumed just before the next checkpoint, so that no page is logged in full twice', NULL, NULL),
	(q.waiting_for LIKE 'database%', 73, 'the last visit of this database failed, and the server log has the error', NULL, NULL),
	(q.waiting_for = 'next round', 68, 'nothing is in its way: a worker takes it next', NULL, NULL)
) AS f (applies, weight, cause, fix, risk)
WHERE q.relid = t.relid AND (q.datid IS NULL OR q.datid = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())) AND f.applies
	-- of which no vacuum is due: see get_causes_of_cleaner()
	AND q.reason NOT LIKE 'sparse garbage:%'
$$;

-- Are its dead rows removed one by one, before a vacuum is due?
CREATE FUNCTION sweep_internal.get_causes_of_cleaner(t sweep.tables)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT 12, 'not due', CASE c.decision
		WHEN 'cleaned' THEN 'its dead rows are removed one by one'
		WHEN 'wanted' THEN 'its dead rows will be removed one by one'
		WHEN 'watched' THEN 'its dead rows may be removed one by one'
		WHEN 'below threshold' THEN 'its dead rows are not removed one by one yet'
		WHEN 'left to vacuum' THEN 'its dead rows are left to a vacuum, not removed one by one'
		WHEN 'not now' THEN 'its dead rows could not be removed one by one for now'
		ELSE 'its dead rows are not removed one by one' END,
	format('%s. It has %s dead rows, and is looked at again beyond %s', c.reason, t.dead_tuples, c.next_dead_tuples), NULL, NULL
FROM sweep.cleanings c
WHERE c.relid = t.relid AND c.datid = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
	AND NOT t.do_vacuum
$$;

-- Would a vacuum be worth it before it is due, or is it due too often? See sweep.worth.
CREATE FUNCTION sweep_internal.get_causes_of_worth(t sweep.tables)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN a.earlier THEN 83 ELSE 13 END, CASE WHEN t.do_vacuum THEN 'due, but pg_sweep does not act' ELSE 'not due' END,
	CASE WHEN a.earlier THEN format('index scans lost %s blocks, a vacuum costs %s', to_char(w.lost_reads, a.f), to_char(w.vacuum_blks, a.f))
	     ELSE 'it is vacuumed more often than its index scans need' END,
	CASE WHEN a.earlier THEN format('since the last vacuum at %s, %s index scans had to read so many blocks more because of dead rows. One takes %s blocks now, and %s when the table is clean. %s %% of the changed rows leave index entries behind',
			date_trunc('second', w.last_vacuum), to_char(w.index_scans, a.f), round(w.blks_per_scan::numeric, 1), round(w.blks_per_scan_clean::numeric, 1), round(w.not_hot_pct::numeric))
	     ELSE format('between its last two vacuums, and since, all index scans together fetched fewer blocks than a vacuum costs (%s)', to_char(w.vacuum_blks, a.f)) END,
	CASE WHEN f.by_set THEN format('SELECT sweep.set(%L, ''vacuum_scale_factor'', %s);', sweep_internal.get_settings_of(t.relid, 'vacuum_scale_factor'), CASE WHEN a.earlier THEN '''0.05''' ELSE 'NULL' END)
	     WHEN a.earlier THEN sweep_internal.get_option_fix(t.relid, 'SET', 'autovacuum_vacuum_scale_factor', '0.05')
	     ELSE sweep_internal.get_option_fix(t.relid, 'RESET', 'autovacuum_vacuum_scale_factor', NULL) END,
	CASE WHEN a.earlier THEN format('it is vacuumed %s times as often, and each time costs about %s blocks. ', round((f.scale / 0.05)::numeric, 1), to_char(w.vacuum_blks, a.f))
		|| 'What indexes have grown by already comes back only by REINDEX. The statement takes a ShareUpdateExclusiveLock for a moment'
	     ELSE 'more dead rows gather from vacuum to vacuum, and the table takes more room' END
FROM sweep_internal.get_worth(t.relid) w CROSS JOIN sweep_internal.get_scale_in_force(t.relid) f
	CROSS JOIN LATERAL (SELECT w.advice LIKE 'vacuum earlier%' AS earlier, 'FM999,999,999,999,990' AS f) a
-- where pg_sweep does not act on it autovacuum has to be told
WHERE w.advice IS NOT NULL AND (NOT t.do_vacuum OR (a.earlier AND (SELECT s.effective_mode FROM sweep_internal.get_status() s) <> 'act')) AND t.decision NOT IN ('disabled', 'partitioned', 'out of scope')
$$;

-- How far is wraparound? This is said from half of the way on. A table that pg_sweep will freeze
-- in its time is in order.
CREATE FUNCTION sweep_internal.get_causes_of_age(t sweep.tables)
RETURNS TABLE (weight integer, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN a.age > 0.95 * a.core_at THEN 97 WHEN a.in_time THEN 13 ELSE 60 END,
	CASE WHEN t.do_vacuum THEN 'due, and wraparound ahead' WHEN a.in_time THEN 'not due' ELSE 'wraparound ahead' END,
	CASE WHEN a.age > a.core_at THEN 'wraparound ahead: its oldest ' || a.what || ' is beyond the age at which autovacuum vacuums it in any case'
	     ELSE 'wraparound ahead: its oldest ' || a.what || ' is past half of the age at which autovacuum vacuums it in any case' END,
	format('age %s of %s. ', a.age, a.core_at)
		|| CASE WHEN a.members_pct > 50 THEN format('%s %% of the room for members of multixacts is used, so autovacuum comes at a lower age than autovacuum_multixact_freeze_max_age. ', round(a.members_pct::numeric))
		   ELSE '' END
		|| CASE WHEN a.in_time THEN format('pg_sweep freezes it at age %s. ', (a.core_at * a.share)::bigint) ELSE '' END
		|| CASE WHEN a.rate IS NULL THEN 'The rate of transactions is not known yet'
		        WHEN a.rate <= 0 THEN format('None was used since %s', date_trunc('second', a.since))
		        ELSE format('Since %s, %s a second were used. At that rate autovacuum''s anti-wraparound vacuum %s, and the server stops taking writes at %s',
				date_trunc('second', a.since), round(a.rate::numeric, 2),
				CASE WHEN a.age >= a.core_at THEN 'is overdue'
				     ELSE 'comes at ' || date_trunc('second', now() + make_interval(secs => least(3155760000, (a.core_at - a.age) / a.rate))) END,
				date_trunc('second', now() + make_interval(secs => least(31557600000, (a.stop_at - a.age) / a.rate)))) END,
	format('VACUUM (FREEZE%s) %s;', CASE WHEN EXISTS (SELECT FROM sweep_internal.get_failure(t.relid) f WHERE f.index IS NOT NULL)
		THEN ', INDEX_CLEANUP off' END, t.relid::regclass),
	'reads every page that is not frozen, and writes WAL for it. A manual VACUUM gives way to nobody'
FROM (SELECT x.what, x.age, x.core_at, x.rate, r.since, 2144483647 AS stop_at, s.share,
		CASE WHEN x.what = 'multixact' THEN r.members / 42949672.96 END AS members_pct,
		current_setting('sweep.mode') = 'act' AND t.decision NOT IN ('disabled', 'out of scope', 'temporary') AND x.age <= x.core_at * s.share AS in_time
	FROM sweep_internal.get_xid_rate() r CROSS JOIN LATERAL (VALUES
		('transaction id', t.xid_age, t.xid_limit, r.xids_per_s),
		('multixact', t.mxid_age, t.mxid_limit, r.mxids_per_s)) AS x (what, age, core_at, rate)
	CROSS JOIN LATERAL (SELECT t.freeze_at::float8 / nullif(t.xid_limit, 0) AS share) s) a
WHERE a.age > 0.5 * a.core_at
$$;

-- Relations that are never vacuumed.
CREATE FUNCTION sweep_internal.get_causes_of_kind(relation regclass)
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
	CASE c.relkind WHEN 'i' THEN 'none' WHEN 'f' THEN 'reads the foreign table, if its wrapper can. Autovacuum never does that' END
FROM sweep_internal.get_relation(relation) c WHERE c.relkind NOT IN ('r', 'm', 't', 'p')
$$;

CREATE FUNCTION sweep_internal.get_explanation(relids oid[])
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
		SELECT row_number() OVER w::integer, sweep_internal.get_readable(t.relid::regclass::text), first_value(c.verdict) OVER w,
			sweep_internal.get_readable(c.cause), sweep_internal.get_readable(c.evidence), sweep_internal.get_readable(c.fix), sweep_internal.get_readable(c.risk)
		FROM (SELECT u.*, max(u.weight) OVER () AS top FROM (
			SELECT * FROM sweep_internal.get_causes_of_mode(t)
			UNION ALL SELECT * FROM sweep_internal.get_causes_of_table(t)
			UNION ALL SELECT * FROM sweep_internal.get_causes_of_distribution(t.relid)
			UNION ALL SELECT * FROM sweep_internal.get_causes_of_counters(t)
			UNION ALL SELECT * FROM sweep_internal.get_causes_of_locks(t)
			UNION ALL SELECT * FROM sweep_internal.get_causes_of_failure(t)
			UNION ALL SELECT * FROM sweep_internal.get_causes_of_growth(t)
			UNION ALL SELECT * FROM sweep_internal.get_causes_of_horizon(t)
			UNION ALL SELECT * FROM sweep_internal.get_causes_of_queue(t)
			UNION ALL SELECT * FROM sweep_internal.get_causes_of_cleaner(t)
			UNION ALL SELECT * FROM sweep_internal.get_causes_of_worth(t)
			UNION ALL SELECT * FROM sweep_internal.get_causes_of_age(t)
			-- either it waits only from one round of the scout to the next, or
			-- nobody waits for it
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
SELECT e.* FROM sweep_internal.get_explanation(ARRAY[$1::oid]) e
UNION ALL
SELECT 1, $1::text, k.verdict, k.cause, k.evidence, k.fix, k.risk FROM sweep_internal.get_causes_of_kind($1) k
$$;
COMMENT ON FUNCTION sweep.explain(regclass) IS 'why is this table not being vacuumed: the causes, the weightiest first';

CREATE FUNCTION sweep.explain()
RETURNS TABLE (rank integer, relation text, verdict text, cause text, evidence text, fix text, risk text)
LANGUAGE sql STRICT VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
WITH e AS (
	SELECT x.*, row_number() OVER () AS place FROM sweep_internal.get_explanation(ARRAY(
		SELECT t.relid FROM sweep.tables t
		WHERE t.do_vacuum OR greatest(t.vacuum_score, t.vacuum_insert_score, t.xid_score, t.mxid_score) >= 0.5
		ORDER BY coalesce(t.do_vacuum, false) DESC, t.score DESC, t.relid LIMIT 10)) x)
-- what several tables have in common is said once
SELECT min(e.rank), sweep_internal.get_list(array_agg(e.relation ORDER BY e.place)), e.verdict, e.cause,
	CASE WHEN count(DISTINCT e.evidence) > 1 THEN (array_agg(e.relation || ': ' || e.evidence ORDER BY e.place))[1]
	     ELSE min(e.evidence) END,
	e.fix, e.risk
FROM e
GROUP BY e.verdict, e.cause, e.fix, e.risk, CASE WHEN e.fix IS NULL THEN e.evidence END
ORDER BY min(e.place)
$$;
COMMENT ON FUNCTION sweep.explain() IS 'the same for the ten worst tables of this database: due, or half way to it';

REVOKE ALL ON FUNCTION sweep_internal.get_shell(oid), sweep_internal.get_setting(oid, text), sweep_internal.get_settings_of(oid, text),
	sweep_internal.get_option_fix(oid, text, text, text), sweep_internal.get_pace(), sweep_internal.get_standby_fix(),
	sweep_internal.get_scale_in_force(oid), sweep_internal.get_interval_in_force(oid, text),
	sweep_internal.get_causes_of_mode(sweep.tables), sweep_internal.get_causes_of_table(sweep.tables),
	sweep_internal.get_distributed(oid), sweep_internal.get_causes_of_distribution(regclass),
	sweep_internal.get_causes_of_counters(sweep.tables), sweep_internal.get_causes_of_locks(sweep.tables),
	sweep_internal.get_bytes(oid), sweep_internal.get_failure(oid), sweep_internal.get_causes_of_failure(sweep.tables), sweep_internal.get_causes_of_growth(sweep.tables), sweep_internal.get_causes_of_horizon(sweep.tables), sweep_internal.get_causes_of_queue(sweep.tables),
	sweep_internal.get_causes_of_cleaner(sweep.tables), sweep_internal.get_causes_of_worth(sweep.tables),
	sweep_internal.get_causes_of_age(sweep.tables), sweep_internal.get_causes_of_kind(regclass),
	sweep_internal.get_explanation(oid[]), sweep.explain(regclass), sweep.explain() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sweep_internal.get_shell(oid), sweep_internal.get_setting(oid, text), sweep_internal.get_settings_of(oid, text),
	sweep_internal.get_option_fix(oid, text, text, text), sweep_internal.get_pace(), sweep_internal.get_standby_fix(),
	sweep_internal.get_scale_in_force(oid), sweep_internal.get_interval_in_force(oid, text),
	sweep_internal.get_causes_of_mode(sweep.tables), sweep_internal.get_causes_of_table(sweep.tables),
	sweep_internal.get_distributed(oid), sweep_internal.get_causes_of_distribution(regclass),
	sweep_internal.get_causes_of_counters(sweep.tables), sweep_internal.get_causes_of_locks(sweep.tables),
	sweep_internal.get_bytes(oid), sweep_internal.get_failure(oid), sweep_internal.get_causes_of_failure(sweep.tables), sweep_internal.get_causes_of_growth(sweep.tables), sweep_internal.get_causes_of_horizon(sweep.tables), sweep_internal.get_causes_of_queue(sweep.tables),
	sweep_internal.get_causes_of_cleaner(sweep.tables), sweep_internal.get_causes_of_worth(sweep.tables),
	sweep_internal.get_causes_of_age(sweep.tables), sweep_internal.get_causes_of_kind(regclass),
	sweep_internal.get_explanation(oid[]), sweep.explain(regclass), sweep.explain() TO pg_monitor;
