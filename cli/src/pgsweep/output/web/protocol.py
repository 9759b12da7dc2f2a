"""HTTP as uvicorn speaks it, but slow clients do not keep others out.

uvicorn waits for ever for the head of a request, for its body after it has answered, and for a
client that does not read. Here a client has a while for each. And where many connections make the
server wait, a new one takes the place of the oldest of them.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# Seconds for the head of a request, for its body, or to read a part of an answer.
PATIENCE_S = 10.0
# So many connections may make the server wait at a time.
WAITING = 48
UNFINISHED = (h11.IDLE, h11.SEND_BODY)


class Impatient(H11Protocol):
    """A connection."""

    # Those that are waited for, the oldest first. There is one server in a process.
    _waiting: dict[Impatient, None] = {}  # noqa: RUF012

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, in place of an old one that does nothing."""
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._wait()
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._go()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what has come. A request has to be complete soon after it begins."""
        super().data_received(data)
        if self.transport.is_closing():
            self._go()
        elif self.conn.their_state in UNFINISHED:
            self._wait()
            self._expect()
        else:
            self._go()

    def on_response_complete(self) -> None:
        """Wait for the next request. uvicorn itself limits for how long that may begin."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:
            # It was answered without its body, and nobody will ever read that.
            self.transport.close()
        elif self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._wait()

    def pause_writing(self) -> None:
        """Give a client a while to read what it has asked for."""
        super().pause_writing()
        self._wait()
        self._expect()

    def resume_writing(self) -> None:
        """Go on: it has read."""
        super().resume_writing()
        if self.conn.their_state not in UNFINISHED:
            self._go()

    def give_way(self) -> None:
        """End without an answer."""
        # It counts no more from now on. The event loop tells it of the loss later.
        self._go()
        self.connections.discard(self)
        self.transport.abort()

    def _expect(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(PATIENCE_S, self.give_way)

    def _wait(self) -> None:
        self._waiting.setdefault(self, None)
        if len(self._waiting) > WAITING:
            next(iter(self._waiting)).give_way()

    def _go(self) -> None:
        self._waiting.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
