
--
-- sweep.sensors(): what the governor measures
--

CREATE FUNCTION sweep.sensors(
	OUT name text, OUT state text, OUT value double precision, OUT unit text, OUT why text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_sensors_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION sweep.sensors() IS 'what the governor measures, sensed now: takes a quarter of a second';

REVOKE ALL ON FUNCTION sweep.sensors() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sweep.sensors() TO pg_monitor;
