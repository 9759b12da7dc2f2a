
--
-- sweep.queue, and sweep.wraparound
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

-- The server stops 3,000,000 ids before all 2^31 are used, and before 19 when there is no room for
-- another multixact's members among 2^32.
CREATE VIEW sweep.wraparound AS
SELECT i.ids, sweep_internal.get_readable(i.datname::pg_catalog.text)::pg_catalog.name AS datname, i.used, i.vacuum_at, i.stop_at,
       i.used::pg_catalog.float8 OPERATOR(pg_catalog.*) 100.0::pg_catalog.float8 OPERATOR(pg_catalog./) i.stop_at::pg_catalog.float8 AS used_pct,
       i.per_s, r.since,
       CASE WHEN i.per_s OPERATOR(pg_catalog.>) 0.0::pg_catalog.float8 THEN
           pg_catalog.now() OPERATOR(pg_catalog.+) pg_catalog.make_interval(secs => LEAST(31557600000,
               GREATEST(i.stop_at OPERATOR(pg_catalog.-) i.used, 0)::pg_catalog.float8 OPERATOR(pg_catalog./) i.per_s))
       END AS stop_time
FROM sweep_internal.get_xid_rate() r
     CROSS JOIN (SELECT pg_catalog.current_setting('server_version_num')::pg_catalog.int4 OPERATOR(pg_catalog.>=) 190000) v (of_64_bits)
     CROSS JOIN (SELECT d.datname, pg_catalog.age(d.datfrozenxid)::pg_catalog.int8 AS age
                 FROM pg_catalog.pg_database d ORDER BY 2 DESC LIMIT 1) x
     CROSS JOIN (SELECT d.datname, pg_catalog.mxid_age(d.datminmxid)::pg_catalog.int8 AS age
                 FROM pg_catalog.pg_database d ORDER BY 2 DESC LIMIT 1) m
     CROSS JOIN LATERAL (VALUES
         ('xid', x.datname, x.age, pg_catalog.current_setting('autovacuum_freeze_max_age')::pg_catalog.int8, 2144483647::pg_catalog.int8, r.xids_per_s),
         ('mxid', m.datname, m.age, pg_catalog.current_setting('autovacuum_multixact_freeze_max_age')::pg_catalog.int8, 2144483647, r.mxids_per_s),
         ('member', m.datname, r.members, CASE WHEN v.of_64_bits THEN 2000000000 ELSE 2147483648 END,
             CASE WHEN v.of_64_bits THEN NULL ELSE 4294967295 END, r.members_per_s)) i (ids, datname, used, vacuum_at, stop_at, per_s);

COMMENT ON VIEW sweep.wraparound IS 'transaction ids, multixacts and members of multixacts: how many are used, how fast, and when the server would stop taking writes';

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

REVOKE ALL ON FUNCTION sweep_internal.get_queue() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sweep_internal.get_queue() TO pg_monitor;
GRANT SELECT ON sweep.queue, sweep.wraparound TO pg_monitor;
