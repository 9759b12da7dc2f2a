"""The commands that act, on a server with the extension."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import psycopg
import pytest

from conftest import Pgsweep, Result, needs_extension, write
from pgsweep.output.terminal import question
from pgsweep_bench.servers.server import ThrowawayServer, default_pg_config

pytestmark = [pytest.mark.server, needs_extension]

PATIENCE_S = 30.0
HOSTILE = 'we\'ird; "" $(x)\t%s'
# as psql and our commands take it
QUOTED = f'"{HOSTILE}"'
SETTINGS = {
    "shared_preload_libraries": "pg_sweep",
    "sweep.mode": "act",
    "autovacuum_naptime": "1h",
}


@pytest.fixture(scope="module")
def real() -> Iterator[ThrowawayServer]:
    with ThrowawayServer(default_pg_config(), SETTINGS) as server:
        server.psql("postgres", "CREATE EXTENSION pg_sweep")
        write(server, "postgres", "CREATE TABLE t AS SELECT generate_series(1, 1000) AS i")
        write(server, "postgres", f"CREATE TABLE {QUOTED} (i integer)")
        write(server, "postgres", "CREATE TABLE p (i integer) PARTITION BY LIST (i)")
        server.psql(
            "postgres",
            "CREATE TABLE slow WITH (autovacuum_enabled = off) AS "
            "SELECT generate_series(1, 50000) AS i",
        )
        server.psql("postgres", "CREATE ROLE watcher LOGIN IN ROLE pg_monitor")
        server.psql("postgres", "CREATE ROLE on_call LOGIN IN ROLE pg_monitor")
        server.psql("postgres", "GRANT EXECUTE ON FUNCTION sweep.snooze TO on_call")
        # The launcher needs a moment for its first round.
        deadline = time.monotonic() + PATIENCE_S
        while server.psql("postgres", "SELECT rounds > 0 FROM sweep.status").strip() != "t":
            assert time.monotonic() < deadline
        yield server


@pytest.fixture
def flags(real: ThrowawayServer) -> tuple[str, ...]:
    return real.flags("postgres")


def refused(result: Result, *fragments: str) -> None:
    assert (result.code, result.out) == (2, ""), result
    for fragment in fragments:
        assert fragment in result.err


def asked(real: ThrowawayServer, statement: str) -> str:
    return real.psql("postgres", statement).strip()


def test_hold_and_unhold(pgsweep: Pgsweep, real: ThrowawayServer, flags: tuple[str, ...]) -> None:
    held = pgsweep("hold", "2 h", *flags)
    assert held.code == 0, held.err
    assert "begins no new vacuum in any database until" in held.out
    assert asked(real, "SELECT held_until > now() + '110 min' FROM sweep.status") == "t"
    try:
        # A request waits for the end of the hold, so its place can be seen.
        wanted = pgsweep("vacuum", QUOTED, *flags)
        assert wanted.code == 0, wanted.err
        assert "in the queue, waiting for hold until" in wanted.out
        rows = pgsweep("queue", "--json", *flags).json()
        assert [row["relname"] for row in rows if row["request_id"]] == [HOSTILE.replace('""', '"')]
        shown = pgsweep("queue", *flags).out
        assert "we'ird" in shown
        # others may be due meanwhile
        assert re.search(r"of \d+ tables? shown", shown)
    finally:
        over = pgsweep("hold", "0", *flags)
    assert over.code == 0
    assert "undo    pgsweep hold '7" in over.out
    assert asked(real, "SELECT held_until IS NULL FROM sweep.status") == "t"
    assert pgsweep("hold", "0", *flags).out == "there was no hold, and there is none\n"
    refused(pgsweep("hold", "soon", *flags), "invalid input syntax for type interval", "30min")
    refused(pgsweep("hold", "1 year", *flags))


def test_vacuum(pgsweep: Pgsweep, flags: tuple[str, ...]) -> None:
    document = pgsweep("vacuum", "t", "--json", *flags).json()
    assert document["relname"] == "t"
    assert document["request_id"] > 0
    deadline = time.monotonic() + PATIENCE_S
    while not [
        run
        for run in pgsweep("runs", "--json", "--table", "public.t", *flags).json()
        if run["reason"] == "requested by postgres"
    ]:
        assert time.monotonic() < deadline
    nothing = pgsweep("vacuum", "t", "--aux", *flags)
    assert nothing.code == 1
    assert '"t" has no auxiliary tables' in nothing.out
    refused(pgsweep("vacuum", "no_such_table", *flags), "there is no table")


def test_snooze(pgsweep: Pgsweep, real: ThrowawayServer, flags: tuple[str, ...]) -> None:
    first = pgsweep("snooze", QUOTED, "1 h", "--json", *flags)
    assert first.json()["snoozed_until"] is not None
    again = pgsweep("snooze", QUOTED, "2 h", *flags)
    assert "it was snoozed until" in again.out
    rows = pgsweep("queue", "--decisions", "--decision", "snoozed", "--json", *flags).json()
    assert [row["relname"] for row in rows] == [HOSTILE.replace('""', '"')]
    assert pgsweep("queue", "--decisions", "-t", QUOTED, *flags).out.count("snoozed") == 1
    assert pgsweep("queue", "--decisions", "--database", "nowhere", *flags).out == "no decisions\n"
    assert "is not snoozed any more" in pgsweep("snooze", QUOTED, "0", *flags).out
    assert asked(real, "SELECT count(*) FROM sweep.decisions WHERE decision = 'snoozed'") == "0"


def test_set(pgsweep: Pgsweep, real: ThrowawayServer, flags: tuple[str, ...]) -> None:
    assert pgsweep("set", *flags).out == "no table has a setting of its own\n"
    done = pgsweep("set", QUOTED, "min_interval=5s", "insert_threshold=-1", *flags)
    assert done.code == 0, done.err
    assert "is 5s now, it was the server's" in done.out
    document = pgsweep("set", QUOTED, "--reset", "min_interval", "--json", *flags).json()
    assert document["before"] == {"min_interval": "5s", "insert_threshold": "-1"}
    assert document["settings"] == {"insert_threshold": "-1"}
    # Where one is refused none is set.
    refused(
        pgsweep("set", QUOTED, "min_interval=7s", "nonsense=1", *flags),
        'a table has no setting "nonsense"',
        "There are: min_interval",
    )
    rows = pgsweep("set", QUOTED, "--json", *flags).json()
    assert [(row["name"], row["value"]) for row in rows] == [("insert_threshold", "-1")]
    assert "insert_threshold" in pgsweep("set", *flags).out
    pgsweep("set", QUOTED, "--reset", "insert_threshold", *flags)
    assert asked(real, "SELECT count(*) FROM sweep.table_settings") == "0"
    refused(pgsweep("set", "p", "cleaner=off", *flags), "is a partitioned table", "partitions")
    refused(pgsweep("set", "t", "cleaner", *flags), '"cleaner" is no setting', "NAME=VALUE")


def test_what_a_role_lacks_is_named(pgsweep: Pgsweep, real: ThrowawayServer) -> None:
    flags = (*real.flags("postgres"), "-U", "watcher")
    refused(
        pgsweep("hold", *flags),
        "permission denied for function hold",
        'GRANT EXECUTE ON FUNCTION sweep.hold(interval) TO "watcher"',
    )
    assert pgsweep("queue", *flags).code == 0
    assert pgsweep("queue", "--decisions", *flags).code == 0
    assert pgsweep("set", *flags).code == 0
    on_call = (*real.flags("postgres"), "-U", "on_call")
    refused(
        pgsweep("snooze", "t", "1 h", *on_call),
        "permission denied for table t",
        "Only a role that may VACUUM the table can do that.",
    )


def test_the_extension_is_wanted(pgsweep: Pgsweep, real: ThrowawayServer) -> None:
    flags = real.flags("template1")
    for command in (
        ("hold",),
        ("hold", "0"),
        ("queue",),
        ("queue", "--decisions"),
        ("vacuum", "pg_class"),
    ):
        refused(pgsweep(*command, *flags), "is not installed", "CREATE EXTENSION pg_sweep")


def test_observe_vacuums_nothing(pgsweep: Pgsweep, real: ThrowawayServer) -> None:
    flags = real.flags("postgres")
    real.psql("postgres", "ALTER SYSTEM SET sweep.mode = observe")
    real.psql("postgres", "SELECT pg_reload_conf()")
    try:
        deadline = time.monotonic() + PATIENCE_S
        while (result := pgsweep("vacuum", "t", *flags)).code == 0:
            assert time.monotonic() < deadline
        refused(result, "vacuums nothing here now", "sweep.mode", "Or run VACUUM.")
    finally:
        real.psql("postgres", "ALTER SYSTEM RESET sweep.mode")
        real.psql("postgres", "ALTER SYSTEM SET sweep.mode = act")
        real.psql("postgres", "SELECT pg_reload_conf()")


def test_cancel(
    pgsweep: Pgsweep,
    real: ThrowawayServer,
    flags: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refused(pgsweep("cancel", "1", "--yes", *flags), "process 1 is not running a vacuum")
    refused(pgsweep("cancel", "1", *flags), "there is no terminal", "Add --yes.")
    where = f"host={real.folder} port={real.port} user=postgres dbname=postgres"
    with psycopg.connect(where, autocommit=True) as vacuum:
        # A nap of 0.1 s for each of 222 pages takes longer than all of this test.
        vacuum.execute("SET vacuum_cost_delay = 100")
        vacuum.execute("SET vacuum_cost_limit = 1")
        pid = str(vacuum.info.backend_pid)
        vacuum.pgconn.send_query(b"VACUUM slow")
        deadline = time.monotonic() + PATIENCE_S
        while "slow" not in pgsweep("progress", *flags).out:
            assert time.monotonic() < deadline
        monkeypatch.setattr(question, "require_answer", lambda *_: None)
        monkeypatch.setattr(question, "confirmed", lambda _: False)
        no = pgsweep("cancel", pid, *flags)
        assert (no.code, no.out) == (1, "")
        assert f"vacuum of postgres.slow, process {pid}, started by manual" in no.err
        assert "not cancelled" in no.err
        monkeypatch.setattr(question, "confirmed", lambda _: True)
        done = pgsweep("cancel", pid, *flags)
        assert done.code == 0, done.err
        assert f"cancel sent to process {pid}, which vacuums postgres.slow" in done.out
        assert "undo    pgsweep vacuum slow" in done.out
        answer = vacuum.pgconn.get_result()
        assert answer is not None
        assert b"canceling statement due to user request" in answer.error_message
        assert vacuum.pgconn.get_result() is None
