"""A thread that does one thing after another for the event loop."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class _Work:
    what: Callable[[], Any]
    answer: asyncio.Future[Any]


class Worker:
    """The thread. All but `what` and `at_end` runs in the event loop.

    It starts with its first work. It is a daemon: a server that does not answer must not hold the
    process.
    """

    def __init__(self, name: str, at_end: Callable[[], None]) -> None:
        self._given: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._at_end = at_end
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        # How much was given to it and is not done.
        self.waiting = 0

    def do(self, what: Callable[[], T]) -> asyncio.Future[T]:
        """Have the thread call this, and return its result or its error, later."""
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        if self._thread.ident is None:
            self._thread.start()
        self._given.put(_Work(what, answer))
        self.waiting += 1
        return answer

    async def stop(self, patience_s: float) -> None:
        """End the thread, unless it takes longer than that."""
        if self._thread.ident is None:
            self._at_end()
            return
        self._given.put(None)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + patience_s
        while self._thread.is_alive() and loop.time() < deadline:
            await asyncio.sleep(0.02)

    def _run(self) -> None:
        while (work := self._given.get()) is not None:
            found, failure = None, None
            # Where nobody waits for it any more: what a button asked for comes in time or never.
            if not work.answer.cancelled():
                try:
                    found = work.what()
                except Exception as exc:
                    failure = exc
            loop = work.answer.get_loop()
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._answer, work.answer, found, failure)
        self._at_end()

    def _answer(
        self, answer: asyncio.Future[Any], found: object, failure: Exception | None
    ) -> None:
        self.waiting -= 1
        if answer.done():
            return
        if failure is not None:
            answer.set_exception(failure)
        else:
            answer.set_result(found)
