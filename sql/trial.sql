--
-- What pg_sweep would have done in mode observe, and what was done instead.
--

CREATE FUNCTION sweep_internal.get_trial(
	OUT since timestamptz, OUT until timestamptz,
	OUT datid oid, OUT relid oid, OUT schemaname text, OUT relname text,
	OUT vacuums bigint, OUT insert_vacuums bigint, OUT first_at timestamptz, OUT last_at timestamptz,
	OUT blks_read_min bigint, OUT blks_read_max bigint,
	OUT blks_dirtied_min bigint, OUT blks_dirtied_max bigint, OUT blks_frozen bigint,
	OUT waiting_since timestamptz,
	OUT dead_tuples bigint, OUT autovacuum_threshold bigint,
	OUT ins_since_vacuum bigint, OUT autovacuum_insert_threshold bigint,
	OUT autovacuums bigint, OUT autovacuum_blks_read bigint, OUT autovacuum_blks_dirtied bigint,
	OUT manual_vacuums bigint, OUT followed bigint, OUT earlier interval, OUT blks_grown bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_trial_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE VIEW sweep.trial AS
SELECT t.since, t.until, t.datid,
       sweep_internal.get_readable(d.datname::pg_catalog.text)::pg_catalog.name AS datname,
       t.relid, t.schemaname, t.relname,
       t.vacuums, t.insert_vacuums, t.first_at, t.last_at,
       t.blks_read_min, t.blks_read_max, t.blks_dirtied_min, t.blks_dirtied_max, t.blks_frozen,
       t.waiting_since, t.dead_tuples, t.autovacuum_threshold, t.ins_since_vacuum, t.autovacuum_insert_threshold,
       t.autovacuums, t.autovacuum_blks_read, t.autovacuum_blks_dirtied,
       t.manual_vacuums, t.followed, t.earlier, t.blks_grown
FROM sweep_internal.get_trial() t
     LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) t.datid;

COMMENT ON VIEW sweep.trial IS 'one row per table: what pg_sweep would have done in mode observe, and what was done instead';

REVOKE ALL ON FUNCTION sweep_internal.get_trial() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sweep_internal.get_trial() TO pg_monitor;
GRANT SELECT ON sweep.trial TO pg_monitor;
