"""`pgsweep tune` on a real server, with tables as small as can be."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import psycopg
import pytest

from conftest import STUB, Pgsweep, Result
from pgsweep import model
from pgsweep.base import errors
from pgsweep.output.terminal import question
from pgsweep.source import db
from pgsweep.tune import change, experiment, kept, measure, plan, scratch as databases, settings
from pgsweep.tune.lab import pagecache
from pgsweep.tune.lab.progress import Reporter
from pgsweep_bench.servers.server import ThrowawayServer, default_pg_config

pytestmark = pytest.mark.server

PATIENCE_S = 30.0
ASKED = ("--reclaim-rate", "5000")
TINY = ("--experiment", "--scale", "0.02", "--repeats", "1", "--limits", "1000,20", *ASKED)
PAST = ("--from-history", *ASKED)
# There are more than twenty vacuums that took 8 s and slept for 6.6 s, at 6 credits a row.
RUNS = """
    UPDATE sweep.runs SET tuples_removed = 100000, cost = 600000, cost_limit = 200,
        cost_delay = 2, delay_time = 6600, started_at = ended_at - interval '8 s'
"""


@pytest.fixture(scope="module")
def server() -> Iterator[ThrowawayServer]:
    """A server with a past in schema sweep, and roles that may do this or that."""
    with ThrowawayServer(default_pg_config(), {"autovacuum_vacuum_cost_limit": "1234"}) as found:
        found.psql("postgres", "CREATE DATABASE past")
        found.psql("past", STUB + RUNS)
        for role in ("nobody_special", "maker CREATEDB", "operator IN ROLE pg_monitor"):
            name, _, rest = role.partition(" ")
            found.psql("postgres", f"CREATE ROLE {name} LOGIN {rest}")
        yield found


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "pgsweep"


def as_role(flags: tuple[str, ...], role: str) -> tuple[str, ...]:
    return (*flags, "-U", role)


def auto_conf(server: ThrowawayServer) -> list[str]:
    """Return the lines but for ALTER SYSTEM's own warning not to edit the file."""
    text = (server.folder / "data" / "postgresql.auto.conf").read_text()
    return sorted(line for line in text.splitlines() if not line.startswith("#"))


def shown(server: ThrowawayServer, name: str) -> str:
    return server.psql("postgres", f"SHOW {name}").strip()


def scratch(server: ThrowawayServer) -> str:
    query = "SELECT string_agg(datname, ' ') FROM pg_database WHERE datname LIKE 'pgsweep%'"
    return server.psql("postgres", query).strip()


def last(result: Result) -> str:
    return result.err.splitlines()[-1]


# -- the experiment -----------------------------------------------------------


def test_experiment(pgsweep: Pgsweep, server: ThrowawayServer) -> None:
    before = auto_conf(server)
    where = server.flags("postgres")
    shares = ("--device", "100%", "--cpu", "100%")
    # This limit is so slow that naps are most of the time.
    limits = ("--limits", "1000,5")
    result = pgsweep("tune", *TINY, *limits, *shares, "--json", *where)
    assert result.code in (0, 1), result.err
    found = result.json()
    assert [point["limit"] for point in found["points"]] == [1000, 5]
    fast, slow = found["points"]
    dead = plan.LEAST_ROWS_PER_TABLE // 5 * 6
    assert fast["rows"] == slow["rows"] == dead
    assert fast["rows_per_s"] > slow["rows_per_s"] > 0
    # Nothing was in shared buffers, and nothing was dirty there.
    assert fast["read_mb_per_s"] > 0
    assert fast["write_mb_per_s"] > 0
    assert 0 < fast["cpu_percent"] <= 110
    assert 1 < found["cost_per_row"] < 20
    assert found["verification"]["point"]["limit"] == found["recommendation"]["limit"]
    assert found["verification"]["point"]["rows"] == dead
    assert set(found["settings"]) == {settings.LIMIT, settings.DELAY}
    assert any("from /proc/PID/" in note for note in found["notes"])
    if pagecache.can_forget() and os.access(server.folder / "data" / "base", os.R_OK):
        assert not any("cache was warm" in note for note in found["notes"])
    assert scratch(server) == ""
    assert auto_conf(server) == before


def test_experiment_by_an_ordinary_role(pgsweep: Pgsweep, server: ThrowawayServer) -> None:
    result = pgsweep("tune", *TINY, "--device", "20%", *as_role(server.flags("postgres"), "maker"))
    assert result.code in (0, 1), result.err
    joined = " ".join(result.out.split())
    assert "does not tell this role its data_directory (pg_read_all_settings)" in joined
    assert "but the system's cache was warm, because its files are out of reach" in joined
    assert "--device 20% could not be checked" in joined
    assert scratch(server) == ""


def test_experiment_without_the_right(pgsweep: Pgsweep, server: ThrowawayServer) -> None:
    result = pgsweep("tune", *TINY, *as_role(server.flags("postgres"), "nobody_special"))
    assert result.code == 2
    assert 'role "nobody_special" may not create a scratch database' in last(result)
    assert 'ALTER ROLE "nobody_special" CREATEDB' in last(result)


@pytest.mark.parametrize("name", [databases.FILLED, databases.COPY])
def test_somebodys_database_is_left_alone(
    pgsweep: Pgsweep, server: ThrowawayServer, name: str
) -> None:
    server.psql("postgres", f"CREATE DATABASE {name}")
    try:
        result = pgsweep("tune", *TINY, *server.flags("postgres"))
        assert result.code == 2
        assert f'database "{name}" exists on that server; hint: ' in last(result)
        assert scratch(server) == name
    finally:
        server.psql("postgres", f"DROP DATABASE {name}")


def test_what_was_measured_outlives_a_database_that_cannot_be_dropped(
    pgsweep: Pgsweep, server: ThrowawayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = measure.run

    def run(*given: Any) -> Any:
        found = done(*given)
        server.psql("postgres", f"ALTER DATABASE {databases.FILLED} IS_TEMPLATE true")
        return found

    monkeypatch.setattr(measure, "run", run)
    monkeypatch.setattr(databases, "PATIENCE_S", 0.5)
    try:
        result = pgsweep("tune", *TINY, *server.flags("postgres"))
        assert f'database "{databases.FILLED}" could not be dropped: cannot drop' in result.err
        assert f"Run DROP DATABASE IF EXISTS {databases.FILLED}" in result.err
        assert "autovacuum_vacuum_cost_limit = " in result.out
        assert result.code in (0, 1)
        assert scratch(server) == databases.FILLED
    finally:
        server.psql("postgres", f"ALTER DATABASE {databases.FILLED} IS_TEMPLATE false")
        server.psql("postgres", f"DROP DATABASE {databases.FILLED}")


def test_more_than_the_disk_has(pgsweep: Pgsweep, server: ThrowawayServer) -> None:
    result = pgsweep("tune", *TINY, "--scale", "10000000", *server.flags("postgres"))
    assert result.code == 2
    assert "are free; hint: Use a smaller --scale" in last(result)
    assert scratch(server) == ""


SAID = """finished vacuuming "{copy}.public.table1": index scans: 0
pages: 0 removed, 20 remain, 20 scanned (100.00% of total)
tuples: 0 removed, 1200 remain, 200 are dead but not yet removable
"""


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (SAID.format(copy=databases.COPY), "something holds the horizon"),
        ("Vakuum fertig", "did not say what it did"),
    ],
)
def test_vacuum_that_says_something_else(said: str, message: str) -> None:
    """A standby's feedback holds the horizon in every database, also in a scratch one."""

    class Session:
        notices: ClassVar[list[str]] = []

        def run(self, _statement: str) -> None:
            self.notices.append(said)

    with pytest.raises(errors.QueryError, match=message) as caught:
        experiment.vacuum(Session(), "table1", Reporter(1))  # type: ignore[arg-type]
    assert caught.value.hint


@pytest.mark.parametrize(
    ("said", "number"),
    [("filling:", signal.SIGINT), ("limit 2", signal.SIGTERM), ("limit 1,", signal.SIGINT)],
)
def test_interrupted(server: ThrowawayServer, said: str, number: signal.Signals) -> None:
    # At limit 1 and 2 a run takes minutes.
    slow = ("--experiment", "--scale", "0.1", "--limits", "2,1", *ASKED, "--repeats", "1")
    process = subprocess.Popen(
        [sys.executable, "-m", "pgsweep", "tune", *slow, *server.flags("postgres")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if said == "limit 1,":
        # This is in the middle of the vacuums of the first run, and not at its beginning.
        said = "limit 2"
        query = (
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'VacuumDelay' "
            f"AND datname = '{databases.COPY}'"
        )
    else:
        query = ""
    assert process.stderr is not None
    for line in process.stderr:
        if said in line:
            break
    deadline = time.monotonic() + PATIENCE_S
    while query and server.psql("postgres", query).strip() == "0":
        assert time.monotonic() < deadline, "no vacuum was seen"
        time.sleep(0.05)
    os.kill(process.pid, number)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 128 + number, err
    assert "interrupted, the scratch databases are dropped" in err
    assert scratch(server) == ""


# -- the past -----------------------------------------------------------------


def test_history(pgsweep: Pgsweep, server: ThrowawayServer) -> None:
    result = pgsweep("tune", *PAST, "--cpu", "20%", *server.flags("past"))
    assert result.code == 0, result.err
    joined = " ".join(result.out.split())
    assert "vacuums in sweep.runs that removed" in joined
    assert "--cpu 20% could not be checked: it was not measured" in joined
    assert "autovacuum_vacuum_cost_limit = " in joined
    assert max(len(line) for line in result.out.splitlines()) <= 80


def test_history_without_the_extension(pgsweep: Pgsweep, server: ThrowawayServer) -> None:
    result = pgsweep("tune", *PAST, *server.flags("postgres"))
    assert result.code == 2
    assert 'extension "pg_sweep" is not installed' in last(result)


def test_history_that_is_too_short(pgsweep: Pgsweep, server: ThrowawayServer) -> None:
    server.psql("postgres", "CREATE DATABASE young")
    server.psql("young", STUB + "DELETE FROM sweep.runs WHERE run_id > 5")
    result = pgsweep("tune", *PAST, *server.flags("young"))
    assert result.code == 2
    assert "sweep.runs has too little to go by: 3 vacuums" in last(result)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("postgresql.conf", "autovacuum_vacuum_cost_delay = '2ms'"),
        ("patroni", "    autovacuum_vacuum_cost_delay: '2ms'"),
        ("sql", "ALTER SYSTEM SET autovacuum_vacuum_cost_delay = '2ms';"),
    ],
)
def test_formats(pgsweep: Pgsweep, server: ThrowawayServer, name: str, line: str) -> None:
    result = pgsweep("tune", *PAST, "--format", name, *server.flags("past"))
    assert result.code == 0, result.err
    assert line in result.out.splitlines()
    assert "LIMIT" not in result.out
    if name == "sql":
        server.psql("postgres", "SELECT 1")
        for statement in result.out.splitlines():
            if statement.startswith("ALTER"):
                server.psql("postgres", statement)
        server.psql("postgres", f"ALTER SYSTEM RESET {settings.DELAY}")
        server.psql("postgres", f"ALTER SYSTEM SET {settings.LIMIT} = '1234'")


# -- applying -----------------------------------------------------------------


def until(server: ThrowawayServer, name: str, value: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while shown(server, name) != value:
        assert time.monotonic() < deadline, f"{name} is {shown(server, name)}, not {value}"
        time.sleep(0.05)


def test_apply_and_undo(pgsweep: Pgsweep, server: ThrowawayServer, state: Path) -> None:
    where = server.flags("past")
    server.psql("postgres", f"ALTER SYSTEM SET {settings.DELAY} = '3ms'")
    server.psql("postgres", "SELECT pg_reload_conf()")
    until(server, settings.DELAY, "3ms")
    before = auto_conf(server)

    result = pgsweep("tune", *PAST, "--apply", "--yes", *where)
    assert result.code == 0, result.err
    assert "1 setting to change:" in result.err
    assert f"{settings.LIMIT}: 1234 (configuration file) → " in result.err
    first = shown(server, settings.LIMIT)
    assert first != "1234"
    (file,) = state.iterdir()
    assert str(file) in result.err

    # Applying the same again changes nothing. Another value keeps what was there first.
    result = pgsweep("tune", *PAST, "--apply", "--yes", *where)
    assert "nothing to apply" in result.err
    result = pgsweep("tune", "--from-history", "--reclaim-rate", "4000", "--apply", "--yes", *where)
    assert result.code == 0, result.err
    assert shown(server, settings.LIMIT) != first

    result = pgsweep("tune", "--undo", "--yes", *where)
    assert result.code == 0, result.err
    assert "pgsweep: restored" in result.err
    until(server, settings.LIMIT, "1234")
    assert auto_conf(server) == before
    assert list(state.iterdir()) == []
    result = pgsweep("tune", "--undo", "--yes", *where)
    assert result.code == 2
    assert "there is nothing to undo" in last(result)
    server.psql("postgres", f"ALTER SYSTEM RESET {settings.DELAY}")


def test_what_was_not_set_is_reset(state: Path) -> None:
    """The same for a setting of a library's, whose name is two words.

    15 hides settings of no library.
    """
    library = {"shared_preload_libraries": "plpgsql"}
    with ThrowawayServer(default_pg_config(), library) as server:
        before = auto_conf(server)
        name = "plpgsql.variable_conflict"
        with db.connect(server.target("postgres")) as session:
            identifier = change.require_possible(session, [name, settings.LIMIT])
            for values in (("use_column", "40"), ("use_variable", "50")):
                wanted = [
                    settings.Setting(name, values[0]),
                    settings.Setting(settings.LIMIT, values[1]),
                ]
                change.apply(session, identifier, change.planned(session, wanted))
                # The command waits until the server goes by the new value.
                now = session.current([name, settings.LIMIT])
                assert (now[name].shown, now[settings.LIMIT].shown) == values
            names, found = change.to_undo(session, identifier)
            assert set(names) == {name, settings.LIMIT}
            assert [each.to for each in found] == [None, None]
            change.undo(session, identifier, found)
        assert auto_conf(server) == before
    assert list(state.iterdir()) == []


def test_budget_where_the_server_knows_it(
    pgsweep: Pgsweep, server: ThrowawayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        db.Session, "settings_known", lambda _self, names: frozenset(settings.BUDGET) & {*names}
    )
    where = server.flags("past")
    result = pgsweep("tune", *PAST, "--cpu", "20%", "--format", "postgresql.conf", *where)
    assert result.code == 0, result.err
    assert "sweep.reclaim_rate = 5000" in result.out.splitlines()
    assert "sweep.cpu_limit = 20" in result.out.splitlines()
    assert "sweep.write_limit = 0." in result.out
    assert settings.LIMIT not in result.out
    result = pgsweep("tune", *PAST, "--for", "core", "--format", "postgresql.conf", *where)
    assert "sweep.write_limit" not in result.out
    assert f"{settings.LIMIT} = " in result.out
    # The server does not really have these settings.
    result = pgsweep("tune", *PAST, "--apply", "--yes", *where)
    assert result.code == 2


def test_somebody_has_changed_it_since(pgsweep: Pgsweep, server: ThrowawayServer) -> None:
    where = server.flags("past")
    assert pgsweep("tune", *PAST, "--apply", "--yes", *where).code == 0
    server.psql("postgres", f"ALTER SYSTEM SET {settings.LIMIT} = 77")
    result = pgsweep("tune", "--undo", "--yes", *where)
    assert result.code == 2
    assert "changed since: pgsweep had set" in result.err
    assert "somebody has changed it since" in last(result)
    assert f"{settings.LIMIT} = '77'" in auto_conf(server)
    server.psql("postgres", f"ALTER SYSTEM SET {settings.LIMIT} = '1234'")
    server.psql("postgres", "SELECT pg_reload_conf()")
    until(server, settings.LIMIT, "1234")
    result = pgsweep("tune", "--undo", "--yes", *where)
    assert result.code == 0, result.err
    assert "all is as it was" in last(result)


@pytest.mark.parametrize(("words", "code"), [("y\n", 0), ("n\n", 0), ("", 0)])
def test_question(
    pgsweep: Pgsweep,
    server: ThrowawayServer,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    code: int,
) -> None:
    monkeypatch.setattr(question, "confirmed", lambda _: words == "y\n")
    monkeypatch.setattr(question, "require_answer", lambda *_: None)
    where = server.flags("past")
    before = auto_conf(server)
    result = pgsweep("tune", *PAST, "--apply", *where)
    assert result.code == code, result.err
    assert ("pgsweep: not applied" in result.err) == (words != "y\n")
    assert (auto_conf(server) == before) == (words != "y\n")
    if words == "y\n":
        assert pgsweep("tune", "--undo", *where).code == 0
        assert auto_conf(server) == before


def test_without_a_terminal_it_does_not_ask(pgsweep: Pgsweep, server: ThrowawayServer) -> None:
    result = pgsweep("tune", *PAST, "--apply", *server.flags("past"))
    assert result.code == 2
    assert "there is no terminal; hint: Add --yes." in last(result)


def test_what_cannot_be_had_is_not_applied_without_a_question(
    pgsweep: Pgsweep, server: ThrowawayServer
) -> None:
    before = auto_conf(server)
    where = server.flags("past")
    result = pgsweep(
        *("tune", "--from-history", "--reclaim-rate", "1e12", "--apply", "--yes", *where)
    )
    assert result.code == 2
    assert "not applied: what was asked cannot all be had" in last(result)
    assert auto_conf(server) == before


def test_apply_without_the_right(pgsweep: Pgsweep, server: ThrowawayServer) -> None:
    server.psql("past", "GRANT USAGE ON SCHEMA sweep TO operator")
    server.psql("past", "GRANT SELECT ON ALL TABLES IN SCHEMA sweep TO operator")
    where = as_role(server.flags("past"), "operator")
    result = pgsweep("tune", *PAST, "--apply", "--yes", *where)
    assert result.code == 2
    assert f"may not ALTER SYSTEM SET {settings.LIMIT}, {settings.DELAY}" in last(result)


@contextmanager
def patroni_session(server: ThrowawayServer) -> Iterator[None]:
    where = f"host={server.folder} port={server.port} user=postgres dbname=postgres"
    with psycopg.connect(where, application_name="Patroni heartbeat"):
        yield
    left = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'Patroni heartbeat'"
    deadline = time.monotonic() + PATIENCE_S
    while server.psql("postgres", left).strip() != "0":
        assert time.monotonic() < deadline, "its session is still there"
        time.sleep(0.05)


@contextmanager
def patroni_file(server: ThrowawayServer) -> Iterator[None]:
    path = server.folder / "data" / "patroni.dynamic.json"
    path.write_text("{}")
    try:
        yield
    finally:
        path.unlink()


@pytest.mark.parametrize(
    ("managed", "sign"),
    [
        (patroni_session, "it has a session here"),
        (patroni_file, "patroni.dynamic.json is in the data directory"),
    ],
)
def test_patroni(pgsweep: Pgsweep, server: ThrowawayServer, managed: Any, sign: str) -> None:
    before = auto_conf(server)
    with managed(server):
        result = pgsweep("tune", *PAST, "--apply", "--yes", *server.flags("past"))
    assert result.code == 2
    assert f"this server is managed by Patroni ({sign})" in last(result)
    assert "patronictl edit-config" in last(result)
    assert auto_conf(server) == before


BY_PATRONI = (
    *("cluster_name=demo", "wal_level=replica", "hot_standby=on", "max_connections=20"),
    *("max_locks_per_transaction=64", "max_prepared_transactions=0"),
)


class ByPatroni(ThrowawayServer):
    """A server started as Patroni does it, with its own files."""

    def start(
        self, command: Sequence[str], log: str, wait: bool = False
    ) -> subprocess.Popen[bytes]:
        if command[0] == "postgres":
            conf = self.folder / "data" / "postgresql.conf"
            self.write("data/postgresql.base.conf", "work_mem = '5MB'\n")
            conf.write_text("include 'postgresql.base.conf'\n" + conf.read_text())
            command = [*command, *(f"--{each}" for each in BY_PATRONI)]
        return super().start(command, log, wait)


def test_patroni_without_a_session() -> None:
    with (
        ByPatroni(default_pg_config(), {}) as server,
        db.connect(server.target("postgres")) as session,
    ):
        server.psql("postgres", "CREATE ROLE nobody_special LOGIN")
        assert session.tune_facts().patroni == (
            "settings come from its files",
            "its settings are on the server's command line",
            "postgresql.base.conf is in the data directory",
        )
        # Somebody who may not look into files still sees the command line.
        with db.connect(replace(server.target("postgres"), user="nobody_special")) as other:
            assert other.tune_facts().patroni == ("its settings are on the server's command line",)


class Facts:
    """A session of a server of which only this is known."""

    def __init__(self, **given: Any) -> None:
        base = {"role": "me", "allow_alter_system": "on", "may_reload": True}
        base |= {"may_read_files": True, "system_identifier": "77"}
        self.tune_facts = lambda: model.TuneFacts(**{**base, **given})
        self.may_alter = frozenset


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"allow_alter_system": "off"}, "allow_alter_system is off"),
        ({"patroni": ("it has a session here",)}, "managed by Patroni"),
        ({"may_reload": False}, "lacks EXECUTE on pg_reload_conf()"),
        ({"may_read_files": False}, "lacks SELECT on pg_file_settings"),
        ({"system_identifier": None}, "may not read the server's identifier"),
    ],
)
def test_refused_before_anything_is_measured(given: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.PgsweepError) as caught:
        change.require_possible(Facts(**given), ["a"])  # type: ignore[arg-type]
    assert message in caught.value.message
    assert caught.value.hint


def test_allow_alter_system(pgsweep: Pgsweep, server: ThrowawayServer) -> None:
    if int(shown(server, "server_version_num")) < 170000:
        pytest.skip("NOT TESTED: allow_alter_system is of PostgreSQL 17")
    conf = server.folder / "data" / "postgresql.conf"
    text = conf.read_text()
    conf.write_text(text + "allow_alter_system = off\n")
    server.psql("postgres", "SELECT pg_reload_conf()")
    try:
        until(server, "allow_alter_system", "off")
        result = pgsweep("tune", *PAST, "--apply", "--yes", *server.flags("past"))
        assert result.code == 2
        assert "allow_alter_system is off on this server" in last(result)
    finally:
        conf.write_text(text)
        server.psql("postgres", "SELECT pg_reload_conf()")


def test_half_an_apply_is_taken_back(server: ThrowawayServer) -> None:
    before = auto_conf(server)
    with db.connect(server.target("past")) as session:
        identifier = change.require_possible(session, ())
        wanted = (settings.Setting(settings.LIMIT, "99"), settings.Setting(settings.DELAY, "x"))
        with pytest.raises(errors.QueryError, match="invalid value"):
            change.apply(session, identifier, change.planned(session, wanted))
        assert kept.load(identifier) == {}
    assert auto_conf(server) == before


def test_what_is_written_otherwise_is_taken_back(server: ThrowawayServer) -> None:
    """A list that is given as one word is one element, say a library of that name."""
    before = auto_conf(server)
    with db.connect(server.target("past")) as session:
        for name in ("shared_preload_libraries", "search_path", "temp_tablespaces"):
            values = {settings.LIMIT: "99", name: "one, two"}
            were = {one.name: one.auto for one in session.current(list(values)).values()}
            with pytest.raises(errors.QueryError, match=f"has written {name} as"):
                change.alter(session, values, were)
            assert auto_conf(server) == before


def test_a_session_that_is_lost_takes_back_what_it_did(
    server: ThrowawayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = auto_conf(server)
    with db.connect(server.target("past")) as session:
        alter_system = db.Session.alter_system

        def lost(self: db.Session, name: str, value: str | None) -> None:
            if name == settings.DELAY and self is session:
                server.psql("postgres", f"SELECT pg_terminate_backend({self.pid}, 60000)")
            alter_system(self, name, value)

        monkeypatch.setattr(db.Session, "alter_system", lost)
        values = {settings.LIMIT: "99", settings.DELAY: "1"}
        were = {one.name: one.auto for one in session.current(list(values)).values()}
        with pytest.raises(errors.ConnectionLostError):
            change.alter(session, values, were)
    assert auto_conf(server) == before


# -- usage --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (ASKED, "name one of --experiment and --from-history"),
        (("--experiment", *PAST), "name one of --experiment and --from-history"),
        (("--experiment",), "--reclaim-rate is missing"),
        (("--experiment", "--reclaim-rate", "0"), "must be greater than zero"),
        (("--experiment", "--reclaim-rate=-5"), "must be greater than zero"),
        ((*PAST, "--device", "20"), '--device "20" has no % sign'),
        ((*PAST, "--cpu=-20%"), "--cpu must be above 0%"),
        ((*PAST, "--limits", "35"), "no line goes through it"),
        ((*PAST, "--json", "--format", "sql"), "--json and --format are two outputs"),
        ((*PAST, "--yes"), "--yes answers the question"),
        ((*PAST, "--for", "pg_sweep"), "does not know sweep.write_limit"),
        (("--undo", "--json"), "--undo goes with no other option"),
    ],
)
def test_wrong_usage(
    pgsweep: Pgsweep, server: ThrowawayServer, arguments: tuple[str, ...], message: str
) -> None:
    result = pgsweep("tune", *arguments, *server.flags("past"))
    assert result.code == 2
    assert message in last(result)
    assert "hint: " in last(result)
    assert scratch(server) == ""
