"""Asks the server for the pages, in a few threads, each with a session of its own.

Whoever looks at the same thing at the same time shares an answer, and one that is young enough
serves again. What is slow to read holds up one thread, and the others go on. What is asked for by a
button is done once, and never again by itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar

from pgsweep.base import errors
from pgsweep.output.web.worker import Worker
from pgsweep.source.kept_session import KeptSession

if TYPE_CHECKING:
    from pgsweep.source.db import Session

T = TypeVar("T")

# So many different things are remembered, or waited for, at a time.
REMEMBERED = 64
WAITED_FOR = 32
# So many things are read at a time.
SEATS = 4


class BusyError(errors.PgsweepError):
    """Too much is asked at a time, or the server does not answer soon enough."""


class Desk:
    """What was read for the pages, and the seats that read it."""

    def __init__(self, open_session: Callable[[], Session]) -> None:
        self._seats = [_Seat(open_session, keeps=number == 0) for number in range(SEATS)]
        self._known: dict[Hashable, tuple[float, Any]] = {}
        self._pending: dict[Hashable, asyncio.Future[Any]] = {}

    async def stop(self, patience_s: float) -> None:
        """End the sessions, unless the server takes longer than that to let go of them."""
        await asyncio.gather(*(seat.worker.stop(patience_s) for seat in self._seats))

    async def look(
        self, key: Hashable, read: Callable[[Session], T], max_age_s: float, patience_s: float
    ) -> T:
        """Return what `read` found, at most so old, or raise what it raised."""
        before = self._known.get(key)
        if before is not None and time.monotonic() - before[0] < max_age_s:
            found: T = before[1]
            return found
        pending = self._pending.get(key)
        if pending is None:
            if len(self._pending) >= WAITED_FOR:
                raise BusyError("too many pages are being read", "Try again in a moment.")
            # The first of those with least to do, which has a session already.
            seat = min(self._seats, key=lambda each: each.worker.waiting)
            pending = seat.worker.do(lambda: seat.read(read))
            self._pending[key] = pending
            pending.add_done_callback(lambda done: self._took(key, done))
        try:
            return await asyncio.wait_for(asyncio.shield(pending), patience_s)
        except asyncio.TimeoutError:
            raise BusyError(f"the server did not answer within {patience_s:g} s") from None

    async def act(self, do: Callable[[Session], T], patience_s: float) -> T:
        """Return what `do` returned. It is not tried again if the connection is lost.

        It is always done by the seat that keeps its session, for slow and hurry last as long as
        that.
        """
        seat = self._seats[0]
        try:
            return await asyncio.wait_for(seat.worker.do(lambda: seat.do(do)), patience_s)
        except asyncio.TimeoutError:
            raise BusyError(
                f"the server did not answer within {patience_s:g} s", "Look whether it was done."
            ) from None

    def forget(self) -> None:
        """Read everything anew from now on."""
        self._known.clear()

    def _took(self, key: Hashable, done: asyncio.Future[Any]) -> None:
        del self._pending[key]
        if done.cancelled() or done.exception() is not None:
            return
        self._known.pop(key, None)
        self._known[key] = (time.monotonic(), done.result())
        while len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]


class _Seat:
    """A thread and its session. One that does not keep it ends it after each reading."""

    def __init__(self, open_session: Callable[[], Session], keeps: bool) -> None:
        self._kept, self._keeps = KeptSession(open_session), keeps
        self.worker = Worker("pgsweep-pages", self._kept.close)

    def read(self, read: Callable[[Session], T]) -> T:
        """Return what was read. For the thread."""
        try:
            return self._kept.read(read)
        finally:
            if not self._keeps:
                self._kept.close()

    def do(self, do: Callable[[Session], T]) -> T:
        """Return what `do` returned, which is called once. For the thread."""
        return self._kept.do(do)
