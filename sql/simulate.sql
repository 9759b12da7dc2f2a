
--
-- What other settings would have done with what users did, by the recorded hours.
--

CREATE FUNCTION sweep.simulate(
	settings text[] DEFAULT '{}', since interval DEFAULT '7 days', back_test boolean DEFAULT false,
	OUT hour timestamptz, OUT span interval,
	OUT vacuums bigint, OUT insert_vacuums bigint, OUT blks_read bigint, OUT blks_dirtied bigint,
	OUT run_time double precision, OUT dead_tuples bigint, OUT max_dead_tuples bigint, OUT waiting bigint,
	OUT recorded_vacuums bigint, OUT recorded_blks_read bigint, OUT recorded_blks_dirtied bigint,
	OUT recorded_dead_tuples bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_simulate_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION sweep.simulate(text[], interval, boolean) IS 'what vacuums would have come to with other settings, by the recorded hour';

CREATE FUNCTION sweep.simulate_tables(
	settings text[] DEFAULT '{}', since interval DEFAULT '7 days', back_test boolean DEFAULT false,
	OUT datid oid, OUT datname text, OUT relid oid, OUT schemaname text, OUT relname text,
	OUT vacuums bigint, OUT insert_vacuums bigint, OUT blks_read bigint, OUT blks_dirtied bigint,
	OUT run_time double precision, OUT dead_tuples bigint, OUT max_dead_tuples bigint,
	OUT recorded_vacuums bigint, OUT recorded_blks_read bigint, OUT recorded_blks_dirtied bigint,
	OUT recorded_dead_tuples bigint, OUT learned_vacuums bigint, OUT estimated boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_simulate_tables_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION sweep.simulate_tables(text[], interval, boolean) IS 'what vacuums would have come to with other settings, by table';

CREATE FUNCTION sweep.simulate_summary(
	settings text[] DEFAULT '{}', since interval DEFAULT '7 days',
	OUT recorded_from timestamptz, OUT recorded_until timestamptz, OUT hours integer, OUT missing_hours integer,
	OUT tables integer, OUT unlearned_tables integer, OUT changes_left_out_pct double precision,
	OUT xid_age integer, OUT xids_per_hour double precision, OUT freeze_max_age integer,
	OUT freeze_max_age_at timestamptz, OUT wraparound_at timestamptz,
	OUT tables_to_freeze bigint, OUT pages_to_freeze bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_simulate_summary_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION sweep.simulate_summary(text[], interval) IS 'what a simulation goes by, and when the oldest transaction id reaches its limits';

REVOKE ALL ON FUNCTION sweep.simulate(text[], interval, boolean), sweep.simulate_tables(text[], interval, boolean),
	sweep.simulate_summary(text[], interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sweep.simulate(text[], interval, boolean), sweep.simulate_tables(text[], interval, boolean),
	sweep.simulate_summary(text[], interval) TO pg_monitor;
