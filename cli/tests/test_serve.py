"""How `serve` shares, keeps and gives up readings, and what it says of itself. No server."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

import samples
from conftest import Pgsweep
from pgsweep.base import errors, extras
from pgsweep.output.prometheus.reader import Reader
from pgsweep.output.prometheus.reading import Outcome
from pgsweep.output.web import app, server
from pgsweep.output.web.collector import Collector
from pgsweep.source import db
from serving import Serving, value

PATIENCE_S = 30.0


class FakeSession:
    """A session that can only be closed."""

    closed = False

    def is_lost(self) -> bool:
        return False

    def close(self) -> None:
        self.closed = True


class FakeReader:
    """Reads what it is told to, when it is let."""

    def __init__(self) -> None:
        self.reads = 0
        self.may_read = threading.Event()
        self.may_read.set()
        self.failures: list[Exception] = []
        self.outcome = Outcome(samples.reading(), parts={"status": None})

    def read(self, _session: object) -> Outcome:
        self.reads += 1
        assert self.may_read.wait(PATIENCE_S)
        if self.failures:
            raise self.failures.pop(0)
        return self.outcome


class Bench:
    """A collector with nothing real around it."""

    def __init__(self, max_age_s: float = 0.0, connected: bool = True) -> None:
        self.reader = FakeReader()
        self.opened: list[FakeSession] = []
        self.refused: list[Exception] = []
        session = FakeSession() if connected else None
        self.collector = Collector(
            self.open, cast("Reader", self.reader), max_age_s, cast("Any", session)
        )

    def open(self) -> db.Session:
        if self.refused:
            raise self.refused.pop(0)
        self.opened.append(FakeSession())
        return cast("db.Session", self.opened[-1])

    def run(self, test: Callable[[Collector], Awaitable[None]]) -> None:
        async def life() -> None:
            try:
                await test(self.collector)
            finally:
                self.reader.may_read.set()
                await self.collector.stop(PATIENCE_S)

        asyncio.run(life())


async def until(happened: Callable[[], bool]) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + PATIENCE_S
    while not happened():
        assert loop.time() < deadline
        await asyncio.sleep(0.01)


def test_scrapes_at_the_same_time_share_a_reading() -> None:
    bench = Bench()

    async def test(collector: Collector) -> None:
        bench.reader.may_read.clear()
        scrapes = [asyncio.create_task(collector.outcome(PATIENCE_S)) for _ in range(50)]
        await until(lambda: bench.reader.reads == 1)
        bench.reader.may_read.set()
        outcomes = await asyncio.gather(*scrapes)
        assert {id(outcome) for outcome in outcomes} == {id(outcomes[0])}

    bench.run(test)
    assert bench.reader.reads == 1
    assert (bench.collector.health.scrapes, bench.collector.health.readings) == (50, 1)


def test_a_young_reading_serves_again() -> None:
    bench = Bench(max_age_s=3600)

    async def test(collector: Collector) -> None:
        for _ in range(3):
            assert (await collector.outcome(PATIENCE_S)).reading is not None

    bench.run(test)
    assert bench.reader.reads == 1


def test_an_old_reading_does_not() -> None:
    bench = Bench(max_age_s=0)

    async def test(collector: Collector) -> None:
        for _ in range(3):
            await collector.outcome(PATIENCE_S)

    bench.run(test)
    assert bench.reader.reads == 3


def test_a_scrape_does_not_wait_longer_than_it_said() -> None:
    bench = Bench()

    async def test(collector: Collector) -> None:
        bench.reader.may_read.clear()
        slow = await collector.outcome(0.05)
        assert slow.reading is None
        assert slow.error == "the server did not answer within 0.05 s"
        assert not collector.health.up
        assert collector.health.timeouts == 1
        # The next one waits for the same reading, and gets it.
        again = asyncio.create_task(collector.outcome(PATIENCE_S))
        await asyncio.sleep(0)
        bench.reader.may_read.set()
        assert (await again).reading is not None
        assert collector.health.up

    bench.run(test)
    assert bench.reader.reads == 1


def test_a_lost_connection_is_made_again_within_the_scrape() -> None:
    bench = Bench()
    bench.reader.failures = [errors.ConnectionLostError("terminated by administrator command")]

    async def test(collector: Collector) -> None:
        assert (await collector.outcome(PATIENCE_S)).reading is not None

    bench.run(test)
    assert len(bench.opened) == 1
    assert bench.collector.health.failures == 0


def test_a_server_that_is_not_there_is_tried_at_every_scrape() -> None:
    bench = Bench(connected=False)
    bench.refused = [errors.CannotConnectError("refused"), errors.CannotConnectError("refused")]

    async def test(collector: Collector) -> None:
        for is_up in (False, False, True):
            outcome = await collector.outcome(PATIENCE_S)
            assert (outcome.reading is not None) is is_up
            assert collector.health.up is is_up

    bench.run(test)
    assert bench.collector.health.failures == 2
    assert len(bench.opened) == 1


def test_a_part_that_fails_is_counted_and_the_session_made_anew() -> None:
    bench = Bench()
    good, bad = bench.reader.outcome, Outcome(samples.reading(), parts={"status": "no such view"})

    async def test(collector: Collector) -> None:
        for outcome in (bad, bad, good):
            bench.reader.outcome = outcome
            assert (await collector.outcome(PATIENCE_S)).reading is not None

    bench.run(test)
    health = bench.collector.health
    assert health.up
    assert health.parts == {"status": True}
    assert health.part_failures == {"status": 2}
    assert [session.closed for session in bench.opened] == [True, True]


def test_a_bug_is_no_end() -> None:
    bench = Bench()
    bench.reader.failures = [ZeroDivisionError("division by zero")]

    async def test(collector: Collector) -> None:
        assert (await collector.outcome(PATIENCE_S)).error == "ZeroDivisionError: division by zero"
        assert (await collector.outcome(PATIENCE_S)).reading is not None

    bench.run(test)


# -- how long, and where ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "seconds"),
    [(None, 5), ("10", 5), ("3", 2.5), ("0.1", 0.1), ("", 5), ("soon", 5), ("-7", 0.1)],
)
def test_prometheus_says_how_long_it_waits(header: str | None, seconds: float) -> None:
    assert app.patience(header, 5.0) == seconds


@pytest.mark.parametrize("header", ["nan", "inf", "-inf"])
def test_no_header_makes_a_scrape_wait_for_ever(header: str) -> None:
    assert 0.1 <= app.patience(header, 5.0) <= 5.0


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:9188", "127.0.0.1", 9188),
        ("[::1]:80", "::1", 80),
        (":9188", "", 9188),
        ("db1:0", "db1", 0),
    ],
)
def test_addresses(text: str, host: str, port: int) -> None:
    found = server.parse(text)
    assert (found.host, found.port) == (host, port)


@pytest.mark.parametrize("text", ["9188", "::1:80", "host:", "host:http", "host:70000", "host:-1"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(errors.UsageError, match="is no address to listen on"):
        server.parse(text)


def test_a_name_of_several_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    places = [
        # 2001:db8::1 is nobody's.
        (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("2001:db8::1", 0, 0, 0)),
        (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", 0, 0, 0)),
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0)),
    ]
    with monkeypatch.context() as patched:
        patched.setattr(socket, "getaddrinfo", lambda *_, **__: places)
        bound = server.bind(server.Listen("localhost", 0))
    try:
        ports = {one.getsockname()[1] for one in bound}
        assert len(ports) == 1
        socket.create_connection(("127.0.0.1", *ports), 10).close()
        # There is no ::1 where IPv6 is switched off.
        if len(bound) > 1:
            socket.create_connection(("::1", *ports), 10).close()
        # None of them is left to itself when one is taken.
        patched.setattr(socket, "getaddrinfo", lambda *_, **__: places)
        with pytest.raises(errors.ServerError, match="could not listen on localhost"):
            server.bind(server.Listen("localhost", *ports))
    finally:
        patched.undo()
        for one in bound:
            one.close()


def test_an_address_that_is_taken(pgsweep: Pgsweep) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        said = pgsweep("serve", "--listen", address)
    assert said.code == 2
    assert f"could not listen on {address}" in said.err
    assert "--listen" in said.err


def test_a_wrong_level_of_the_log(pgsweep: Pgsweep) -> None:
    said = pgsweep("serve", "--log-level", "loud")
    assert said.code == 2
    assert "Write one of debug, info" in said.err


def test_what_is_not_installed_is_said(pgsweep: Pgsweep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "SERVE", ("no_such_package",))
    said = pgsweep("serve")
    assert said.code == 2
    assert "pip install 'pgsweep[serve]'" in said.err


# -- the process -----------------------------------------------------------------------------------


def test_without_a_server_it_answers_and_ends(tmp_path: Any) -> None:
    with Serving("-h", str(tmp_path), "-d", "password=secret", "--max-age", "0") as serving:
        found = serving.scrape()
        assert value(found, "pgsweep_up") == 0
        assert value(found, "pgsweep_readings") == 1
        assert value(found, "process_resident_memory_bytes") or 0 > 0
        serving.event("cannot read", part="server")
        assert serving.get("/nothing")[0] == 404
        assert serving.get("/metrics?a=b")[0] == 200
        value_of = value(serving.scrape(), "pgsweep_reading_failures")
        assert value_of == 3
        assert serving.end() == 0
        serving.event("ended")
    # What fails is said once, and without the password.
    assert [line["event"] for line in serving.log] == ["listening", "cannot read", "ended"]
    assert "secret" not in str(serving.log)
