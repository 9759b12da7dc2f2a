"""Names in any encoding, with control characters and markup: shown escaped, never refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from conftest import Pgsweep, needs_extension
from pgsweep.base import names
from pgsweep_bench.servers.server import ThrowawayServer, default_pg_config, extension_is_installed

HOSTILE = 'a\x1b[2J"<b>|[red]\n\u202e'


@pytest.mark.parametrize(
    ("server_encoding", "raw", "text"),
    [
        ("UTF8", "né".encode(), "né"),
        ("UTF8", b"n\xe9", r"n\xe9"),
        ("LATIN1", b"n\xe9", "né"),
        ("LATIN9", b"\xa4", "€"),
        ("WIN1252", b"\x80", "€"),
        ("KOI8R", b"\xc1", "а"),
        ("EUC_JP", b"\xa4\xa2\xff", "あ\\xff"),
        ("SQL_ASCII", b"n\xc3\xa9\xe9", r"né\xe9"),
        # Python has no codec for it
        ("MULE_INTERNAL", b"n\x81\xe9", r"n\x81\xe9"),
    ],
)
def test_bytes_become_text(server_encoding: str, raw: bytes, text: str) -> None:
    assert names.readable(raw, names.codec(server_encoding)) == text


def test_what_an_encoding_lacks_is_no_error() -> None:
    assert names.sendable("né", names.codec("LATIN1")) == b"n\xe9"
    assert names.sendable("€", names.codec("LATIN1")) == rb"\u20ac"


def execute(server: ThrowawayServer, dbname: str, *statements: bytes) -> None:
    """Run statements whose bytes no encoding is applied to."""
    with psycopg.connect(
        host=str(server.folder),
        port=server.port,
        user="postgres",
        dbname=dbname,
        client_encoding="SQL_ASCII",
        autocommit=True,
    ) as conn:
        for statement in statements:
            conn.execute(statement)


@pytest.fixture(scope="module")
def babel() -> Iterator[ThrowawayServer]:
    """A server whose databases speak three encodings, and with names that are invalid in them."""
    settings = {"max_prepared_transactions": "5", "autovacuum_naptime": "1h"}
    loaded = extension_is_installed(default_pg_config())
    if loaded:
        settings["shared_preload_libraries"] = "pg_sweep"
    hostile = '"' + HOSTILE.replace('"', '""') + '"'
    with ThrowawayServer(default_pg_config(), settings) as server:
        for name, encoding in (("latin", "LATIN1"), ("ascii", "SQL_ASCII")):
            create = f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}'"
            server.psql("postgres", create)
        if loaded:
            for name in ("postgres", "latin", "ascii"):
                server.psql(name, "CREATE EXTENSION pg_sweep")
        execute(
            server,
            "ascii",
            b'CREATE DATABASE "caf\xe9"',
            b'CREATE ROLE "r\xe9mi" LOGIN SUPERUSER',
            b'CREATE TABLE "t\xe9" AS SELECT generate_series(1, 1000) AS i',
            b'DELETE FROM "t\xe9"',
            b'VACUUM "t\xe9"',
            f"CREATE TABLE {hostile.encode('ascii', 'ignore').decode()} (i int)".encode(),
        )
        execute(
            server,
            "latin",
            b'CREATE TABLE "t\xe9" AS SELECT generate_series(1, 1000) AS i',
            b'DELETE FROM "t\xe9"',
            b'VACUUM "t\xe9"',
            b'CREATE TABLE "due\xe9" AS SELECT generate_series(1, 1000) AS i',
            b'DELETE FROM "due\xe9"',
            b"BEGIN",
            b'LOCK TABLE "t\xe9"',
            b"PREPARE TRANSACTION 'pr\xe9par\xe9'",
        )
        execute(
            server,
            "postgres",
            f"CREATE TABLE {hostile} AS SELECT generate_series(1, 1000) AS i".encode(),
            f"DELETE FROM {hostile}".encode(),
            f"VACUUM {hostile}".encode(),
            b"SELECT pg_stat_force_next_flush()",
            b"SELECT txid_current()",
        )
        yield server


COMMANDS = (
    ("status",),
    ("progress",),
    ("queue",),
    ("queue", "--decisions", "-n", "9999"),
    ("runs", "--audit", "-n", "500"),
    ("trial", "-n", "9999"),
    ("set",),
    ("runs",),
    ("status", "--databases"),
    ("tables", "-n", "9999"),
    ("explain",),
    ("blockers",),
    ("status", "--budget"),
    ("doctor",),
    ("check",),
)
NEED_EXTENSION = ("queue", "trial", "set", "runs")


def needs_extension_of(command: tuple[str, ...]) -> bool:
    return command[0] in NEED_EXTENSION or command in (
        ("status", "--databases"),
        ("status", "--budget"),
    )


@pytest.mark.server
@pytest.mark.parametrize("dbname", ["postgres", "latin", "ascii", "template1"])
def test_every_command(
    pgsweep: Pgsweep, babel: ThrowawayServer, dbname: str, tmp_path: Path
) -> None:
    flags = babel.flags(dbname)
    has_extension = (
        babel.psql(dbname, "SELECT count(*) FROM pg_extension WHERE extname = 'pg_sweep'") == "1\n"
    )
    for command in COMMANDS:
        if needs_extension_of(command) and not has_extension:
            continue
        text = pgsweep(*command, *flags)
        assert "error" not in text.err, (command, text.err)
        assert all(line.isprintable() for line in text.out.splitlines()), command
        assert pgsweep(*command, "--json", *flags).json() is not None
    if has_extension:
        page = tmp_path / "report.html"
        made = pgsweep("report", "-o", str(page), *flags)
        assert made.code == 0, made.err
        assert "<b>" not in page.read_text()
        assert "\x1b" not in page.read_text()


@pytest.mark.server
def test_names_are_found_and_shown(pgsweep: Pgsweep, babel: ThrowawayServer) -> None:
    found = pgsweep("explain", '"té"', "--json", *babel.flags("latin")).json()
    assert "té" in found[0]["relation"]
    assert r"t\xe9" in pgsweep("tables", "-n", "9999", *babel.flags("ascii")).out
    assert r'[2J"<b>|[red]\n\u202e ' in pgsweep("tables", "-n", "1", *babel.flags("postgres")).out
    # A terminal's encoding may lack the character.
    shell = subprocess.run(
        [sys.executable, "-m", "pgsweep", "tables", "-n", "9999", *babel.flags("latin")],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert r"t\xe9" in shell.stdout
    # What programs read is the same in every encoding.
    for encoding in ("ascii", "latin-1", "utf-8"):
        printed = subprocess.run(
            [sys.executable, "-m", "pgsweep", "explain", '"té"', "--json", *babel.flags("latin")],
            env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "1"},
            capture_output=True,
            check=True,
        )
        assert "té" in json.loads(printed.stdout.decode())[0]["relation"], encoding
    # A name that the database's encoding cannot have is not there.
    missing = pgsweep("explain", '"あ"', *babel.flags("latin"))
    assert 'there is no table ""あ""' in missing.err
    # Bytes of another role and another database are invalid in this database's encoding.
    databases = pgsweep("blockers", "--json", *babel.flags("postgres")).json()
    assert [row["name"] for row in databases if row["kind"] == "prepared transaction"]


@pytest.mark.server
@needs_extension
@pytest.mark.parametrize("dbname", ["latin", "ascii"])
def test_tables_of_any_name_can_be_acted_on(
    pgsweep: Pgsweep, babel: ThrowawayServer, dbname: str
) -> None:
    flags = babel.flags(dbname)
    # What the table is called in a terminal of UTF-8, and where its bytes are no characters.
    shown = {"latin": "té", "ascii": r"t\xe9"}[dbname]
    if dbname == "ascii":
        # Nobody can write that name.
        missing = pgsweep("snooze", f'"{shown}"', "1 h", *flags)
        assert missing.code == 2
        assert "there is no table" in missing.err
        return
    snoozed = pgsweep("snooze", f'"{shown}"', "1 h", *flags)
    assert snoozed.code == 0, snoozed.err
    assert shown in snoozed.out
    assert shown in pgsweep("queue", "--decisions", "--decision", "snoozed", *flags).out
    assert pgsweep("set", f'"{shown}"', "cleaner=off", *flags).code == 0
    assert shown in pgsweep("set", *flags).out
    assert pgsweep("set", f'"{shown}"', "--reset", "cleaner", *flags).code == 0
    assert pgsweep("snooze", f'"{shown}"', "0", *flags).code == 0
