--
-- What all finished runs of the last hour, of the last day, of earlier hours and of all time
-- came to, and what users did to tables in those hours.
--

CREATE FUNCTION sweep_internal.get_totals(
	OUT span text, OUT since timestamptz, OUT complete_since timestamptz,
	OUT started_by text, OUT command text,
	OUT runs bigint, OUT failed bigint, OUT cancelled bigint, OUT skipped bigint,
	OUT blks_hit bigint, OUT blks_read bigint, OUT blks_dirtied bigint,
	OUT wal_records bigint, OUT wal_fpi bigint, OUT wal_bytes numeric,
	OUT cost bigint, OUT tuples_removed bigint,
	OUT run_time double precision, OUT delay_time double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_totals_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- NULL: all that is kept
CREATE FUNCTION sweep_internal.get_history(
	since timestamptz,
	OUT hour timestamptz, OUT datid oid, OUT relid oid, OUT schemaname text, OUT relname text,
	OUT command text, OUT started_by text,
	OUT runs bigint, OUT failed bigint, OUT cancelled bigint, OUT skipped bigint,
	OUT blks_hit bigint, OUT blks_read bigint, OUT blks_dirtied bigint,
	OUT wal_records bigint, OUT wal_fpi bigint, OUT wal_bytes numeric,
	OUT cost bigint, OUT tuples_removed bigint,
	OUT run_time double precision, OUT delay_time double precision,
	OUT dead_not_removable bigint, OUT last_ended_at timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_history_0_1'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION sweep_internal.get_activity(
	since timestamptz,
	OUT hour timestamptz, OUT counted_since timestamptz, OUT datid oid, OUT relid oid,
	OUT schemaname text, OUT relname text,
	OUT inserted bigint, OUT updated bigint, OUT hot_updated bigint, OUT deleted bigint,
	OUT live_tuples bigint, OUT dead_tuples bigint, OUT xids bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_activity_0_1'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;

CREATE VIEW sweep.totals AS
SELECT t.span, t.since,
       CASE WHEN t.complete_since OPERATOR(pg_catalog.>) t.since THEN t.complete_since END AS complete_since,
       t.started_by,
       pg_catalog.sum(CASE WHEN t.command OPERATOR(pg_catalog.<>) 'ANALYZE' THEN t.runs ELSE 0 END)::pg_catalog.int8 AS vacuums,
       pg_catalog.sum(CASE WHEN t.command OPERATOR(pg_catalog.=) 'ANALYZE' THEN t.runs ELSE 0 END)::pg_catalog.int8 AS analyzes,
       pg_catalog.sum(t.failed)::pg_catalog.int8 AS failed,
       pg_catalog.sum(t.cancelled)::pg_catalog.int8 AS cancelled,
       pg_catalog.sum(t.skipped)::pg_catalog.int8 AS skipped,
       pg_catalog.sum(t.blks_hit)::pg_catalog.int8 AS blks_hit,
       pg_catalog.sum(t.blks_read)::pg_catalog.int8 AS blks_read,
       pg_catalog.sum(t.blks_dirtied)::pg_catalog.int8 AS blks_dirtied,
       pg_catalog.sum(t.wal_records)::pg_catalog.int8 AS wal_records,
       pg_catalog.sum(t.wal_fpi)::pg_catalog.int8 AS wal_fpi,
       pg_catalog.sum(t.wal_bytes) AS wal_bytes,
       pg_catalog.sum(t.cost)::pg_catalog.int8 AS cost,
       pg_catalog.sum(t.tuples_removed)::pg_catalog.int8 AS tuples_removed,
       pg_catalog.sum(t.run_time) AS run_time,
       pg_catalog.sum(t.delay_time) AS delay_time
FROM sweep_internal.get_totals() t
GROUP BY t.span, t.since, t.complete_since, t.started_by;

COMMENT ON VIEW sweep.totals IS 'what all vacuums of the last hour, of the last day and of all time came to, by who started them';

CREATE VIEW sweep.history AS
SELECT h.hour, h.datid, sweep_internal.get_readable(d.datname::pg_catalog.text)::pg_catalog.name AS datname, h.relid,
       h.schemaname, h.relname, h.command, h.started_by,
       h.runs, h.failed, h.cancelled, h.skipped,
       h.blks_hit, h.blks_read, h.blks_dirtied, h.wal_records, h.wal_fpi, h.wal_bytes,
       h.cost, h.tuples_removed, h.run_time, h.delay_time, h.dead_not_removable, h.last_ended_at
FROM sweep_internal.get_history(NULL) h
     LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) h.datid;

COMMENT ON VIEW sweep.history IS 'what the vacuums of each table came to, by the hour, as far back as sweep.history_days says';

CREATE VIEW sweep.activity AS
SELECT a.hour, a.counted_since AS since, a.datid,
       sweep_internal.get_readable(d.datname::pg_catalog.text)::pg_catalog.name AS datname, a.relid,
       a.schemaname, a.relname, a.inserted, a.updated, a.hot_updated, a.deleted,
       a.live_tuples, a.dead_tuples, a.xids
FROM sweep_internal.get_activity(NULL) a
     LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) a.datid;

COMMENT ON VIEW sweep.activity IS 'what users did to the most active tables, by the hour that is over, and how many transaction ids were used';

-- A month is much to read for who wants a day.
CREATE FUNCTION sweep.history_since(since timestamptz)
RETURNS SETOF sweep.history
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT h.hour, h.datid, sweep_internal.get_readable(d.datname::pg_catalog.text)::pg_catalog.name AS datname, h.relid,
       h.schemaname, h.relname, h.command, h.started_by,
       h.runs, h.failed, h.cancelled, h.skipped,
       h.blks_hit, h.blks_read, h.blks_dirtied, h.wal_records, h.wal_fpi, h.wal_bytes,
       h.cost, h.tuples_removed, h.run_time, h.delay_time, h.dead_not_removable, h.last_ended_at
FROM sweep_internal.get_history($1) h
     LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) h.datid
$$;

COMMENT ON FUNCTION sweep.history_since(timestamptz) IS 'the rows of sweep.history whose hour begins then or later';

CREATE FUNCTION sweep.activity_since(since timestamptz)
RETURNS SETOF sweep.activity
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
SELECT a.hour, a.counted_since AS since, a.datid,
       sweep_internal.get_readable(d.datname::pg_catalog.text)::pg_catalog.name AS datname, a.relid,
       a.schemaname, a.relname, a.inserted, a.updated, a.hot_updated, a.deleted,
       a.live_tuples, a.dead_tuples, a.xids
FROM sweep_internal.get_activity($1) a
     LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) a.datid
$$;

COMMENT ON FUNCTION sweep.activity_since(timestamptz) IS 'the rows of sweep.activity whose hour begins then or later';

REVOKE ALL ON FUNCTION sweep_internal.get_totals(), sweep_internal.get_history(timestamptz),
	sweep_internal.get_activity(timestamptz), sweep.history_since(timestamptz), sweep.activity_since(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sweep_internal.get_totals(), sweep_internal.get_history(timestamptz),
	sweep_internal.get_activity(timestamptz), sweep.history_since(timestamptz), sweep.activity_since(timestamptz) TO pg_monitor;
GRANT SELECT ON sweep.totals, sweep.history, sweep.activity TO pg_monitor;
