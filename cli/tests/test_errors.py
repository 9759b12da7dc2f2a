"""Every failure is one line on stderr with what to do, and exit code 2."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Pgsweep, Result
from pgsweep.base import errors
from pgsweep.source import db
from pgsweep.tune.lab.session import LabSession
from pgsweep_bench.servers.host import ExistingHost
from pgsweep_bench.servers.server import SUPERUSER, ThrowawayServer, default_pg_config, free_port
from poolers import pooler

pytestmark = pytest.mark.server

READERS = ("status", "progress", "runs", "status --databases")
# These answer from core's views where the extension is not.
ANSWERS = ("tables", "explain", "blockers")


def refused(result: Result, *fragments: str) -> None:
    """Check the form of an error, and what it says."""
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith(("pgsweep: error: ", "pgsweep_bench: error: "))
    assert result.err.count("\n") == 1
    assert "Traceback" not in result.err
    for fragment in (*fragments, "; hint: "):
        assert fragment in result.err


# What the owner of a database may set for it, and what the queries and the driver do not go by.
OWNERS = {
    "datestyle": "German",
    "intervalstyle": "iso_8601",
    "extra_float_digits": "-15",
    "array_nulls": "off",
    "quote_all_identifiers": "on",
    "client_min_messages": "error",
    "client_encoding": "LATIN1",
    "default_transaction_isolation": "serializable",
    "default_transaction_deferrable": "on",
    "exit_on_error": "on",
    "search_path": "nowhere",
    "statement_timeout": "1ms",
}


def test_settings_of_a_database(
    stub: ThrowawayServer, flags: tuple[str, ...], pgsweep: Pgsweep
) -> None:
    for name, value in OWNERS.items():
        stub.psql("postgres", f"ALTER DATABASE stub SET {name} = '{value}'")
    # Python knows no such zone.
    stub.psql("postgres", "ALTER DATABASE stub SET timezone = '<+07>-7'")
    try:
        for command in (*READERS, *ANSWERS):
            result = pgsweep(*command.split(), *flags)
            assert (result.code in (0, 1), result.err) == (True, ""), command
        with db.connect(stub.target("stub")) as session:
            for name in OWNERS:
                assert session.setting(name).lower() != OWNERS[name].lower(), name
        # With its options emptied nothing else is between a SET of the driver's and 1 ms.
        stub.psql("postgres", "ALTER DATABASE stub RESET statement_timeout")
        with LabSession({**stub.target("stub").parameters(), "options": ""}) as lab:
            assert lab.value("SELECT '2026-11-27'::timestamptz").year == 2026
            assert lab.value("SELECT interval '1 day 2 h'").days == 1
    finally:
        stub.psql("postgres", "ALTER DATABASE stub RESET ALL")


def test_date_style_of_the_environment(
    flags: tuple[str, ...], pgsweep: Pgsweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGDATESTYLE", "SQL")
    for command in READERS:
        result = pgsweep(*command.split(), *flags)
        assert (result.code in (0, 1), result.err) == (True, ""), command


@pytest.mark.parametrize("refuses", [True, False])
def test_a_pooler_that_does_not_pass_options_on(
    stub: ThrowawayServer, flags: tuple[str, ...], pgsweep: Pgsweep, refuses: bool
) -> None:
    """PgBouncer refuses them, or drops them where it is told to."""
    stub.psql("postgres", "ALTER DATABASE stub SET datestyle = 'German'")
    stub.psql("postgres", "ALTER DATABASE stub SET search_path = 'nowhere'")
    try:
        with pooler(Path(stub.folder, f".s.PGSQL.{stub.port}"), refuses) as (port, sent):
            there = (*flags, "-h", "127.0.0.1", "-p", str(port))
            for command in (*READERS, *ANSWERS):
                result = pgsweep(*command.split(), *there)
                assert (result.code in (0, 1), result.err) == (True, ""), command
            refused(pgsweep("hold", *there), "a connection pooler is between", "-h and -p")
            # Nothing is left in the server's session for who has it next.
            assert b"SET LOCAL" in sent
            assert re.search(rb"\bSET (?!LOCAL|TRANSACTION)", sent) is None
            target = db.Target("dbname=stub sslmode=disable", "127.0.0.1", str(port), SUPERUSER)
            with db.connect(target) as session:
                assert session.setting("search_path") == "pg_catalog"
                assert session.setting("transaction_read_only") == "on"
                assert session.setting("statement_timeout") == "10s"
    finally:
        stub.psql("postgres", "ALTER DATABASE stub RESET ALL")


@pytest.mark.parametrize("command", [*READERS, *ANSWERS, "doctor"])
def test_no_server(pgsweep: Pgsweep, command: str) -> None:
    result = pgsweep(*command.split(), "-h", "127.0.0.1", "-p", str(free_port()), "-d", "x")
    refused(result, "connection to server at", "Connection refused", "-h and -p")


def test_no_socket(pgsweep: Pgsweep, tmp_path: Path) -> None:
    refused(pgsweep("status", "-h", str(tmp_path), "-d", "x"), "No such file or directory")


def test_no_such_host(pgsweep: Pgsweep) -> None:
    refused(pgsweep("status", "-h", "no.such.host.invalid", "-d", "x"), "no.such.host.invalid")


def test_bad_port(pgsweep: Pgsweep) -> None:
    refused(pgsweep("status", "-h", "127.0.0.1", "-p", "nonsense", "-d", "x"), "nonsense")


def test_bad_connection_string(pgsweep: Pgsweep) -> None:
    refused(pgsweep("status", "-d", "nonsense=1"), "connection string is not valid")


SECRETS = (
    "postgres://u:s3cr%zzet@h/db",
    "postgres://u:s3@cret@127.0.0.1:1/db",
    "postgres://u:12/s3cret@h/db",
    "postgres://u:a?s3@cret@h/db",
    "postgres://u:s3cret@[::1/db",
    "host=h password=a s3cret",
    "s3cret=h",
)


@pytest.mark.parametrize("written", SECRETS)
def test_no_error_repeats_a_password(pgsweep: Pgsweep, written: str) -> None:
    result = pgsweep("status", "-d", written)
    refused(result, "is not valid")
    assert "s3" not in result.err
    assert "cret" not in result.err
    with pytest.raises(errors.UsageError) as raised:
        ExistingHost(written, default_pg_config())
    assert "cret" not in raised.value.one_line()
    for option in ("--citus", "--map", "--patroni") if "@" in written else ():
        result = pgsweep("fleet", option, written)
        assert result.code == 2
        assert "cret" not in result.err
    result = pgsweep("fleet", "--citus", "127.0.0.1:1", "-d", written)
    refused(result, "the database of a fleet is a name")
    assert "cret" not in result.err


def test_a_connection_string_with_signs_in_its_password(pgsweep: Pgsweep) -> None:
    for written in (
        "postgres://u:s3%40cr%2Fet@127.0.0.1:1/x?application_name=a@b",
        "host=127.0.0.1 port=1 dbname=x password=postgres://u:a@b@c",
    ):
        refused(pgsweep("status", "-d", written), "Connection refused")


LONG = "a" * 64


@pytest.mark.parametrize(
    "arguments",
    [
        ("status", "-h", f"{LONG}.example", "-d", "x"),
        ("status", "-h", "a..b", "-d", "x"),
        ("fleet", "--citus", f"{LONG}.example", "-d", "x"),
        ("fleet", "--patroni", f"http://{LONG}.example:8008"),
        ("serve", "--listen", f"{LONG}:9188"),
        ("serve", "--listen", "a..b:9188"),
    ],
)
def test_what_cannot_be_the_name_of_a_host(pgsweep: Pgsweep, arguments: tuple[str, ...]) -> None:
    result = pgsweep(*arguments)
    refused(result)
    assert "error of pgsweep itself" not in result.err


def test_wrong_password(
    pgsweep: Pgsweep, stub: ThrowawayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = (*stub.flags("stub"), "-U", "with_password")
    refused(pgsweep("status", *flags), "no password supplied", "PGPASSWORD")
    monkeypatch.setenv("PGPASSWORD", "wrong")
    refused(pgsweep("status", *flags), "password authentication failed")


def test_password_is_asked_for_once(stub: ThrowawayServer) -> None:
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return "right"

    target = db.Target("stub", str(stub.folder), str(stub.port), "with_password")
    with db.connect(target, ask) as session:
        assert session.server().role == "with_password"
        # A reconnect does not ask again.
        session.again().close()
    assert asked == ["Password: "]
    with pytest.raises(errors.CannotConnectError, match="password authentication failed"):
        db.connect(target, lambda _: "wrong")


def test_no_such_database(pgsweep: Pgsweep, stub: ThrowawayServer) -> None:
    refused(pgsweep("status", *stub.flags("nowhere")), 'database "nowhere" does not exist', "-d")


def test_no_such_role(pgsweep: Pgsweep, stub: ThrowawayServer) -> None:
    result = pgsweep("status", *stub.flags("stub"), "-U", "ghost")
    refused(result, 'role "ghost" does not exist', "-U")


@pytest.mark.parametrize(
    "command",
    ["runs", "status --databases", "queue", "queue --decisions", "trial", "trial --by day", "hold"],
)
def test_extension_missing(pgsweep: Pgsweep, stub: ThrowawayServer, command: str) -> None:
    result = pgsweep(*command.split(), *stub.flags("bare"))
    refused(result, 'extension "pg_sweep" is not installed in database "bare"', "CREATE EXTENSION")


@pytest.mark.parametrize("command", READERS)
def test_library_not_loaded(pgsweep: Pgsweep, stub: ThrowawayServer, command: str) -> None:
    result = pgsweep(*command.split(), *stub.flags("unloaded"))
    refused(
        result,
        'pg_sweep must be loaded via "shared_preload_libraries"',
        "hint: Add pg_sweep to it and restart the server.",
    )


@pytest.mark.parametrize("command", READERS)
def test_sql_objects_older_than_library(
    pgsweep: Pgsweep, stub: ThrowawayServer, command: str
) -> None:
    result = pgsweep(*command.split(), *stub.flags("old"))
    refused(result, "are version 0.1.0, the library is 0.2.0", "ALTER EXTENSION pg_sweep UPDATE")


def test_sql_objects_older_than_command(pgsweep: Pgsweep, stub: ThrowawayServer) -> None:
    result = pgsweep("progress", *stub.flags("ancient"))
    refused(result, "does not fit pgsweep", "limited_by", "ALTER EXTENSION pg_sweep UPDATE")


@pytest.mark.parametrize("command", READERS)
def test_unprivileged_role(pgsweep: Pgsweep, stub: ThrowawayServer, command: str) -> None:
    result = pgsweep(*command.split(), *stub.flags("stub"), "-U", "nobody_special")
    refused(result, "permission denied for schema sweep", 'GRANT pg_monitor TO "nobody_special"')


def test_bad_interval(pgsweep: Pgsweep, flags: tuple[str, ...]) -> None:
    result = pgsweep("runs", "--since", "yesterdayish", *flags)
    assert result.code == 2
    assert 'invalid input syntax for type interval: "yesterdayish"' in result.err
    assert result.err.count("\n") == 1


def test_top_needs_a_terminal(pgsweep: Pgsweep, flags: tuple[str, ...]) -> None:
    refused(pgsweep("top", *flags), "top needs a terminal", "pgsweep progress --json")


@pytest.mark.parametrize(
    "arguments",
    [("nonsense",), ("runs", "--limit", "0"), ("runs", "--outcome", "maybe"), ("status", "--what")],
)
def test_wrong_usage(pgsweep: Pgsweep, arguments: tuple[str, ...]) -> None:
    result = pgsweep(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert "Traceback" not in result.err


# more than Python buffers, and less
@pytest.mark.parametrize("rows", ["40", "1"])
def test_a_closed_pipe_is_no_traceback(flags: tuple[str, ...], rows: str) -> None:
    command = [sys.executable, "-m", "pgsweep", "runs", "--json", "-n", rows, *flags]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, env=buffered)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    process.wait(timeout=30)
    assert said == b""


def test_a_lost_connection(stub: ThrowawayServer) -> None:
    with db.connect(stub.target("stub")) as session:
        stub.psql(
            "postgres",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'pgsweep'",
        )
        with pytest.raises(errors.ConnectionLostError):
            session.progress()
        with session.again() as fresh:
            assert len(fresh.progress()) == 6


def test_pg_config_missing(bench: Pgsweep) -> None:
    result = bench("demo", "--json", "--pg-config", "/nonexistent/pg_config")
    refused(result, 'could not run "/nonexistent/pg_config"')


def test_demo_without_the_extension(bench: Pgsweep, tmp_path: Path) -> None:
    config = tmp_path / "pg_config"
    config.write_text(f"#!/bin/sh\necho {tmp_path}\n")
    config.chmod(0o755)
    result = bench("demo", "--json", "--pg-config", str(config))
    refused(result, 'extension "pg_sweep" is not installed', "make install")
