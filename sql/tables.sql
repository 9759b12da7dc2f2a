
--
-- sweep.tables
--

CREATE FUNCTION sweep_internal.get_tables(
	OUT relid oid, OUT schemaname text, OUT relname text, OUT lane text, OUT live_tuples bigint,
	OUT dead_tuples bigint, OUT vacuum_threshold double precision,
	OUT ins_since_vacuum bigint, OUT insert_threshold double precision,
	OUT mod_since_analyze bigint, OUT analyze_threshold double precision,
	OUT pages bigint, OUT frozen_pages bigint, OUT all_visible_pages bigint,
	OUT xid_age integer, OUT mxid_age integer, OUT xid_limit integer, OUT mxid_limit integer, OUT freeze_at integer,
	OUT score double precision, OUT xid_score double precision, OUT mxid_score double precision,
	OUT vacuum_score double precision, OUT vacuum_insert_score double precision,
	OUT analyze_score double precision,
	OUT do_vacuum boolean, OUT decision text, OUT reason text, OUT not_before timestamptz,
	OUT blocked_by integer[], OUT truncatable_bytes bigint,
	OUT snoozed_until timestamptz, OUT last_run timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_tables_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION sweep_internal.get_xid_rate(
	OUT since timestamptz, OUT xids_per_s double precision, OUT mxids_per_s double precision,
	OUT members_per_s double precision, OUT members bigint)
RETURNS record
AS 'MODULE_PATHNAME', 'sweep_xid_rate_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE VIEW sweep.tables AS
SELECT t.relid, t.schemaname, t.relname, t.lane,
       t.live_tuples, t.dead_tuples, t.vacuum_threshold, t.ins_since_vacuum, t.insert_threshold,
       t.mod_since_analyze, t.analyze_threshold,
       t.pages, t.frozen_pages, t.all_visible_pages, t.xid_age, t.mxid_age, t.xid_limit, t.mxid_limit, t.freeze_at,
       -- whichever of the two comes first: now if that is over, and in a thousand years at the latest
       CASE WHEN t.freeze_at IS NOT NULL AND (r.xids_per_s > 0 OR r.mxids_per_s > 0) THEN
           now() + make_interval(secs => greatest(0, least(31557600000,
               (t.freeze_at - t.xid_age) / nullif(r.xids_per_s, 0),
               (t.freeze_at::float8 * t.mxid_limit / nullif(t.xid_limit, 0) - t.mxid_age) / nullif(r.mxids_per_s, 0))))
       END AS freeze_time,
       t.score, t.xid_score, t.mxid_score, t.vacuum_score, t.vacuum_insert_score, t.analyze_score,
       t.do_vacuum, t.decision, t.reason,
       t.not_before, t.blocked_by, t.truncatable_bytes, t.snoozed_until, t.last_run
FROM sweep_internal.get_tables() t CROSS JOIN sweep_internal.get_xid_rate() r;

COMMENT ON VIEW sweep.tables IS 'one row per table of this database: what is counted, what is allowed, and what would be decided now';

REVOKE ALL ON FUNCTION sweep_internal.get_tables(), sweep_internal.get_xid_rate() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sweep_internal.get_tables(), sweep_internal.get_xid_rate() TO pg_monitor;
GRANT SELECT ON sweep.tables TO pg_monitor;
