
--
-- What vacuums may use: the governor's findings, and steering.
--

CREATE FUNCTION sweep_internal.get_budget(
	OUT name text, OUT setting text, OUT unit text,
	OUT configured double precision, OUT measured double precision,
	OUT allowed_mb_per_s double precision, OUT binding boolean,
	OUT sensor text, OUT detail text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_budget_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION sweep_internal.get_governor(
	OUT at timestamptz, OUT vacuums integer,
	OUT read_mb_per_s double precision, OUT dirty_mb_per_s double precision,
	OUT wal_mb_per_s double precision, OUT cpu_pct double precision,
	OUT users_waiting double precision, OUT allowed_mb_per_s double precision,
	OUT floor_mb_per_s double precision, OUT binding text,
	OUT decision text, OUT reason text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_governor_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION sweep_internal.get_host(
	OUT this_server boolean, OUT name text, OUT user_id bigint, OUT same_device boolean,
	OUT vacuums integer, OUT urgency double precision,
	OUT read_mb_per_s double precision, OUT dirty_mb_per_s double precision,
	OUT wal_mb_per_s double precision, OUT heard_ago interval,
	OUT device_share double precision, OUT processors_share double precision, OUT detail text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sweep_host_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE VIEW sweep.budget AS
SELECT b.name, b.setting, b.unit, b.configured, b.measured, b.allowed_mb_per_s,
       b.binding, b.sensor, b.detail
FROM sweep_internal.get_budget() b;

COMMENT ON VIEW sweep.budget IS 'one row per limit of what vacuums may use: what is configured, what is measured, which one binds';

CREATE VIEW sweep.governor AS
SELECT g.at, g.vacuums, g.read_mb_per_s, g.dirty_mb_per_s, g.wal_mb_per_s, g.cpu_pct,
       g.users_waiting, g.allowed_mb_per_s, g.floor_mb_per_s, g.binding, g.decision, g.reason
FROM sweep_internal.get_governor() g
ORDER BY g.at;

COMMENT ON VIEW sweep.governor IS 'one row per recent step of the governor: what it measured, allowed, and why';

CREATE VIEW sweep.host AS
SELECT h.this_server, h.name, h.user_id, h.same_device, h.vacuums, h.urgency,
       h.read_mb_per_s, h.dirty_mb_per_s, h.wal_mb_per_s, h.heard_ago,
       h.device_share, h.processors_share, h.detail
FROM sweep_internal.get_host() h;

COMMENT ON VIEW sweep.host IS 'one row per server of this machine that has vacuumed just now, as it tells, and how much of the limits is left to this one';

-- It is not strict, because limits may be left out.
CREATE FUNCTION sweep.slow(pid integer, write_limit double precision DEFAULT NULL, read_limit double precision DEFAULT NULL)
RETURNS boolean
AS 'MODULE_PATHNAME', 'sweep_slow_0_1'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION sweep.slow(integer, double precision, double precision) IS 'slow the running vacuum of that process down to so many MB/s, or to half of what it does if none is given. A limit below 0.1 MB/s all but stops it, for at most a minute. Returns false, with a WARNING, if the process runs no vacuum';

CREATE FUNCTION sweep.hurry(pid integer) RETURNS boolean
AS 'MODULE_PATHNAME', 'sweep_hurry_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION sweep.hurry(integer) IS 'let the running vacuum of that process go as fast as it can. Returns false, with a WARNING, if the process runs no vacuum';

CREATE FUNCTION sweep.release(pid integer) RETURNS boolean
AS 'MODULE_PATHNAME', 'sweep_release_0_1'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION sweep.release(integer) IS 'end sweep.slow() or sweep.hurry() of that process. Returns false if it was not steered';

REVOKE ALL ON FUNCTION sweep_internal.get_budget(), sweep_internal.get_governor(), sweep_internal.get_host(),
	sweep.slow(integer, double precision, double precision), sweep.hurry(integer), sweep.release(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sweep_internal.get_budget(), sweep_internal.get_governor(), sweep_internal.get_host() TO pg_monitor;
GRANT SELECT ON sweep.budget, sweep.governor, sweep.host TO pg_monitor;

-- pg_maintain exists from PostgreSQL 17 on.
DO $$
BEGIN
	IF EXISTS (SELECT 1 FROM pg_catalog.pg_roles r WHERE r.rolname OPERATOR(pg_catalog.=) 'pg_maintain') THEN
		GRANT EXECUTE ON FUNCTION
			sweep.slow(integer, double precision, double precision),
			sweep.hurry(integer), sweep.release(integer)
		TO pg_maintain;
	END IF;
END
$$;
