"""How pages share what is read, and what holds up whom. No server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pgsweep.base import errors
from pgsweep.output.web import desk
from pgsweep.output.web.desk import BusyError, Desk

PATIENCE_S = 30.0


class FakeSession:
    """A session that can be lost."""

    def __init__(self) -> None:
        self.lost = self.closed = False

    def is_lost(self) -> bool:
        return self.lost

    def views(self, again: bool = False) -> None:
        assert again

    def close(self) -> None:
        self.closed = True


class Bench:
    """A desk with nothing real around it."""

    def __init__(self) -> None:
        self.opened: list[FakeSession] = []
        self.desk = Desk(self.open)
        self.may_read = threading.Event()

    def open(self) -> Any:
        self.opened.append(FakeSession())
        return self.opened[-1]

    def slow(self, _: object) -> str:
        assert self.may_read.wait(PATIENCE_S)
        return "slow"

    def run(self, test: Callable[[Desk], Awaitable[None]]) -> None:
        async def life() -> None:
            try:
                await test(self.desk)
            finally:
                self.may_read.set()
                await self.desk.stop(PATIENCE_S)

        asyncio.run(life())
        assert all(session.closed for session in self.opened)


def quick(_: object) -> str:
    return "quick"


def test_one_slow_page_holds_up_no_other() -> None:
    bench = Bench()

    async def test(desk: Desk) -> None:
        slow = [
            asyncio.ensure_future(desk.look(("slow", n), bench.slow, 0, PATIENCE_S))
            for n in range(2)
        ]
        await asyncio.sleep(0)
        for key in ("a", "b", "c"):
            assert await desk.look(key, quick, 0, PATIENCE_S) == "quick"
        assert not any(each.done() for each in slow)
        # What waits for the same shares it.
        slow.append(asyncio.ensure_future(desk.look(("slow", 0), quick, 0, PATIENCE_S)))
        await asyncio.sleep(0)
        bench.may_read.set()
        assert await asyncio.gather(*slow) == ["slow"] * 3

    bench.run(test)


def test_where_nothing_is_slow_one_session_is_enough() -> None:
    bench = Bench()

    async def test(desk: Desk) -> None:
        for key in range(10):
            assert await desk.look(key, quick, 0, PATIENCE_S) == "quick"

    bench.run(test)
    assert len(bench.opened) == 1


def test_sessions_are_bounded() -> None:
    bench = Bench()

    async def test(found: Desk) -> None:
        many = [
            asyncio.ensure_future(found.look(n, bench.slow, 0, PATIENCE_S))
            for n in range(desk.WAITED_FOR)
        ]
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await found.look("x", quick, 0, PATIENCE_S)
        bench.may_read.set()
        await asyncio.gather(*many)

    bench.run(test)
    assert sum(not session.closed for session in bench.opened) == 0


def test_what_acts_keeps_its_session() -> None:
    bench = Bench()

    async def test(desk: Desk) -> None:
        for _ in range(3):
            assert await desk.act(quick, PATIENCE_S) == "quick"
        assert not bench.opened[0].closed

    bench.run(test)
    assert len(bench.opened) == 1


def test_a_button_works_after_the_server_has_ended_the_session() -> None:
    """That is what idle_session_timeout does. Nothing was asked for yet, so it is no second try."""
    bench = Bench()

    async def test(desk: Desk) -> None:
        await desk.act(quick, PATIENCE_S)
        bench.opened[0].lost = True
        assert await desk.act(quick, PATIENCE_S) == "quick"
        assert len(bench.opened) == 2

    bench.run(test)


def test_what_was_asked_for_by_a_button_is_not_done_twice() -> None:
    bench = Bench()
    calls: list[object] = []

    def lost(session: object) -> str:
        calls.append(session)
        raise errors.ConnectionLostError("the server went away")

    async def test(desk: Desk) -> None:
        await desk.act(quick, PATIENCE_S)
        with pytest.raises(errors.ConnectionLostError):
            await desk.act(lost, PATIENCE_S)
        assert len(calls) == 1
        assert await desk.act(quick, PATIENCE_S) == "quick"

    bench.run(test)
