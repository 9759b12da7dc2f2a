
--
-- sweep.tables
--

CREATE FUNCTION sweep.get_tables(
	OUT relid oid, OUT lane text, OUT live_tuples bigint,
	OUT dead_tuples bigint, OUT vacuum_threshold double precision,
	OUT ins_since_vacuum bigint, OUT insert_threshold double precision,
	OUT mod_since_analyze bigint, OUT analyze_threshold double precision,
	OUT frozen_pages bigint, OUT xid_limit integer, OUT mxid_limit integer,
	OUT score double precision, OUT xid_score double precision, OUT mxid_score double precision,
	OUT vacuum_score double precision, OUT vacuum_insert_score double precision,
	OUT analyze_score double precision,
	OUT do_vacuum boolean, OUT decision text, OUT reason text, OUT not_before timestamptz,
	OUT blocked_by integer[], OUT truncatable_bytes bigint,
	OUT snoozed_until timestamptz, OUT last_run timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_tables_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE VIEW sweep.tables AS
SELECT c.oid AS relid, n.nspname::pg_catalog.text AS schemaname, c.relname::pg_catalog.text AS relname,
       coalesce(t.lane, CASE WHEN c.oid OPERATOR(pg_catalog.<) '16384'::pg_catalog.oid THEN 'catalog'
                             WHEN c.relkind OPERATOR(pg_catalog.=) 't' THEN 'aux' ELSE 'user' END) AS lane,
       t.live_tuples, t.dead_tuples, t.vacuum_threshold, t.ins_since_vacuum, t.insert_threshold,
       t.mod_since_analyze, t.analyze_threshold,
       c.relpages::pg_catalog.int8 AS pages, t.frozen_pages, c.relallvisible::pg_catalog.int8 AS all_visible_pages,
       CASE WHEN c.relfrozenxid OPERATOR(pg_catalog.<>) '0'::pg_catalog.xid THEN pg_catalog.age(c.relfrozenxid) END AS xid_age,
       CASE WHEN c.relminmxid OPERATOR(pg_catalog.<>) '0'::pg_catalog.xid THEN pg_catalog.mxid_age(c.relminmxid) END AS mxid_age,
       t.xid_limit, t.mxid_limit,
       t.score, t.xid_score, t.mxid_score, t.vacuum_score, t.vacuum_insert_score, t.analyze_score,
       t.do_vacuum,
       coalesce(t.decision, CASE WHEN c.relkind OPERATOR(pg_catalog.=) 'p' THEN 'partitioned' ELSE 'unknown' END) AS decision,
       CASE WHEN t.relid IS NOT NULL THEN t.reason
            WHEN c.relkind OPERATOR(pg_catalog.=) 'p' THEN 'has no rows of its own; its partitions are vacuumed, each for itself'
            WHEN c.relpages OPERATOR(pg_catalog.=) 0 THEN 'no row was written since the statistics began'
            ELSE 'statistics missing or reset' END AS reason,
       t.not_before, t.blocked_by, t.truncatable_bytes, t.snoozed_until, t.last_run
FROM pg_catalog.pg_class c
     JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
     LEFT JOIN sweep.get_tables() t ON t.relid OPERATOR(pg_catalog.=) c.oid
WHERE c.relkind OPERATOR(pg_catalog.=) ANY ('{r,m,t,p}'::pg_catalog."char"[]);

COMMENT ON VIEW sweep.tables IS 'one row per table of this database: what is counted, what is allowed, and what would be decided now';

REVOKE ALL ON FUNCTION sweep.get_tables() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sweep.get_tables() TO pg_monitor;
GRANT SELECT ON sweep.tables TO pg_monitor;
