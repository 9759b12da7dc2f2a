
--
-- What garbage costs, and what a vacuum brought.
--

-- Of one table, or, without one, of all.
CREATE FUNCTION sweep_internal.get_worth(
	relation oid DEFAULT 0,
	OUT relid oid, OUT schemaname text, OUT relname text,
	OUT index_scans bigint,
	OUT blks_per_scan_clean double precision, OUT reads_per_scan_clean double precision,
	OUT blks_per_scan double precision, OUT reads_per_scan double precision,
	OUT lost_blks bigint, OUT lost_reads bigint, OUT vacuum_blks bigint,
	OUT last_vacuum timestamptz, OUT breaks_even_at timestamptz,
	OUT blks_per_scan_before double precision, OUT blks_per_scan_after double precision,
	OUT saved_blks_per_hour double precision, OUT saved_reads_per_hour double precision,
	OUT not_hot_pct double precision, OUT advice text, OUT basis text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_worth_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE VIEW sweep.worth AS
SELECT w.relid, w.schemaname, w.relname, w.index_scans,
       w.blks_per_scan_clean, w.reads_per_scan_clean, w.blks_per_scan, w.reads_per_scan,
       w.lost_blks, w.lost_reads, w.vacuum_blks, w.last_vacuum, w.breaks_even_at,
       w.blks_per_scan_before, w.blks_per_scan_after, w.saved_blks_per_hour, w.saved_reads_per_hour,
       w.not_hot_pct, w.advice, w.basis
FROM sweep_internal.get_worth() w;

COMMENT ON VIEW sweep.worth IS 'one row per table of this database whose index scans are followed: what they lose by garbage, what a vacuum costs, and what the last one brought';

REVOKE ALL ON FUNCTION sweep_internal.get_worth(oid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sweep_internal.get_worth(oid) TO pg_monitor;
GRANT SELECT ON sweep.worth TO pg_monitor;
