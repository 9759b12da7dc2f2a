"""The commands on a server that never heard of pg_sweep, by a role that is in pg_monitor only."""

from __future__ import annotations

import json
import os
import re
import resource
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

import planted
from conftest import Pgsweep, Result, until, write
from pgsweep import queries
from pgsweep.base import errors
from pgsweep.source import db
from pgsweep_bench.servers.server import SUPERUSER, ThrowawayServer, default_pg_config, free_port

pytestmark = pytest.mark.server

PATIENCE_S = 30.0
SETTINGS = {
    "wal_level": "logical",
    "max_prepared_transactions": "5",
    "autovacuum_max_workers": "1",
    "autovacuum_naptime": "1h",
    "track_commit_timestamp": "off",
}
WATCHER = "watcher"


@pytest.fixture(scope="module")
def core() -> Iterator[ThrowawayServer]:
    """A server without the library and without the extension."""
    with ThrowawayServer(default_pg_config(), SETTINGS) as server:
        server.psql("postgres", f"CREATE ROLE {WATCHER} LOGIN IN ROLE pg_monitor")
        server.psql("postgres", "CREATE ROLE nobody_special LOGIN")
        server.psql("postgres", "CREATE DATABASE other")
        yield server


Ask = Callable[..., Result]


@pytest.fixture
def ask(pgsweep: Pgsweep, core: ThrowawayServer) -> Ask:
    """Call the command as that role."""

    def call(*arguments: str, dbname: str = "postgres", user: str = WATCHER) -> Result:
        return pgsweep(*arguments, *core.flags(dbname), "-U", user)

    return call


def pid_of(server: ThrowawayServer, name: str, condition: str = "true") -> str:
    """Return the process of a session, or nothing."""
    return server.psql(
        "postgres",
        f"SELECT max(pid) FROM pg_stat_activity WHERE application_name = '{name}' AND {condition}",
    ).strip()


def connected(server: ThrowawayServer, dbname: str, port: str | None = None) -> Any:
    """Return a connection outside of any transaction, as superuser."""
    where = f"host={server.folder} port={port or server.port} user=postgres dbname={dbname}"
    return psycopg.connect(where, autocommit=True)


@contextmanager
def session(server: ThrowawayServer, *statements: str, dbname: str = "postgres") -> Iterator[str]:
    """Run statements in a session that then does nothing, and yield its process."""
    with connected(server, dbname) as conn:
        for statement in statements:
            conn.execute(statement)
        yield str(conn.info.backend_pid)
        conn.close()


@contextmanager
def working(server: ThrowawayServer, statement: str) -> Iterator[str]:
    """Start a statement that sleeps, in a session of its own, and yield its process."""
    name = f"working_{free_port()}"
    target = [*server.flags("postgres")[:-2], "-d", f"dbname=postgres application_name={name}"]
    server.start(["psql", "-X", *target, "-c", statement], log="working.log")
    pid = until(lambda: pid_of(server, name, "wait_event = 'PgSleep'"))
    try:
        yield pid
    finally:
        server.psql("postgres", f"SELECT pg_terminate_backend({pid})")
        until(lambda: not pid_of(server, name))


def fill(server: ThrowawayServer, name: str, dbname: str = "postgres") -> None:
    """Make a table of 10,000 rows that is not due."""
    server.psql(dbname, f"DROP TABLE IF EXISTS {name}")
    write(server, dbname, f"CREATE TABLE {name} AS SELECT i FROM generate_series(1, 10000) AS i")
    server.psql(dbname, f"VACUUM (ANALYZE) {name}")


def garbage(server: ThrowawayServer, name: str, dbname: str = "postgres") -> None:
    """Make a table and kill most of its rows."""
    fill(server, name, dbname)
    write(server, dbname, f"DELETE FROM {name} WHERE i > 1000")


def worst(ask: Ask, name: str, **where: str) -> dict[str, Any]:
    """Return the worst cause of one table."""
    result = ask("explain", "--json", name, **where)
    assert result.code == 0, result.err
    cause: dict[str, Any] = result.json()[0]
    assert cause["rank"] == 1
    return cause


def test_who_inherited_an_xmin_is_not_blamed(core: ThrowawayServer, ask: Ask) -> None:
    garbage(core, "heirs")
    core.psql("postgres", "BEGIN; SELECT txid_current(); PREPARE TRANSACTION 'owner'")
    later = ("BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM heirs")
    try:
        with session(core, *later) as pid:
            core.psql("postgres", "SELECT txid_current()")
            rows = ask("blockers", "--json").json()
            assert [row["name"] for row in rows if row["age"]] == ["owner"]
            core.psql("postgres", "ROLLBACK PREPARED 'owner'")
            rows = ask("blockers", "--json").json()
            assert [str(row["pid"]) for row in rows] == [pid]
    finally:
        if core.psql("postgres", "SELECT count(*) FROM pg_prepared_xacts").strip() != "0":
            core.psql("postgres", "ROLLBACK PREPARED 'owner'")


def test_below_threshold(core: ThrowawayServer, ask: Ask) -> None:
    fill(core, "quiet")
    core.psql("postgres", "DELETE FROM quiet WHERE i <= 1025")
    cause = until(
        lambda: (found := worst(ask, "quiet"))["evidence"].startswith("dead rows 1,025") and found
    )
    assert cause["cause"] == "below threshold"
    assert "dead rows 1,025, 50 % of the threshold 2,050" in cause["evidence"]
    assert cause["fix"] == "VACUUM public.quiet;"


def test_due_and_tables(core: ThrowawayServer, ask: Ask) -> None:
    garbage(core, "ripe")
    cause = until(lambda: (found := worst(ask, "ripe"))["verdict"] == "due" and found)
    assert "dead tuples 9,000 above threshold 2,050" in cause["evidence"]
    rows = {row["relname"]: row for row in ask("tables", "--json", "--due").json()}
    assert rows["ripe"]["decision"] == "due"
    assert rows["ripe"]["vacuum_score"] == pytest.approx(9000 / 2050)
    assert rows["ripe"]["datname"] == "postgres"
    everything = ask("tables", "-n", "3")
    assert everything.code == 0
    assert "needs the extension" in " ".join(everything.out.split())
    both = ask("tables", "--database", "other", "--database", "postgres", "--json", "-n", "9999")
    assert {row["datname"] for row in both.json()} == {"other", "postgres"}
    core.psql("postgres", "DROP TABLE ripe")


def test_disabled(core: ThrowawayServer, ask: Ask) -> None:
    garbage(core, "off")
    core.psql("postgres", "ALTER TABLE off SET (autovacuum_enabled = off)")
    cause = until(
        lambda: (found := worst(ask, "off"))["verdict"] == "due, and not vacuumed" and found
    )
    assert cause["cause"] == "autovacuum_enabled is off for this table"
    # The statement that is given as the fix works.
    core.psql("postgres", cause["fix"])
    assert worst(ask, "off")["verdict"] == "due"
    core.psql("postgres", "DROP TABLE off")


@pytest.mark.parametrize("setting", ["autovacuum", "track_counts"])
def test_switched_off(core: ThrowawayServer, ask: Ask, setting: str) -> None:
    core.psql("postgres", f"ALTER SYSTEM SET {setting} = off")
    core.psql("postgres", "SELECT pg_reload_conf()")
    try:
        cause = until(
            lambda: (
                (found := worst(ask, "pg_catalog.pg_class"))["cause"] == f"{setting} is off"
                and found
            )
        )
        assert f"ALTER SYSTEM SET {setting} = on" in cause["fix"]
        status = ask("status")
        assert status.code == 1
        assert f"{setting} is off" in status.out
        check = ask("check")
        assert check.code == 2
        assert check.out.startswith("PGSWEEP CRITICAL - ")
    finally:
        core.psql("postgres", f"ALTER SYSTEM RESET {setting}")
        core.psql("postgres", "SELECT pg_reload_conf()")


def test_locked(core: ThrowawayServer, ask: Ask) -> None:
    garbage(core, "held")
    with session(core, "BEGIN", "LOCK TABLE held IN SHARE MODE") as pid:
        cause = until(lambda: "locked" in (found := worst(ask, "held"))["cause"] and found)
        assert cause["cause"] == f"locked by process {pid}"
        assert "ShareLock" in cause["evidence"]
        (row,) = (row for row in ask("tables", "--json").json() if row["relname"] == "held")
        assert (row["decision"], row["blocked_by"]) == ("locked", [int(pid)])
        core.psql("postgres", cause["fix"])
        until(lambda: "locked" not in worst(ask, "held")["cause"])
    core.psql("postgres", "DROP TABLE held")


def stays(core: ThrowawayServer, ask: Ask, name: str) -> dict[str, Any]:
    """Let rows die and be vacuumed in vain.

    Return why they stayed.
    """
    garbage(core, name)
    core.psql("postgres", f"VACUUM {name}")
    found: dict[str, Any] = until(
        lambda: (cause := worst(ask, name))["cause"].startswith("horizon") and cause
    )
    assert found["verdict"] == "vacuumed, but its dead rows cannot be removed"
    assert "9,000 dead rows after the vacuum" in found["evidence"]
    core.psql("postgres", f"DROP TABLE {name}")
    return found


def kinds(ask: Ask) -> dict[str, dict[str, Any]]:
    """Return what holds the horizon back, by its kind."""
    result = ask("blockers", "--json")
    assert result.code == 0, result.err
    return {row["kind"]: row for row in result.json()}


def test_idle_in_transaction(core: ThrowawayServer, ask: Ask) -> None:
    with session(core, "BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT 1") as pid:
        cause = stays(core, ask, "kept")
        assert cause["cause"] == f"horizon held by a session idle in transaction, process {pid}"
        assert kinds(ask)["idle in transaction"]["pid"] == int(pid)
        text = ask("blockers").out
        assert f"SELECT pg_terminate_backend({pid});" in text
        assert "needs the extension" in " ".join(text.split())
        doctor = ask("doctor")
        assert f"held by a session idle in transaction, process {pid}" in doctor.out
        core.psql("postgres", cause["fix"])
        until(lambda: "idle in transaction" not in kinds(ask))


def test_open_transaction(core: ThrowawayServer, ask: Ask) -> None:
    with working(core, "SELECT pg_sleep(600)") as pid:
        cause = stays(core, ask, "kept")
        assert cause["cause"] == f"horizon held by an open transaction of process {pid}"
        assert "query: SELECT pg_sleep(600)" in cause["evidence"]
        core.psql("postgres", cause["fix"])
        until(lambda: "transaction" not in kinds(ask))


def test_prepared_transaction(core: ThrowawayServer, ask: Ask) -> None:
    core.psql(
        "postgres",
        "BEGIN; CREATE TABLE half (i int); PREPARE TRANSACTION 'it''s half'",
    )
    cause = stays(core, ask, "kept")
    assert cause["cause"] == 'horizon held by prepared transaction "it\'s half"'
    assert kinds(ask)["prepared transaction"]["name"] == "it's half"
    core.psql("postgres", cause["fix"].partition(";")[0])
    until(lambda: "prepared transaction" not in kinds(ask))


def test_logical_slot(core: ThrowawayServer, ask: Ask) -> None:
    core.psql("postgres", "SELECT pg_create_logical_replication_slot('lazy', 'pgoutput')")
    core.psql("postgres", "CREATE TABLE later (i int); DROP TABLE later")
    row = until(lambda: kinds(ask).get("logical slot"))
    assert (row["name"], row["state"]) == ("lazy", "inactive")
    assert row["withholds"] == "dead rows of the system catalogs of all databases"
    core.psql("postgres", row["fix"])
    until(lambda: "logical slot" not in kinds(ask))


def test_another_databases_session(core: ThrowawayServer, ask: Ask) -> None:
    with session(core, "BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT 1", dbname="other") as pid:
        for i in range(60):
            core.psql("postgres", f"CREATE ROLE r{i}; DROP ROLE r{i}")
        core.psql("postgres", "VACUUM pg_authid")
        cause = until(
            lambda: "horizon" in (found := worst(ask, "pg_catalog.pg_authid"))["cause"] and found
        )
        assert cause["cause"] == (
            f'horizon held by a session idle in transaction, process {pid} in database "other"'
        )


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("CREATE INDEX CONCURRENTLY ON slow_rows (slow(i))", "create index"),
        ("ANALYZE slow_rows", "vacuum"),
    ],
)
def test_maintenance_holds_the_horizon(
    core: ThrowawayServer, ask: Ask, statement: str, kind: str
) -> None:
    def function(body: str) -> str:
        return (
            "CREATE OR REPLACE FUNCTION public.slow(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql "
            f"AS $$BEGIN {body} RETURN i; END$$"
        )

    core.psql("postgres", function(""))
    core.psql("postgres", "CREATE TABLE slow_rows AS SELECT generate_series(1, 100) AS i")
    core.psql("postgres", "CREATE INDEX ON slow_rows (slow(i))")
    core.psql("postgres", function("PERFORM pg_sleep(600);"))
    try:
        with working(core, statement) as pid:
            core.psql("postgres", "CREATE TABLE later (i int); DROP TABLE later")
            row = until(lambda: kinds(ask).get(kind))
            assert row["pid"] == int(pid)
            assert row["fix"] == f"SELECT pg_cancel_backend({pid});"
    finally:
        core.psql("postgres", "DROP TABLE slow_rows")


def test_statistics_were_reset(core: ThrowawayServer, ask: Ask) -> None:
    garbage(core, "forgotten", dbname="other")
    core.psql("other", "SELECT pg_stat_reset()")
    cause = until(
        lambda: (
            "statistics" in (found := worst(ask, "forgotten", dbname="other"))["cause"] and found
        )
    )
    assert "not one row counted. The statistics of this database were reset" in cause["evidence"]


def test_what_is_never_vacuumed(core: ThrowawayServer, ask: Ask) -> None:
    core.psql(
        "postgres",
        "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w;"
        "CREATE FOREIGN TABLE far (i int) SERVER s;"
        "CREATE TABLE parent (i int) PARTITION BY RANGE (i); CREATE VIEW seen AS SELECT 1 AS i",
    )
    assert worst(ask, "far")["cause"] == "foreign table"
    assert worst(ask, "parent")["cause"] == "partitioned table"
    assert worst(ask, "seen")["cause"] == "view"
    with session(core, "CREATE TEMP TABLE mine AS SELECT 1 AS i"):
        assert worst(ask, "mine")["cause"] == "temporary table"


def test_wraparound(core: ThrowawayServer, ask: Ask) -> None:
    core.psql("postgres", "CREATE TABLE old (i int) WITH (autovacuum_freeze_max_age = 100000)")
    core.psql("postgres", "INSERT INTO old VALUES (1); CREATE UNLOGGED TABLE burnt (i int)")
    core.psql("postgres", "VACUUM FREEZE old")
    core.psql(
        "postgres",
        "DO $$BEGIN FOR i IN 1..81000 LOOP "
        "BEGIN INSERT INTO burnt VALUES (i); EXCEPTION WHEN division_by_zero THEN END; "
        "END LOOP; END$$",
    )
    cause = worst(ask, "old")
    assert (cause["cause"], cause["verdict"]) == ("wraparound ahead", "a forced vacuum is near")
    assert "81 % of autovacuum_freeze_max_age (100,000)" in cause["evidence"]
    measured = ask("explain", "old", "--json", "--seconds", "0.5").json()[0]
    # Hardly anybody else used transaction ids in that time.
    assert "stop" in measured["evidence"]
    core.psql("postgres", "DROP TABLE old, burnt")


def test_all_workers_are_busy(core: ThrowawayServer, ask: Ask) -> None:
    garbage(core, "first")
    garbage(core, "second")
    slow = {"autovacuum_naptime": "1s", "autovacuum_vacuum_cost_delay": "100ms"}
    slow["autovacuum_vacuum_cost_limit"] = "1"
    for name, value in slow.items():
        core.psql("postgres", f"ALTER SYSTEM SET {name} = '{value}'")
    core.psql("postgres", "SELECT pg_reload_conf()")
    try:

        def busy() -> dict[str, Any] | None:
            for name in ("first", "second"):
                cause = worst(ask, name)
                # A worker that has just started does not say yet what it does.
                if "busy" in cause["cause"] and ": autovacuum: " in cause["evidence"]:
                    return cause
            return None

        cause = until(busy)
        assert cause["cause"] == "all 1 autovacuum workers are busy"
        assert "needs the extension" in " ".join(ask("explain").out.split())
        until(lambda: "1 of 1 workers busy" in ask("status").out)
    finally:
        for name in slow:
            core.psql("postgres", f"ALTER SYSTEM RESET {name}")
        core.psql("postgres", "SELECT pg_reload_conf()")
        core.psql(
            "postgres",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE backend_type = 'autovacuum worker'",
        )
    core.psql("postgres", "DROP TABLE first, second")


def test_a_standby(core: ThrowawayServer, ask: Ask, pgsweep: Pgsweep) -> None:
    hba = core.folder / "data" / "pg_hba.conf"
    hba.write_text("local replication all trust\n" + hba.read_text())
    core.psql("postgres", "SELECT pg_reload_conf()")
    core.psql("postgres", "SELECT pg_create_physical_replication_slot('for_standby')")
    data, port = str(core.folder / "standby"), str(free_port())
    core.run(["pg_basebackup", "-D", data, "-R", "-c", "fast", *core.flags("postgres")[:-2]])
    given = (f"port={port}", "hot_standby_feedback=on", "wal_receiver_status_interval=1s")
    options = [word for setting in given for word in ("-c", setting)]
    standby = core.start(["postgres", "-D", data, *options], log="standby.log")
    there = ("-h", str(core.folder), "-p", port, "-U", "postgres", "-d", "postgres")
    until(lambda: pgsweep("status", *there).code != 2)
    found = pgsweep("status", *there)
    assert "standby" in found.out
    assert pgsweep("explain", "--json", "pg_catalog.pg_class", *there).json()[0]["cause"] in (
        "standby",
    )
    with connected(core, "postgres", port) as far:
        far.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        far.execute("SELECT 1")

        def feedback() -> dict[str, Any] | None:
            core.psql("postgres", "CREATE TABLE later (i int); DROP TABLE later")
            return kinds(ask).get("standby feedback")

        row = until(feedback)
        assert row["withholds"] == "dead rows of all tables of all databases"
        # Only the standby knows how long its oldest query has been running.
        assert row["since"] is None
        for statement in (
            "ALTER SYSTEM SET primary_slot_name = 'for_standby'",
            "SELECT pg_reload_conf()",
        ):
            core.run(["psql", "-X", *there, "-c", statement])
        row = until(
            lambda: (
                (found := kinds(ask).get("standby feedback"))
                and found["state"] == "active"
                and found
            )
        )
        assert row["name"] == "for_standby"
        assert "hot_standby_feedback = off" in row["fix"]
        far.close()
    standby.terminate()

    # Nobody uses the slot any more, but it still holds the horizon.
    def left() -> dict[str, Any] | None:
        # Transactions go on, so what it holds gets older.
        core.psql("postgres", "CREATE TABLE later (i int); DROP TABLE later")
        return kinds(ask).get("physical slot")

    row = until(left)
    assert (row["name"], row["state"]) == ("for_standby", "inactive")
    core.psql("postgres", row["fix"])
    until(lambda: "physical slot" not in kinds(ask))


def test_the_answers_of_a_server_without_it(ask: Ask) -> None:
    status = ask("status")
    assert status.code in (0, 1), status.err
    lines = status.out.splitlines()
    assert lines[1] == 'pg_sweep   not in database "postgres"'
    assert "needs the extension" in " ".join(status.out.split())
    document = ask("status", "--json").json()
    assert document["status"] is None
    assert document["max_workers"] == 1
    doctor = ask("doctor")
    assert doctor.code == 2
    assert "FAIL extension" in doctor.out
    assert "needs the extension" in " ".join(doctor.out.split())
    assert "in pg_monitor and sees everything" in doctor.out


def test_scores_agree_with_the_server(core: ThrowawayServer, ask: Ask) -> None:
    if int(core.psql("postgres", "SHOW server_version_num")) < 190000:
        pytest.skip("pg_stat_autovacuum_scores came with PostgreSQL 19")
    core.psql("postgres", "CREATE TABLE texts (t text) WITH (autovacuum_vacuum_scale_factor = 0)")
    fill(core, "scored")
    write(core, "postgres", "DELETE FROM scored WHERE i <= 5000")
    write(core, "postgres", "INSERT INTO scored SELECT generate_series(1, 3000)")
    ours = {row["relid"]: row for row in ask("tables", "--json", "--limit", "99999").json()}
    theirs = json.loads(
        core.psql(
            "postgres",
            "SELECT json_agg(s) FROM pg_stat_autovacuum_scores s, "
            "pg_class c WHERE c.oid = s.relid AND NOT c.relisshared",
        )
    )
    assert len(theirs) > 50
    for row in theirs:
        table = ours[int(row["relid"])]
        for part in ("vacuum_score", "vacuum_insert_score", "analyze_score", "score"):
            # A catalog changes with every look-up that is the first of its kind.
            assert table[part] == pytest.approx(row[part], rel=0.01, abs=0.1), row["relname"]
        assert table["do_vacuum"] == row["do_vacuum"], row["relname"]


def test_check(ask: Ask) -> None:
    found = ask("check", "--warning", "overdue=off", "--critical", "overdue=off")
    assert found.code == 0, found.out
    assert found.out.startswith("PGSWEEP OK - oldest xid ")
    assert found.out.count("\n") == 1
    assert " | xid=" in found.out
    document = ask("check", "--json", "--critical", "xid=0").json()
    assert (document["exit_code"], document["state"]) == (2, "CRITICAL")
    assert ask("check", "--critical", "xid=0").code == 2
    assert ask("check", "--warning", "xid=0").code == 1


def test_a_role_that_sees_little(ask: Ask) -> None:
    assert "is not in pg_monitor" in ask("blockers", user="nobody_special").out
    check = ask("check", user="nobody_special")
    assert check.code == 3
    assert "GRANT pg_monitor" in check.out


def test_no_such_table(ask: Ask) -> None:
    result = ask("explain", "nowhere.nothing")
    assert result.code == 2
    assert 'there is no table "nowhere.nothing" in database "postgres"' in result.err
    assert ask("explain", '"').code == 2


def test_progress(ask: Ask, core: ThrowawayServer) -> None:
    core.psql("postgres", "CREATE TABLE slow AS SELECT generate_series(1, 50000) AS i")
    try:
        with connected(core, "postgres") as conn:
            # A nap of 0.1 s for each of 222 pages takes longer than all of this test.
            conn.execute("SET vacuum_cost_delay = 100")
            conn.execute("SET vacuum_cost_limit = 1")
            conn.pgconn.send_query(b"VACUUM slow")
            pid = conn.info.backend_pid

            def row(dbname: str = "postgres", **given: Any) -> Any:
                rows = ask("progress", "--json", dbname=dbname, **given).json()
                found = [row for row in rows if row["pid"] == pid]
                return found[0] if found and found[0]["phase_pct"] else None

            found = until(row)
            assert (found["relname"], found["started_by"]) == ("slow", "manual")
            assert found["command"] == "VACUUM"
            assert found["phase"] == "scanning heap"
            assert 0 < found["phase_pct"] <= 100
            # a file may grow by several pages at a time
            assert found["pages"] >= 222
            assert found["cost"] is None
            until(lambda: row()["limited_by"] == "cost limit")
            # Of another database the name is not known.
            other = until(lambda: row(dbname="other"))
            assert (other["datname"], other["relname"]) == ("postgres", None)
            shown = ask("progress")
            assert "slow" in shown.out
            assert "needs the extension" in " ".join(shown.out.split())
            # Who may not see others' sessions is told so.
            blind = ask("progress", user="nobody_special")
            assert "is not in pg_monitor" in " ".join(blind.out.split())
            conn.cancel()
            until(lambda: conn.pgconn.get_result() is None)
    finally:
        core.psql("postgres", "DROP TABLE slow")


@pytest.mark.parametrize(
    "words",
    [
        *(
            ("status",),
            ("progress",),
            ("runs",),
            ("status", "--databases"),
            ("tables",),
            ("queue",),
        ),
        *(
            ("queue", "--decisions"),
            ("runs", "--audit"),
            ("explain",),
            ("explain", "pg_class"),
            ("blockers",),
        ),
        *(
            ("status", "--budget"),
            ("doctor",),
            ("check",),
            ("trial",),
            ("trial", "--by", "hour"),
            ("report",),
        ),
        *(("hold", "1 h"), ("hold", "0"), ("vacuum", "pg_class"), ("snooze", "pg_class", "1 h")),
        *(("set", "pg_class", "min_interval=7s"), ("cancel", "1", "--yes"), ("fleet",)),
    ],
    ids=" ".join,
)
def test_what_the_owner_of_a_database_planted_does_not_run(
    pgsweep: Pgsweep, core: ThrowawayServer, tmp_path: Path, words: tuple[str, ...]
) -> None:
    planted.plant(core)
    flags = core.flags(planted.DBNAME)
    if words == ("fleet",):
        file = tmp_path / "fleet.toml"
        file.write_text(f'[[nodes]]\nname = "a"\nhost = "{core.folder}"\nport = {core.port}\n')
        flags = ("--file", str(file), "-d", planted.DBNAME, "-U", SUPERUSER, "--deadline", "60")
    # The superuser asks: what ran would run with all rights.
    result = pgsweep(*words, *flags)
    assert planted.SAID not in result.out + result.err
    # That it is not installed is said, or core's views answered.
    assert "not installed" in result.err or result.out


def test_who_waits_behind_a_vacuum(core: ThrowawayServer, ask: Callable[..., Result]) -> None:
    core.psql("postgres", "CREATE TABLE large AS SELECT generate_series(1, 50000) AS i")
    core.psql("postgres", "CREATE TABLE wanted (i int)")
    waits = "SELECT string_agg(pid::text, ',') FROM pg_locks WHERE NOT granted AND relation = "
    try:
        with ExitStack() as stack:
            vacuum, drop, reader = (
                stack.enter_context(connected(core, "postgres")) for _ in range(3)
            )
            vacuum.execute("SET vacuum_cost_delay = 100")
            vacuum.execute("SET vacuum_cost_limit = 1")
            vacuum.pgconn.send_query(b"VACUUM large")
            pid = vacuum.info.backend_pid
            running = f"SELECT 1 FROM pg_stat_progress_vacuum WHERE pid = {pid}"
            until(lambda: core.psql("postgres", running))
            drop.pgconn.send_query(b"DROP TABLE wanted, large")
            victim = str(drop.info.backend_pid)
            until(lambda: core.psql("postgres", f"{waits} 'large'::regclass").strip() == victim)
            reader.pgconn.send_query(b"SELECT * FROM wanted")
            until(lambda: core.psql("postgres", f"{waits} 'wanted'::regclass").strip())

            fix = f"SELECT pg_cancel_backend({pid});"
            first = ask("explain", "wanted", "--json").json()[0]
            assert first["verdict"] == "its users wait for a vacuum"
            assert first["cause"].startswith("1 session waits for the table because of the vacuum")
            assert first["fix"] == fix
            assert ask("explain", "large", "--json").json()[0]["fix"] == fix
            rows = ask("blockers", "--json").json()
            (blocked,) = [row for row in rows if row["pid"] == int(victim)]
            assert blocked["fix"] == fix
            assert blocked["risk"].startswith(f"it only waits for the vacuum of process {pid} (")
            status = ask("status")
            assert f"sessions wait for the vacuum of process {pid} (VACUUM large)" in status.out
            vacuum.cancel()
            for each in (vacuum, drop, reader):
                while each.pgconn.get_result() is not None:
                    pass
    finally:
        core.psql("postgres", "DROP TABLE IF EXISTS large, wanted")


def test_a_session_that_the_server_has_ended(core: ThrowawayServer) -> None:
    """A fleet can have more sessions than select() knows descriptors."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 2048), hard))
    try:
        with ExitStack() as stack:
            if hard > 1100:
                for _ in range(1030):
                    stack.callback(os.close, os.dup(1))
            session = stack.enter_context(db.connect(core.target("postgres")))
            session.server()
            assert not session.is_lost()
            core.psql("postgres", f"SELECT pg_terminate_backend({session.pid})")
            until(session.is_lost)
            assert not stack.enter_context(session.again()).is_lost()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


USING = sorted(
    path.stem
    for path in (Path(queries.__file__).parent).glob("*.sql")
    if re.search(r"(from|join|select|by|,)\s+sweep(_internal)?\.", path.read_text(), re.IGNORECASE)
)


def test_no_query_uses_what_the_owner_of_a_database_planted(core: ThrowawayServer) -> None:
    """Whoever forgets to ask whether the extension is there is told so by the session."""
    planted.plant(core)
    assert {"status", "fleet_status", "vacuum", "xid_rate", "fleet_citus_settings"} <= {*USING}
    with db.connect(core.target(planted.DBNAME)) as session:
        for name in USING:
            with pytest.raises(errors.ExtensionMissingError):
                session.dicts(name)
            with pytest.raises(errors.ExtensionMissingError):
                session.several("own_database", name)
