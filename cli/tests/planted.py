"""A schema sweep that the owner of a database made, to run code as who asks."""

from __future__ import annotations

from pgsweep_bench.servers.server import ThrowawayServer

DBNAME = "planted"
SAID = "planted code"
VIEWS = (
    *("tables", "queue", "blockers", "totals", "budget", "governor", "audit", "trial", "worth"),
    *("progress", "runs", "databases", "decisions", "history", "features", "table_settings"),
)
ACTS = (
    *("hold(interval)", "snooze(regclass, interval)", "vacuum(regclass, boolean)"),
    *("set(regclass, text, text)", "cancel(integer, interval, boolean)", "hurry(integer)"),
    *("slow(integer, double precision, double precision)", "release(integer)", "explain()"),
)
SCHEMAS = (
    "CREATE SCHEMA sweep AUTHORIZATION planter; "
    "CREATE SCHEMA sweep_internal AUTHORIZATION planter; "
    "SET ROLE planter; "
    "CREATE FUNCTION sweep.evil() RETURNS text LANGUAGE plpgsql AS "
    f"$$BEGIN RAISE EXCEPTION '{SAID} ran as %', current_user; END$$; "
    "CREATE VIEW sweep.status AS "
    "SELECT sweep.evil() AS sql_version, '0.1.0' AS library_version; "
    "CREATE FUNCTION sweep_internal.get_status() RETURNS text LANGUAGE sql "
    "AS 'SELECT sweep.evil()'; "
)


def plant(server: ThrowawayServer) -> None:
    """Make the database, unless it is there."""
    if server.psql("postgres", f"SELECT 1 FROM pg_database WHERE datname = '{DBNAME}'"):
        return
    server.psql("postgres", "CREATE ROLE planter")
    server.psql("postgres", f"CREATE DATABASE {DBNAME} OWNER planter")
    views = "".join(f"CREATE VIEW sweep.{name} AS SELECT sweep.evil(); " for name in VIEWS)
    acts = "".join(
        f"CREATE FUNCTION sweep.{name} RETURNS text LANGUAGE sql AS 'SELECT sweep.evil()'; "
        for name in ACTS
    )
    server.psql(DBNAME, SCHEMAS + views + acts)
