
--
-- sweep.queue, and the rate of transaction ids
--

CREATE FUNCTION sweep.get_queue(
	OUT datid oid, OUT relid oid, OUT schemaname text, OUT relname text, OUT lane text,
	OUT score double precision, OUT reason text, OUT waiting_since timestamptz,
	OUT waiting_for text, OUT estimated_duration interval, OUT estimated_mb double precision,
	OUT requested boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_queue_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION sweep.get_xid_rate(
	OUT since timestamptz, OUT xids_per_s double precision, OUT mxids_per_s double precision)
RETURNS record
AS 'MODULE_PATHNAME', 'sweep_xid_rate_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE VIEW sweep.queue AS
SELECT (pg_catalog.row_number() OVER (ORDER BY q.requested DESC,
           q.waiting_for OPERATOR(pg_catalog.=) 'next round' OR q.waiting_for OPERATOR(pg_catalog.~~) 'worker slot%' DESC,
           q.lane OPERATOR(pg_catalog.=) 'catalog' DESC, q.score DESC, q.datid, q.relid))::pg_catalog.int4 AS position,
       q.*
FROM (SELECT g.datid, d.datname, g.relid,
             coalesce(g.schemaname, n.nspname::pg_catalog.text) AS schemaname,
             coalesce(g.relname, c.relname::pg_catalog.text) AS relname,
             coalesce(g.lane, CASE WHEN coalesce(g.schemaname, n.nspname::pg_catalog.text) OPERATOR(pg_catalog.=) 'pg_toast' THEN 'aux'
                                   ELSE 'user' END) AS lane,
             g.score, g.reason, g.waiting_since, g.waiting_for, g.estimated_duration, g.estimated_mb, g.requested
      FROM sweep.get_queue() g
           LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) g.datid
           LEFT JOIN pg_catalog.pg_class c
             ON c.oid OPERATOR(pg_catalog.=) g.relid AND (g.datid IS NULL OR d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
           LEFT JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace) q;

COMMENT ON VIEW sweep.queue IS 'one row per table, of all databases, that is over a threshold: what it waits for';

REVOKE ALL ON FUNCTION sweep.get_queue(), sweep.get_xid_rate() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sweep.get_queue(), sweep.get_xid_rate() TO pg_monitor;
GRANT SELECT ON sweep.queue TO pg_monitor;
