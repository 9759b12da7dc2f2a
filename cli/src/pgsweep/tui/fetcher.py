"""The thread that reads for `top`, so that a slow server never holds up a key."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from pgsweep import errors
from pgsweep.db import Session
from pgsweep.model import Snapshot

RETRY_S = 1.0


class Fetcher(threading.Thread):
    """Reads a snapshot every interval, reconnects when the connection is lost.

    The callbacks run in this thread; they must only post messages.
    """

    def __init__(
        self,
        session: Session,
        interval_s: float,
        on_snapshot: Callable[[Snapshot], None],
        on_trouble: Callable[[str], None],
        on_answer: Callable[[str], None],
    ) -> None:
        # A daemon: quitting must not wait for a server that does not answer.
        super().__init__(name="pgsweep-fetch", daemon=True)
        self._session: Session | None = session
        self._reconnect = session.again
        self._interval_s = interval_s
        self._paused = False
        self._stopping = False
        self._wake = threading.Event()
        self._cancels: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._on_snapshot = on_snapshot
        self._on_trouble = on_trouble
        self._on_answer = on_answer

    def set(self, interval_s: float, paused: bool) -> None:
        """Change interval (seconds) and whether anything is read at all."""
        self._interval_s, self._paused = interval_s, paused

    def read_now(self) -> None:
        """Read without waiting for the end of the interval."""
        self._wake.set()

    def cancel(self, pid: int) -> None:
        """Have the vacuum of a process cancelled; the answer comes by on_answer."""
        self._cancels.put(pid)
        self._wake.set()

    def stop(self) -> None:
        """End soon."""
        self._stopping = True
        self._wake.set()

    def run(self) -> None:
        """Read until stopped."""
        while not self._stopping:
            wait_s = self._interval_s
            try:
                self._step()
            except errors.PgsweepError as exc:
                # Where it did not connect to is known; why comes after it.
                why = " ".join(exc.message.split()).rpartition(" failed: ")[2]
                self._on_trouble(f"no data, retrying: {why}")
                self._drop()
                wait_s = max(wait_s, RETRY_S)
            self._wake.wait(wait_s)
            self._wake.clear()
        self._drop()

    def _step(self) -> None:
        if self._session is None:
            self._session = self._reconnect()
        while not self._cancels.empty():
            self._cancel_one(self._session, self._cancels.get())
        if not self._paused:
            self._on_snapshot(self._session.snapshot())

    def _cancel_one(self, session: Session, pid: int) -> None:
        try:
            asked, said = session.cancel(pid)
        except errors.ConnectionLostError:
            raise
        except errors.DatabaseError as exc:
            self._on_answer(exc.one_line())
            return
        if asked:
            self._on_answer(f"cancel sent to process {pid}")
        else:
            self._on_answer(said or f"process {pid} is not running a vacuum")

    def _drop(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None
