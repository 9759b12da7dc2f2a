
--
-- sweep.queue, and the rate of transaction ids
--

CREATE FUNCTION sweep_internal.get_queue(
	OUT state text,
	OUT datid oid, OUT relid oid, OUT schemaname text, OUT relname text, OUT lane text,
	OUT score double precision, OUT reason text, OUT waiting_since timestamptz,
	OUT waiting_for text, OUT not_before timestamptz,
	OUT estimated_duration interval, OUT estimated_mb double precision,
	OUT request_id bigint, OUT requested_by text, OUT requested_at timestamptz,
	OUT aux boolean, OUT attempts integer)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_queue_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- There is no view that has these numbers. So people call it.
CREATE FUNCTION sweep.get_xid_rate(
	OUT since timestamptz, OUT xids_per_s double precision, OUT mxids_per_s double precision)
RETURNS record
AS 'MODULE_PATHNAME', 'sweep_xid_rate_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- What was asked for is taken in the order in which it was asked for.
CREATE VIEW sweep.queue AS
SELECT CASE WHEN q.state OPERATOR(pg_catalog.=) 'waiting' THEN
           (pg_catalog.row_number() OVER (PARTITION BY q.state ORDER BY q.request_id IS NULL,
               q.waiting_for OPERATOR(pg_catalog.=) 'next round' OR q.waiting_for OPERATOR(pg_catalog.~~) 'worker slot%' DESC,
               q.request_id, q.lane OPERATOR(pg_catalog.=) 'catalog' DESC, q.score DESC, q.datid, q.relid))::pg_catalog.int4
       END AS position,
       q.*
FROM (SELECT g.state, g.datid, sweep_internal.get_readable(d.datname::pg_catalog.text)::pg_catalog.name AS datname, g.relid,
             g.schemaname, g.relname, g.lane,
             g.score, g.reason, g.waiting_since, g.waiting_for, g.not_before, g.estimated_duration, g.estimated_mb,
             g.request_id, g.requested_by, g.requested_at, g.aux, g.attempts
      FROM sweep_internal.get_queue() g
           LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) g.datid) q;

COMMENT ON VIEW sweep.queue IS 'one row per table, of all databases, that is over a threshold or that somebody has asked to have vacuumed: what it waits for';

REVOKE ALL ON FUNCTION sweep_internal.get_queue(), sweep.get_xid_rate() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sweep_internal.get_queue(), sweep.get_xid_rate() TO pg_monitor;
GRANT SELECT ON sweep.queue TO pg_monitor;
