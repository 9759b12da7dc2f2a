"""`pgsweep serve` on a real server: with the extension and without it, over a restart."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from conftest import needs_extension, until, write
from pgsweep.base import errors
from pgsweep.fleet import core_reader, due, reader as fleet_reader
from pgsweep.model import ToFreeze
from pgsweep.output.prometheus.reader import Reader, failed
from pgsweep.source import db
from pgsweep_bench.servers.server import SUPERUSER, ThrowawayServer, default_pg_config
from serving import Serving, value

pytestmark = [pytest.mark.server, needs_extension]

PATIENCE_S = 60.0
SETTINGS = {
    "shared_preload_libraries": "pg_sweep",
    "sweep.mode": "observe",
    "autovacuum_naptime": "1h",
    "max_prepared_transactions": "2",
}
# A table can be called so, and must not become a metric.
HOSTILE = 'x"} 1 \\ \n pgsweep_up 0'


@pytest.fixture(scope="module")
def real() -> Iterator[ThrowawayServer]:
    """A server with pg_sweep in one database, and another database without it."""
    with ThrowawayServer(default_pg_config(), SETTINGS) as server:
        server.psql("postgres", "CREATE EXTENSION pg_sweep")
        server.psql("postgres", "CREATE ROLE watcher LOGIN IN ROLE pg_monitor")
        server.psql("postgres", "CREATE ROLE nobody_special LOGIN")
        server.psql("postgres", "CREATE DATABASE bare")
        for dbname in ("postgres", "bare"):
            quoted = HOSTILE.replace('"', '""')
            write(server, dbname, f'CREATE TABLE "{quoted}" AS SELECT generate_series(1, 500) AS i')
            write(server, dbname, f'DELETE FROM "{quoted}"')
        yield server


def flags(server: ThrowawayServer, dbname: str, user: str = "watcher") -> tuple[str, ...]:
    return (*server.flags(dbname), "-U", user)


@pytest.fixture(scope="module")
def serving(real: ThrowawayServer) -> Iterator[Serving]:
    with Serving(*flags(real, "postgres"), "--max-age", "0") as process:
        yield process


def connected(server: ThrowawayServer, dbname: str = "postgres") -> psycopg.Connection[Any]:
    where = {"host": str(server.folder), "port": server.port, "user": SUPERUSER}
    return psycopg.connect(dbname=dbname, autocommit=True, **where)  # type: ignore[arg-type]


def test_it_reads_everything_with_pg_monitor_alone(serving: Serving) -> None:
    found = serving.scrape()
    assert value(found, "pgsweep_up") == 1
    assert value(found, "pgsweep_extension") == 1
    parts = {sample.labels["part"]: sample.value for sample in found["pgsweep_part_up"].samples}
    assert len(parts) == 16
    assert set(parts.values()) == {1}
    assert value(found, "pgsweep_mode", mode="observe") == 1
    assert value(found, "pgsweep_table_dead_tuples", relname=HOSTILE) == 500
    assert value(found, "pgsweep_tables_to_freeze", datname="postgres") is not None
    assert (value(found, "pgsweep_server_start_timestamp_seconds") or 0) > 1e9


def test_a_finished_vacuum_is_counted(real: ThrowawayServer, serving: Serving) -> None:
    manual = {"started_by": "manual", "command": "vacuum"}
    before = value(serving.scrape(), "pgsweep_runs", **manual) or 0
    real.psql("postgres", "CREATE TABLE counted AS SELECT 1 AS i")
    real.psql("postgres", "VACUUM counted")
    assert value(serving.scrape(), "pgsweep_runs", **manual) == before + 1


def test_a_held_horizon_is_seen_and_goes(real: ThrowawayServer, serving: Serving) -> None:
    kind = {"kind": "prepared transaction"}
    assert value(serving.scrape(), "pgsweep_horizon_holders", **kind) == 0
    real.psql("postgres", "BEGIN; SELECT txid_current(); PREPARE TRANSACTION 'lunch'")
    try:
        for _ in range(5):
            real.psql("postgres", "SELECT txid_current()")
        found = serving.scrape()
        assert value(found, "pgsweep_horizon_holders", **kind) == 1
        assert (value(found, "pgsweep_horizon_holder_age_xids", **kind) or 0) >= 5
        until(lambda: (value(serving.scrape(), "pgsweep_horizon_age_xids") or 0) >= 5)
        assert (value(serving.scrape(), "pgsweep_horizon_holder_seconds", **kind) or 0) > 0
    finally:
        real.psql("postgres", "ROLLBACK PREPARED 'lunch'")
    assert value(serving.scrape(), "pgsweep_horizon_holders", **kind) == 0


def slow_vacuum(server: ThrowawayServer, dbname: str) -> psycopg.Connection[Any]:
    """Return a session in which a vacuum runs that takes long."""
    write(
        server, dbname, "CREATE TABLE IF NOT EXISTS slow AS SELECT generate_series(1, 50000) AS i"
    )
    conn = connected(server, dbname)
    conn.execute("SET vacuum_cost_delay = 100; SET vacuum_cost_limit = 1")
    conn.pgconn.send_query(b"VACUUM slow")
    return conn


@pytest.mark.parametrize("dbname", ["postgres", "bare"])
def test_a_running_vacuum(real: ThrowawayServer, dbname: str) -> None:
    vacuum = {"relname": "slow", "command": "VACUUM", "started_by": "manual", "datname": dbname}
    with Serving(*flags(real, dbname), "--max-age", "0") as process:
        conn = slow_vacuum(real, dbname)
        try:
            running = until(
                lambda: (
                    (found := process.scrape())
                    and value(found, "pgsweep_vacuum_phase", phase="scanning heap", **vacuum)
                    and found
                )
            )
            assert value(running, "pgsweep_vacuums", started_by="manual") == 1
            # In its first moment it is 0.
            until(lambda: value(process.scrape(), "pgsweep_vacuum_running_seconds", **vacuum))
            if dbname == "postgres":
                until(
                    lambda: value(
                        process.scrape(), "pgsweep_vacuum_limited_by", limited_by="cost limit"
                    )
                )
        finally:
            conn.cancel()
            conn.close()
        until(lambda: value(process.scrape(), "pgsweep_vacuums", started_by="manual") == 0)


def test_without_the_extension(real: ThrowawayServer) -> None:
    with Serving(*flags(real, "bare"), "--max-age", "0") as process:
        found = process.scrape()
    assert value(found, "pgsweep_up") == 1
    assert value(found, "pgsweep_extension") == 0
    assert value(found, "pgsweep_table_dead_tuples", relname=HOSTILE) == 500
    # It never was analyzed, so that no more than the base threshold is allowed.
    assert value(found, "pgsweep_table_vacuum_threshold_tuples", relname=HOSTILE) == 50
    assert (value(found, "pgsweep_tables_over_threshold", datname="bare") or 0) >= 1
    assert (value(found, "pgsweep_wraparound_left_ids", ids="xid") or 0) > 2_000_000_000
    assert (value(found, "pgsweep_database_xid_age", datname="bare") or 0) > 0
    for name in ("pgsweep_mode", "pgsweep_runs", "pgsweep_budget_binding", "pgsweep_queue_tables"):
        assert name not in found


def test_a_role_that_is_not_in_pg_monitor(real: ThrowawayServer) -> None:
    with Serving(*flags(real, "postgres", "nobody_special"), "--max-age", "0") as process:
        found = process.scrape()
        assert value(found, "pgsweep_up") == 1
        assert value(found, "pgsweep_sees_everything") == 0
        assert value(found, "pgsweep_part_up", part="ages") == 1
        assert value(found, "pgsweep_part_up", part="extension") == 0
        assert "pgsweep_mode" not in found
        assert "pg_monitor" in str(process.event("cannot read", part="extension")["error"])


def test_the_extension_comes_and_goes(real: ThrowawayServer) -> None:
    real.psql("postgres", "CREATE DATABASE changing")
    extension = "pgsweep_extension"
    with Serving(*flags(real, "changing"), "--max-age", "0") as process:
        assert value(process.scrape(), extension) == 0
        real.psql("changing", "CREATE EXTENSION pg_sweep")
        found = process.scrape()
        assert value(found, extension) == 1
        assert value(found, "pgsweep_mode", mode="observe") == 1
        real.psql("changing", "DROP EXTENSION pg_sweep")
        found = process.scrape()
        assert value(found, extension) == 0
        assert "pgsweep_tables_to_freeze" not in found
        assert {sample.value for sample in found["pgsweep_part_up"].samples} == {1}
    real.psql("postgres", "DROP DATABASE changing")


def test_thresholds_follow_storage_parameters(real: ThrowawayServer) -> None:
    write(
        real,
        "bare",
        "CREATE TABLE own (i int) WITH (autovacuum_vacuum_threshold = 7, fillfactor = 50, "
        "autovacuum_vacuum_scale_factor = 0.5, autovacuum_freeze_min_age = 5); "
        "INSERT INTO own SELECT generate_series(1, 100); ANALYZE own; "
        "DELETE FROM own WHERE i <= 50",
    )
    session, _ = db.connect_or_later(
        db.Target(host=str(real.folder), port=str(real.port), user="watcher", dbname="bare")
    )
    assert session is not None
    with session:
        rows = {row.relname: row for row in session.dead_tuples(1000)}
        assert rows["own"].vacuum_threshold == 7 + 0.5 * 100
        assert rows["own"].dead_tuples == 50
        assert rows["own"].due == 0
        # The row without a name makes up for those that are not named.
        (named, rest) = session.dead_tuples(1)
        assert rest.relname is None
        assert named.dead_tuples + rest.dead_tuples == sum(row.dead_tuples for row in rows.values())


@pytest.mark.parametrize("most_rows", [due.MOST_ROWS, 0])
def test_fleet_counts_the_same_tables_as_due(
    real: ThrowawayServer, monkeypatch: pytest.MonkeyPatch, most_rows: int
) -> None:
    monkeypatch.setattr(core_reader, "MOST_ROWS", most_rows)
    write(
        real,
        "bare",
        "DROP TABLE IF EXISTS early, late, never; "
        "CREATE TABLE early (i int) WITH (autovacuum_vacuum_threshold = 20, "
        "autovacuum_vacuum_scale_factor = 0.001); "
        "CREATE TABLE late (LIKE early) WITH (fillfactor = 90, autovacuum_vacuum_threshold = 1e6); "
        # Neither the table nor its TOAST table is vacuumed.
        "CREATE TABLE never (i int, t text) WITH (autovacuum_enabled = off); "
        "ALTER TABLE never ALTER t SET STORAGE EXTERNAL; "
        "INSERT INTO early SELECT generate_series(1, 100); ANALYZE early; DELETE FROM early; "
        "INSERT INTO late SELECT generate_series(1, 100); ANALYZE late; DELETE FROM late; "
        "INSERT INTO never SELECT i, repeat('x', 3000) FROM generate_series(1, 100) AS i; "
        "ANALYZE never; DELETE FROM never",
    )
    target = db.Target(host=str(real.folder), port=str(real.port), user="watcher", dbname="bare")
    with db.connect(target) as session:

        def due() -> set[str | None] | None:
            rows = session.dead_tuples(1000)
            (counted,) = session.dicts("fleet_due")
            seen = fleet_reader.read(session).due
            if not counted["due"] == seen == sum(row.due for row in rows):
                # Statistics can come between the two. Then it is asked again.
                return None
            return {row.relname for row in rows if row.due} & {"early", "late", "never", toast}

        where = "SELECT reltoastrelid::regclass::text FROM pg_class WHERE relname = 'never'"
        toast = real.psql("bare", where).strip().partition(".")[2]
        until(lambda: {"never", toast} <= {row.relname for row in session.dead_tuples(1000)})

        until(lambda: due() == {"early"})
        if session.version_num < 180000:
            return
        real.psql("postgres", "ALTER SYSTEM SET autovacuum_vacuum_max_threshold = 10")
        try:
            real.psql("postgres", "SELECT pg_reload_conf()")
            until(lambda: due() == {"early", "late"})
            # -1 is a largest threshold of its own: none.
            real.psql("bare", "ALTER TABLE late SET (autovacuum_vacuum_max_threshold = -1)")
            until(lambda: due() == {"early"})
        finally:
            real.psql("postgres", "ALTER SYSTEM RESET autovacuum_vacuum_max_threshold")
            real.psql("postgres", "SELECT pg_reload_conf()")


def test_what_is_dear_is_not_read_each_time(real: ThrowawayServer) -> None:
    now = [1000.0]
    reader = Reader(20, monotonic=lambda: now[0])
    session, _ = db.connect_or_later(
        db.Target(host=str(real.folder), port=str(real.port), user="watcher", dbname="bare")
    )
    assert session is not None
    with session:

        def looked_at() -> Any:
            outcome = reader.read(session)
            assert not failed(outcome)
            assert outcome.reading is not None
            return outcome.reading.dead_tuples_at

        first = looked_at()
        assert looked_at() == first
        now[0] += 121
        assert looked_at() > first


def test_what_is_frozen_within_days_is_read_more_rarely(
    real: ThrowawayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    asked: list[float] = []

    def to_freeze(_session: db.Session) -> ToFreeze:
        asked.append(now[0])
        if len(asked) == 1:
            raise errors.DatabaseError("canceling statement due to statement timeout")
        return ToFreeze(tables=1, pages=2)

    monkeypatch.setattr(db.Session, "to_freeze", to_freeze)
    reader = Reader(20, monotonic=lambda: now[0])
    session, _ = db.connect_or_later(
        db.Target(host=str(real.folder), port=str(real.port), user="watcher", dbname="postgres")
    )
    assert session is not None
    with session:
        for now[0] in (1000.0, 1301.0, 1602.0, 3102.0):
            outcome = reader.read(session)
            assert ("to_freeze" in failed(outcome)) == (now[0] == 1000.0)
    # What failed is tried again with the next look.
    assert asked == [1000.0, 1301.0, 3102.0]


def test_a_server_that_hangs_holds_up_nobody(real: ThrowawayServer) -> None:
    asked = "SELECT pid FROM pg_stat_activity WHERE application_name = 'pgsweep' AND datname = "
    with Serving(*flags(real, "bare"), "--max-age", "0", "--timeout", "0.5") as process:
        assert value(process.scrape(), "pgsweep_up") == 1
        pids = [int(pid) for pid in real.psql("postgres", f"{asked} 'bare'").split()]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            found = process.scrape()
            assert value(found, "pgsweep_up") == 0
            assert value(found, "pgsweep_scrape_timeouts") == 1
            assert process.end() == 0
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)


def test_a_restart_of_the_server(real: ThrowawayServer) -> None:
    manual = {"started_by": "manual", "command": "vacuum"}
    with Serving(*flags(real, "postgres"), "--max-age", "0", "--timeout", "60") as process:
        real.psql("postgres", "CREATE TABLE kept AS SELECT 1 AS i")
        real.psql("postgres", "VACUUM kept")
        before = process.scrape()
        counted = value(before, "pgsweep_runs", **manual)
        assert counted
        real.stop()
        down = process.scrape()
        assert value(down, "pgsweep_up") == 0
        assert "pgsweep_runs" not in down
        process.event("cannot read", part="server")
        real.start_again()
        after = until(lambda: value(found := process.scrape(), "pgsweep_mode_as_set") and found)
        process.event("reads again", part="server")
        until(lambda: value(process.scrape(), "pgsweep_runs", **manual) == counted)
        assert value(after, "pgsweep_up") == 1
    # Another serve begins where the first was.
    with Serving(*flags(real, "postgres")) as process:
        assert value(process.scrape(), "pgsweep_runs", **manual) == counted
