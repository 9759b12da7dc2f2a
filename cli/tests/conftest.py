"""Servers for tests: one with a stub of schema sweep for all, made once."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import pgsweep_bench.__main__
from pgsweep import cli, model
from pgsweep_bench.servers.server import ThrowawayServer, default_pg_config, extension_is_installed

PATIENCE_S = 60.0

# What a test starts finds the experiments, too.
os.environ["PYTHONPATH"] = str(Path(__file__).parents[2] / "bench")

# The views that the stub has as plain tables, with what their rows are read into.
TABLES: dict[str, type] = {
    "progress": model.Progress,
    "runs": model.Run,
    "decisions": model.Decision,
    "audit": model.Call,
    "trial": model.TriedTable,
    "databases": model.Database,
    "tables": model.Table,
    "worth": model.Worth,
    "queue": model.Waiting,
    "budget": model.Limit,
    "governor": model.Step,
    "features": model.Feature,
}
# What a query adds to them.
NOT_IN_TABLES = {("tables", "datname"), ("worth", "datname"), ("trial", "block_size")}
TYPES = {
    "int": "bigint",
    "float": "double precision",
    "str": "text",
    "bool": "boolean",
    "datetime": "timestamptz",
    "timedelta": "interval",
}


def create_table(name: str, kind: type) -> str:
    """Return the statement that makes a table of schema sweep with the columns of a dataclass."""

    def sql_type(annotation: str) -> str:
        item = re.match(r"(?:tuple|list|Sequence)\[(\w+)", annotation)
        return f"{TYPES[item[1]]}[]" if item else TYPES[annotation.split(" | ")[0]]

    columns = ", ".join(
        f'"{field.name}" {sql_type(str(field.type))}'
        for field in dataclasses.fields(kind)
        if (name, field.name) not in NOT_IN_TABLES
    )
    return f"CREATE TABLE sweep.{name} ({columns});"


STUB = "\n".join(
    (
        "CREATE SCHEMA sweep;",
        *(create_table(name, kind) for name, kind in TABLES.items()),
        (Path(__file__).parent / "stub.sql").read_text(),
    )
)

needs_extension = pytest.mark.skipif(
    not extension_is_installed(default_pg_config()),
    reason=f"NOT TESTED: pg_sweep is not installed for {default_pg_config()}: run make install",
)


@dataclass(frozen=True)
class Result:
    """What a call of the command left behind."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Return the JSON document on stdout."""
        return json.loads(self.out)


Pgsweep = Callable[..., Result]


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the caller's PGHOST and friends, and the terminal's size, out of the tests."""
    for name in list(os.environ):
        if name.startswith("PG") and name != "PG_CONFIG":
            monkeypatch.delenv(name)
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def pgsweep(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Pgsweep:
    """Call the command as from a shell, in this process."""

    return caller(cli.main, capsys, monkeypatch)


@pytest.fixture
def bench(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Pgsweep:
    """Call the command line of the experiments, in this process."""
    return caller(pgsweep_bench.__main__.main, capsys, monkeypatch)


def caller(
    main: Callable[[], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Pgsweep:
    """Return what calls a command line in this process."""

    def call(*arguments: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["pgsweep", *arguments])
        with pytest.raises(SystemExit) as exit_info:
            main()
        captured = capsys.readouterr()
        code = exit_info.value.code
        assert isinstance(code, int)
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def stub() -> Iterator[ThrowawayServer]:
    """A server without the library. Its databases are named for what is wrong in them."""
    settings = {"allow_system_table_mods": "on", "max_connections": "20"}
    with ThrowawayServer(default_pg_config(), settings) as server:
        for name in ("stub", "bare", "old", "ancient", "unloaded"):
            server.psql("postgres", f"CREATE DATABASE {name}")
        for name in ("stub", "old", "ancient", "unloaded"):
            server.psql(name, STUB)
        server.psql("old", "UPDATE sweep.status SET library_version = '0.2.0'")
        server.psql("ancient", "ALTER TABLE sweep.progress DROP COLUMN limited_by")
        server.psql(
            "unloaded",
            """
            CREATE SCHEMA sweep_internal;
            CREATE FUNCTION sweep_internal.get_status() RETURNS SETOF sweep.status
            LANGUAGE plpgsql AS $$
            BEGIN
                RAISE 'pg_sweep must be loaded via "shared_preload_libraries"'
                USING ERRCODE = '55000', HINT = 'Add pg_sweep to it and restart the server.';
            END $$;
            ALTER TABLE sweep.status RENAME TO status_rows;
            CREATE VIEW sweep.status AS SELECT * FROM sweep_internal.get_status();
            """,
        )
        server.psql("postgres", "CREATE ROLE nobody_special LOGIN")
        server.psql("postgres", "CREATE ROLE watcher LOGIN IN ROLE pg_monitor")
        server.psql("postgres", "CREATE ROLE with_password LOGIN PASSWORD 'right'")
        hba = server.folder / "data" / "pg_hba.conf"
        hba.write_text("local all with_password scram-sha-256\n" + hba.read_text())
        server.psql("postgres", "SELECT pg_reload_conf()")
        yield server


@pytest.fixture
def flags(stub: ThrowawayServer) -> tuple[str, ...]:
    """The connection options of the stub's good database, whose last round was just now."""
    stub.psql(
        "stub",
        "UPDATE sweep.status SET last_round_at = now(); "
        "UPDATE sweep.runs SET started_at = started_at + late, ended_at = ended_at + late "
        "FROM (SELECT now() - interval '40 s' - max(ended_at) AS late FROM sweep.runs) AS newest",
    )
    return stub.flags("stub")


def write(server: ThrowawayServer, dbname: str, statement: str) -> None:
    """Run SQL and return once its counters are in the statistics."""
    server.psql(dbname, f"{statement}; SELECT pg_stat_force_next_flush()")


def until(happened: Callable[[], Any]) -> Any:
    """Wait for something and return it."""
    deadline = time.monotonic() + PATIENCE_S
    while not (found := happened()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
    return found
