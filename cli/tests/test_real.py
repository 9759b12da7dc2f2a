"""The commands against the real extension: loaded, not loaded, on a standby."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator

import psycopg
import pytest

from conftest import Pgsweep, needs_extension, write
from pgsweep import model
from pgsweep.findings.watcher import Watcher
from pgsweep.model import compute
from pgsweep.source import db
from pgsweep_bench.servers.server import ThrowawayServer, default_pg_config, free_port

pytestmark = [pytest.mark.server, needs_extension]

PATIENCE_S = 30.0
SETTINGS = {
    "shared_preload_libraries": "pg_sweep",
    "sweep.mode": "act",
    "sweep.min_interval": "1s",
    "log_autovacuum_min_duration": "0",
    "autovacuum_naptime": "1h",
}


def columns(kind: type) -> list[str]:
    return [field.name for field in dataclasses.fields(kind)]


@pytest.fixture(scope="module")
def real() -> Iterator[ThrowawayServer]:
    """A server with pg_sweep at work, one run by hand already made."""
    with ThrowawayServer(default_pg_config(), SETTINGS) as server:
        server.psql("postgres", "CREATE EXTENSION pg_sweep")
        write(server, "postgres", "CREATE TABLE t AS SELECT generate_series(1, 1000) AS i")
        write(server, "postgres", "DELETE FROM t WHERE i > 500")
        server.psql("postgres", "VACUUM t")
        server.psql("postgres", "CREATE ROLE nobody_special LOGIN")
        server.psql("postgres", "CREATE ROLE watcher LOGIN IN ROLE pg_monitor")
        yield server


@pytest.fixture(scope="module")
def unloaded() -> Iterator[ThrowawayServer]:
    """A server with the extension, but without the library."""
    with ThrowawayServer(default_pg_config(), {}) as server:
        server.psql("postgres", "CREATE EXTENSION pg_sweep")
        yield server


@pytest.mark.parametrize(
    ("view", "kind"),
    [
        ("tables", model.Table),
        ("queue", model.Waiting),
        ("blockers", model.Blocker),
        ("status", model.Status),
    ],
)
def test_model_has_the_columns_of_the_views(real: ThrowawayServer, view: str, kind: type) -> None:
    offered = real.psql(
        "postgres",
        "SELECT attname FROM pg_attribute "
        f"WHERE attrelid = 'sweep.{view}'::regclass AND attnum > 0 AND NOT attisdropped",
    ).split()
    # For a table of this database the row need not say which database it is. Newer columns have
    # defaults.
    later = {field.name for field in dataclasses.fields(kind) if field.default is None}
    later |= {"datname"} if kind is model.Table else set()
    assert set(columns(kind)) - later <= set(offered) <= set(columns(kind))


def test_tables(pgsweep: Pgsweep, real: ThrowawayServer) -> None:
    flags = (*real.flags("postgres"), "-U", "watcher")
    rows = {row["relname"]: row for row in pgsweep("tables", "--json", "-n", "999", *flags).json()}
    assert list(rows["t"]) == columns(model.Table)
    assert rows["t"]["vacuum_threshold"] == pytest.approx(50 + 0.2 * rows["t"]["live_tuples"])
    text = pgsweep("tables", *flags)
    assert text.code == 0
    assert "has no pg_sweep" not in text.out
    # The other database has no extension. There core's views answer.
    other = pgsweep("tables", "--json", "--database", "template1", *flags)
    assert other.code == 0
    assert 'Database "template1" has no pg_sweep' in other.err


def test_explain_blockers_and_check(pgsweep: Pgsweep, real: ThrowawayServer) -> None:
    flags = (*real.flags("postgres"), "-U", "watcher")
    where = f"host={real.folder} port={real.port} user=postgres dbname=postgres"
    with psycopg.connect(where, autocommit=True) as conn:
        conn.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        conn.execute("SELECT 1")
        pid = conn.info.backend_pid
        real.psql(
            "postgres", "CREATE TABLE IF NOT EXISTS held AS SELECT generate_series(1, 9000) i"
        )
        real.psql("postgres", "DELETE FROM held")
        rows = pgsweep("blockers", "--json", *flags).json()
        (row,) = (row for row in rows if row["pid"] == pid)
        assert row["kind"] == "idle in transaction"
        assert row["fix"]
        assert f" {pid} " in pgsweep("blockers", *flags).out
        assert f"process {pid}" in pgsweep("doctor", *flags).out
        deadline = time.monotonic() + PATIENCE_S
        while not any(
            str(pid) in f"{cause['cause']} {cause['evidence']} {cause['fix']}"
            for cause in pgsweep("explain", "held", "--json", *flags).json()
        ):
            assert time.monotonic() < deadline, pgsweep("explain", "held", *flags).out
            time.sleep(0.1)
        assert pgsweep("explain", *flags).code == 0
        check = pgsweep(
            "check", "--warning", "overdue=off,holder=1s", "--critical", "overdue=off", *flags
        )
        assert check.code in (0, 1), check.out
        assert " round=" in check.out
    real.psql("postgres", "DROP TABLE held")


def test_due_is_one_number(pgsweep: Pgsweep, real: ThrowawayServer) -> None:
    for name in ("d1", "d2", "d3"):
        write(real, "postgres", f"CREATE TABLE {name} AS SELECT generate_series(1, 1000) AS i")
    real.psql("postgres", "SELECT sweep.hold('1 hour')")
    flags = real.flags("postgres")
    try:
        for name in ("d1", "d2", "d3"):
            write(real, "postgres", f"DELETE FROM {name}")
        with db.connect(real.target("postgres")) as session:
            deadline = time.monotonic() + PATIENCE_S
            while True:
                seen = Watcher().snapshot(session)
                queue = seen.queue or ()
                if len({row.relname for row in queue} & {"d1", "d2", "d3"}) == 3:
                    break
                assert time.monotonic() < deadline, queue
                time.sleep(0.05)
        assert compute.due(seen.status, queue) == len(queue)
        assert sum(row.due or 0 for row in seen.databases) == len(queue)
        # The tables are small, and they are held on purpose. So none of that is a problem.
        assert pgsweep("status", "--json", *flags).json()["overdue"] == []
    finally:
        real.psql("postgres", "SELECT sweep.hold('0')")
        real.psql("postgres", "DROP TABLE d1, d2, d3")


def test_overdue_tables_and_holders_are_problems(pgsweep: Pgsweep, real: ThrowawayServer) -> None:
    write(real, "postgres", "CREATE TABLE big AS SELECT generate_series(1, 12000) AS i")
    flags = real.flags("postgres")
    with psycopg.connect(host=str(real.folder), port=real.port, user="postgres") as holder:
        holder.execute("LOCK TABLE big IN SHARE UPDATE EXCLUSIVE MODE")
        holder.execute("SELECT txid_current()")
        write(real, "postgres", "DELETE FROM big")
        deadline = time.monotonic() + PATIENCE_S
        while "big (" not in (out := pgsweep("status", *flags).out.split("problems")[-1]):
            assert time.monotonic() < deadline, out
            time.sleep(0.05)
        assert "over 3 times its threshold" in out
        result = pgsweep("status", *flags)
        assert result.code == 1
        assert f"by a session idle in transaction, process {holder.info.backend_pid}" in result.out
    real.psql("postgres", "DROP TABLE big")


def test_on_hold(pgsweep: Pgsweep, real: ThrowawayServer) -> None:
    flags = real.flags("postgres")
    real.psql("postgres", "SELECT sweep.hold('1 hour')")
    try:
        assert ", on hold until " in pgsweep("status", *flags).out
    finally:
        real.psql("postgres", "SELECT sweep.hold('0')")
    assert "on hold" not in pgsweep("status", *flags).out
    real.psql("postgres", "CREATE TABLE asleep (i int)")
    real.psql("postgres", "SELECT sweep.snooze('asleep', '1 hour')")
    try:
        assert "1 snoozed" in pgsweep("status", *flags).out
    finally:
        real.psql("postgres", "SELECT sweep.snooze('asleep', '0')")
        real.psql("postgres", "DROP TABLE asleep")


@pytest.mark.parametrize("command", ["progress", "runs", "status --databases"])
def test_rows(pgsweep: Pgsweep, real: ThrowawayServer, command: str) -> None:
    kind = {"progress": model.Progress, "runs": model.Run, "status --databases": model.Database}[
        command
    ]
    result = pgsweep(*command.split(), "--json", *real.flags("postgres"))
    assert result.code == 0, result.err
    assert all(list(row) == columns(kind) for row in result.json())
    assert pgsweep(*command.split(), *real.flags("postgres")).code == 0


def test_a_run_by_hand(pgsweep: Pgsweep, real: ThrowawayServer) -> None:
    (run,) = pgsweep(
        "runs", "--json", "--table", "public.t", *real.flags("postgres"), "--started-by", "manual"
    ).json()
    assert run["outcome"] == "done"
    assert run["command"] == "VACUUM"
    assert run["datname"] == "postgres"


def test_status_and_doctor(pgsweep: Pgsweep, real: ThrowawayServer) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        # The launcher needs a moment for its first round.
        result = pgsweep("status", *real.flags("postgres"))
        if result.code == 0 or time.monotonic() > deadline:
            break
        time.sleep(0.1)
    assert result.code == 0, result.out
    assert "problems   none" in result.out
    doctor = pgsweep("doctor", *real.flags("postgres"))
    assert doctor.code == 0, doctor.out
    assert "FAIL" not in doctor.out
    checks = pgsweep("doctor", "--json", *real.flags("postgres")).json()["checks"]
    slots = next(check["text"] for check in checks if check["subject"] == "slots")
    # There is one background worker that is not ours: logical replication's launcher.
    assert "8 background worker slots, 1 used by others now" in slots
    acting = next(check["text"] for check in checks if check["subject"] == "acting")
    assert "sweep.vacuum(regclass, boolean)" in acting


def test_doctor_reads_the_lists_of_databases(pgsweep: Pgsweep, real: ThrowawayServer) -> None:
    real.psql("postgres", "ALTER SYSTEM SET sweep.databases = 'nosuchdb'")
    real.psql("postgres", "SELECT pg_reload_conf()")
    flags = real.flags("postgres")
    try:
        deadline = time.monotonic() + PATIENCE_S
        while "0 of" not in (out := pgsweep("doctor", *flags).out):
            assert time.monotonic() < deadline, out
        assert pgsweep("doctor", *flags).code == 1
        assert 'WARN databases  sweep.databases names "nosuchdb"' in out
        assert "WARN databases  0 of" in out
    finally:
        real.psql("postgres", "ALTER SYSTEM RESET sweep.databases")
        real.psql("postgres", "SELECT pg_reload_conf()")


def test_doctor_in_a_database_without_it(pgsweep: Pgsweep, real: ThrowawayServer) -> None:
    result = pgsweep("doctor", *real.flags("template1"))
    assert result.code == 2
    assert "ok   library    loaded by shared_preload_libraries" in result.out
    assert 'FAIL extension  not created in database "template1"' in result.out


def test_roles(pgsweep: Pgsweep, real: ThrowawayServer) -> None:
    assert pgsweep("runs", "--json", *real.flags("postgres"), "-U", "watcher").code == 0
    refused = pgsweep("runs", "--json", *real.flags("postgres"), "-U", "nobody_special")
    assert refused.code == 2
    assert "permission denied for schema sweep" in refused.err


def test_mode_off(pgsweep: Pgsweep, real: ThrowawayServer) -> None:
    real.psql("postgres", "ALTER SYSTEM SET sweep.mode = off")
    real.psql("postgres", "SELECT pg_reload_conf()")
    try:
        deadline = time.monotonic() + PATIENCE_S
        while "mode off" not in (out := pgsweep("status", *real.flags("postgres")).out):
            assert time.monotonic() < deadline, out
        while real.psql("postgres", "SELECT workers FROM sweep.status").strip() != "0":
            assert time.monotonic() < deadline, "its workers are still there"
        assert pgsweep("doctor", *real.flags("postgres")).code == 0
    finally:
        real.psql("postgres", "ALTER SYSTEM SET sweep.mode = act")
        real.psql("postgres", "SELECT pg_reload_conf()")


@pytest.mark.parametrize("command", ["status", "progress", "runs", "status --databases"])
def test_not_loaded(pgsweep: Pgsweep, unloaded: ThrowawayServer, command: str) -> None:
    result = pgsweep(*command.split(), *unloaded.flags("postgres"))
    assert result.code == 2
    assert result.out == ""
    assert 'pg_sweep must be loaded via "shared_preload_libraries"' in result.err
    assert "hint: " in result.err
    assert result.err.count("\n") == 1


def test_doctor_when_not_loaded(pgsweep: Pgsweep, unloaded: ThrowawayServer) -> None:
    result = pgsweep("doctor", *unloaded.flags("postgres"))
    assert result.code == 2
    assert "FAIL library    pg_sweep is not in shared_preload_libraries" in result.out
    assert "shared_preload_libraries = 'pg_sweep'" in result.out
    assert "Install" not in result.out


def test_standby(pgsweep: Pgsweep, real: ThrowawayServer) -> None:
    hba = real.folder / "data" / "pg_hba.conf"
    hba.write_text("local replication all trust\n" + hba.read_text())
    real.psql("postgres", "SELECT pg_reload_conf()")
    data, port = str(real.folder / "standby"), str(free_port())
    real.run(["pg_basebackup", "-D", data, "-R", "-c", "fast", *real.flags("postgres")[:-2]])
    real.start(["postgres", "-D", data, "-c", f"port={port}"], log="standby.log")
    flags = ("-h", str(real.folder), "-p", port, "-U", "postgres", "-d", "postgres")
    deadline = time.monotonic() + PATIENCE_S
    while (result := pgsweep("status", *flags)).code == 2:
        assert time.monotonic() < deadline, result.err
        time.sleep(0.1)
    assert result.code == 0, result.out
    assert "standby" in result.out
    doctor = pgsweep("doctor", *flags)
    assert doctor.code == 0, doctor.out
    assert pgsweep("progress", "--json", *flags).json() == []


def test_the_last_hour_and_day_are_of_all_runs(pgsweep: Pgsweep) -> None:
    """Check it also where sweep.runs has room for a hundred runs only."""
    settings = {**SETTINGS, "sweep.mode": "observe", "sweep.max_runs": "100"}
    with ThrowawayServer(default_pg_config(), settings) as server:
        server.psql("postgres", "CREATE EXTENSION pg_sweep")
        write(server, "postgres", "CREATE TABLE hot AS SELECT generate_series(1, 1000) AS i")
        write(server, "postgres", "CREATE TABLE rare AS SELECT generate_series(1, 1000) AS i")
        server.psql("postgres", "VACUUM rare")
        where = f"host={server.folder} port={server.port} user=postgres dbname=postgres"
        with psycopg.connect(where, autocommit=True) as conn:
            for _ in range(400):
                conn.execute("VACUUM hot")
        flags = server.flags("postgres")
        hour = pgsweep("status", "--json", *flags).json()["last_hour"]
        assert hour["runs"] >= 401
        found = pgsweep("report", "--markdown", *flags)
        assert found.code == 0, found.err
        counted = dict(
            line.strip("| ").split(" | ")[:2]
            for line in found.out.splitlines()
            if line.startswith("| postgres.")
        )
        assert (counted["postgres.hot"], counted["postgres.rare"]) == ("400", "1")
        assert "; counted by the hour, from " in found.out
