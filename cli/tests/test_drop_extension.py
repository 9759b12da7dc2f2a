"""Watching pg_sweep never makes DROP EXTENSION lose a deadlock."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

import psycopg
import pytest

from conftest import needs_extension
from pgsweep.base import errors
from pgsweep.findings.watcher import Watcher
from pgsweep.source import db
from pgsweep_bench.servers.server import SUPERUSER, ThrowawayServer, default_pg_config

pytestmark = [pytest.mark.server, needs_extension]

PATIENCE_S = 30.0
# DROP EXTENSION locks a view. The stand-in does that and nothing else.
LOCK = "ALTER VIEW {} SET (security_barrier = false)"
WAITING = """SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE NOT l.granted AND a.application_name = 'pgsweep'"""


@pytest.fixture(scope="module")
def server() -> Iterator[ThrowawayServer]:
    with ThrowawayServer(default_pg_config(), {"shared_preload_libraries": "pg_sweep"}) as made:
        made.psql("postgres", "CREATE EXTENSION pg_sweep")
        yield made


def connect(server: ThrowawayServer) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(
        dbname="postgres",
        host=str(server.folder),
        port=server.port,
        user=SUPERUSER,
        autocommit=True,
    )


def wait_until(there: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not there():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_reader_lets_go_before_the_deadlock_is_found(server: ThrowawayServer) -> None:
    """Somebody holds one of the views that a question needs, and wants another one."""
    answers: list[int] = []

    def ask() -> None:
        with db.connect(server.target("postgres")) as session:
            answers.append(len(session.explain(None)))

    with connect(server) as dropper, connect(server) as watcher:
        # Its own deadlock check comes before that of a reader who only waits.
        dropper.execute("SET deadlock_timeout = '900ms'")
        dropper.execute("BEGIN")
        dropper.execute(LOCK.format("sweep.runs"))
        reader = threading.Thread(target=ask)
        reader.start()
        wait_until(lambda: watcher.execute(WAITING).fetchone() == (1,))
        dropper.execute(LOCK.format("sweep.tables"))
        dropper.execute("ROLLBACK")
        reader.join(PATIENCE_S)
    assert answers, "the reader tries again, and is answered in the end"


@pytest.mark.parametrize(
    ("deadlock_timeout", "lock_timeout"),
    [("1ms", "1ms"), ("40ms", "10ms"), ("999ms", "249ms"), ("1s", "250ms"), ("2min", "250ms")],
)
def test_lock_timeout_is_shorter_than_a_short_deadlock_timeout(
    server: ThrowawayServer, deadlock_timeout: str, lock_timeout: str
) -> None:
    """It is the shortest there is until a session has to wait."""
    server.psql("postgres", f"ALTER ROLE {SUPERUSER} SET deadlock_timeout = '{deadlock_timeout}'")
    try:
        with db.connect(server.target("postgres")) as session, connect(server) as holder:
            assert session.setting("lock_timeout") == "1ms"
            holder.execute("BEGIN")
            holder.execute(LOCK.format("sweep.status"))
            with pytest.raises(errors.QueryError, match="lock timeout"):
                session.status()
            assert session.setting("lock_timeout") == lock_timeout
            holder.execute("ROLLBACK")
            assert session.status().mode is not None
    finally:
        server.psql("postgres", f"ALTER ROLE {SUPERUSER} RESET deadlock_timeout")


def test_top_is_opened_while_the_extension_is_dropped(server: ThrowawayServer) -> None:
    stopping = threading.Event()
    opened: list[int] = []

    def watch() -> None:
        while not stopping.is_set():
            # Now and then it is not there.
            with (
                contextlib.suppress(errors.DatabaseError),
                db.connect(server.target("postgres")) as session,
            ):
                session.require_extension()
                Watcher().snapshot(session)
                session.explain(None)
                opened.append(1)

    readers = [threading.Thread(target=watch) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        with connect(server) as dropper:
            for number in range(20):

                def opened_once_more(before: int = number) -> bool:
                    return len(opened) > before

                wait_until(opened_once_more)
                dropper.execute("DROP EXTENSION pg_sweep")
                dropper.execute("CREATE EXTENSION pg_sweep")
    finally:
        stopping.set()
        for reader in readers:
            reader.join(PATIENCE_S)
