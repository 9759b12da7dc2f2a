"""What `top` does with questions and errors. No server."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import pytest

import samples
from conftest import until
from pgsweep.base import errors
from pgsweep.model import Progress, Snapshot
from pgsweep.output.top import fetcher
from pgsweep.output.top.fetcher import Fetcher
from pgsweep.output.top.state import Question, Verb

ROW = samples.progress()
LOST = errors.ConnectionLostError("the server went away")


class FakeSession:
    """Runs one vacuum, and fails as it is told."""

    def __init__(self) -> None:
        self.running: tuple[Progress, ...] = (ROW,)
        self.failures: list[errors.PgsweepError] = []
        self.cancelled: list[int] = []
        self.looked_up = 0
        self.lost = False
        self.closed = False

    def progress(self) -> tuple[Progress, ...]:
        return self.running

    def cancel(self, pid: int) -> tuple[bool, str]:
        self.cancelled.append(pid)
        return True, ""

    def views(self, again: bool = False) -> None:
        self.looked_up += again

    def is_lost(self) -> bool:
        return self.lost

    def close(self) -> None:
        self.closed = True


class FakeWatcher:
    """Reads what the session says."""

    def snapshot(self, session: FakeSession) -> Snapshot:
        if session.failures:
            raise session.failures.pop(0)
        return samples.snapshot(progress=session.running)


class Bench:
    """A fetcher with nothing real around it."""

    def __init__(self) -> None:
        self.session = FakeSession()
        self.refused: list[errors.PgsweepError] = []
        # What is asked for while it connects.
        self.meanwhile: list[Question] = []
        self.said: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.troubles: list[str] = []
        self.snapshots: list[Snapshot] = []
        self.fetcher = Fetcher(
            self.connect,
            cast("Any", self.session),
            0.01,
            self.snapshots.append,
            self.troubles.append,
            self.said.put,
            lambda _: None,
        )

    def connect(self) -> Any:
        for question in self.meanwhile:
            self.fetcher.act(question)
        self.meanwhile.clear()
        if self.refused:
            raise self.refused.pop(0)
        self.session = FakeSession()
        return self.session


@pytest.fixture(autouse=True)
def _fake_watcher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetcher, "Watcher", FakeWatcher)
    monkeypatch.setattr(fetcher, "RETRY_S", 0.01)


@contextmanager
def working(bench: Bench) -> Iterator[None]:
    bench.fetcher.start()
    try:
        yield
    finally:
        bench.fetcher.stop()
        bench.fetcher.join(60)


def answer(bench: Bench) -> str:
    return bench.said.get(timeout=60)


def test_what_was_asked_is_done() -> None:
    bench = Bench()
    with working(bench):
        bench.fetcher.act(Question(Verb.CANCEL, ROW))
        assert answer(bench) == "cancel sent to process 100"
    assert bench.session.cancelled == [100]


@pytest.mark.parametrize(
    ("running", "said"),
    [
        ((replace(ROW, relid=16402),), "has begun another vacuum meanwhile"),
        ((replace(ROW, started_at=samples.NOW),), "has begun another vacuum meanwhile"),
        ((), "is not running a vacuum any more"),
    ],
)
def test_another_vacuum_of_the_process_is_left_alone(
    running: tuple[Progress, ...], said: str
) -> None:
    bench = Bench()
    bench.session.running = running
    with working(bench):
        bench.fetcher.act(Question(Verb.CANCEL, ROW))
        assert said in answer(bench)
    assert bench.session.cancelled == []


def test_what_was_asked_while_the_connection_was_lost_is_not_done_later() -> None:
    bench = Bench()
    lost = bench.session
    lost.failures.append(LOST)
    bench.refused.append(errors.CannotConnectError("no"))
    bench.meanwhile.append(Question(Verb.CANCEL, ROW))
    with working(bench):
        assert answer(bench).startswith("nothing was done")
        until(lambda: bench.snapshots)
        assert bench.session is not lost
        # It connects at once this time.
        bench.meanwhile.append(Question(Verb.CANCEL, ROW))
        bench.session.failures.append(LOST)
        assert answer(bench).startswith("nothing was done")
        before = len(bench.snapshots)
        until(lambda: len(bench.snapshots) > before + 2)
    assert lost.closed
    assert bench.session.cancelled == []


def test_a_session_that_the_server_has_ended_is_made_anew_first() -> None:
    bench = Bench()
    first = bench.session
    first.lost = True
    bench.fetcher.act(Question(Verb.CANCEL, ROW))
    with working(bench):
        assert answer(bench) == "cancel sent to process 100"
    assert first.closed
    assert first.cancelled == []
    assert bench.session.cancelled == [100]


def test_what_cannot_begin_soon_is_not_done_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetcher, "PATIENCE_S", -1.0)
    bench = Bench()
    with working(bench):
        bench.fetcher.act(Question(Verb.CANCEL, ROW))
        assert answer(bench).startswith("nothing was done")
    assert bench.session.cancelled == []


def test_an_error_does_not_end_the_session() -> None:
    """Slow and hurry last as long as it does."""
    bench = Bench()
    first = bench.session
    first.failures += [errors.QueryError("statement timeout"), errors.ExtensionMissingError("x")]
    with working(bench):
        until(lambda: bench.snapshots)
        assert not first.closed
        assert bench.session is first
        assert len(bench.troubles) == 2
        # Which views there are may have changed.
        assert first.looked_up == 2
