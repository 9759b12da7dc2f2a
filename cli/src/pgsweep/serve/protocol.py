"""HTTP as uvicorn speaks it, but slow clients do not keep others out.

uvicorn waits for ever until a client has sent the head of its request. Here it has a while. And
where many connections wait for a request, a new one takes the place of the oldest of them.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# Seconds for the head of a request.
HEAD_S = 10.0
# So many connections may be without a request at a time.
WAITING = 48


class Impatient(H11Protocol):
    """A connection."""

    # Those without a request, the oldest first. There is one server in a process.
    _waiting: dict[Impatient, None] = {}  # noqa: RUF012

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, in place of an old one that does nothing."""
        super().connection_made(transport)
        self._head: asyncio.TimerHandle | None = None
        self._wait()
        self._expect_head()
        if len(self._waiting) > WAITING:
            next(iter(self._waiting)).give_way()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._go()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what has come. The head of a request has to be complete soon after it begins."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._go()
        elif self._head is None:
            self._expect_head()

    def on_response_complete(self) -> None:
        """Wait for the next request. uvicorn itself limits for how long that may begin."""
        super().on_response_complete()
        if not self.transport.is_closing() and self.conn.their_state is h11.IDLE:
            self._wait()

    def give_way(self) -> None:
        """End without an answer."""
        # It counts no more from now on. The event loop tells it of the loss later.
        self._go()
        self.connections.discard(self)
        self.transport.abort()

    def _expect_head(self) -> None:
        self._head = self.loop.call_later(HEAD_S, self.transport.abort)

    def _wait(self) -> None:
        self._waiting.pop(self, None)
        self._waiting[self] = None

    def _go(self) -> None:
        self._waiting.pop(self, None)
        if self._head is not None:
            self._head.cancel()
            self._head = None
