"""The thread that reads for `top`, so that a slow server never holds up a key."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from pgsweep.base import errors
from pgsweep.findings import sources
from pgsweep.findings.watcher import Watcher
from pgsweep.model import TableHistory
from pgsweep.output.top.state import Verb
from pgsweep.source.kept_session import KeptSession

if TYPE_CHECKING:
    from pgsweep.model import Snapshot, TableKey
    from pgsweep.output.top.state import Question
    from pgsweep.source.db import Session

RETRY_S = 1.0
# What was asked for and could not begin so soon is not done any more.
PATIENCE_S = 10.0
DONE = {
    Verb.CANCEL: "cancel sent to process {pid}",
    Verb.SLOW: "process {pid} is slowed until it is released (=) or top ends",
    Verb.HURRY: "process {pid} hurries until it is released (=) or top ends",
    Verb.RELEASE: "process {pid} is released",
}


def _do(session: Session, asked: Question) -> tuple[bool, str]:
    """Return whether it was done, and what the server said."""
    pid = asked.row.pid
    sources.require_running(session, asked.row)
    if asked.verb is Verb.CANCEL:
        return session.cancel(pid)
    if asked.verb is Verb.SLOW:
        return session.slow(pid)
    if asked.verb is Verb.HURRY:
        return session.hurry(pid)
    return session.release(pid)


class Fetcher(threading.Thread):
    """Reads a snapshot every interval, and reconnects when the connection is lost.

    The callbacks run in this thread, so they must only post messages.
    """

    def __init__(
        self,
        connect: Callable[[], Session],
        session: Session | None,
        interval_s: float,
        on_snapshot: Callable[[Snapshot], None],
        on_trouble: Callable[[str], None],
        on_answer: Callable[[str], None],
        on_history: Callable[[TableHistory], None],
    ) -> None:
        # The thread is a daemon because quitting must not wait for a server that does not answer.
        super().__init__(name="pgsweep-fetch", daemon=True)
        self._kept = KeptSession(connect, session)
        self._interval_s = interval_s
        self._paused = False
        self._stopping = False
        self._wake = threading.Event()
        # With the time when it was asked for.
        self._asked: queue.SimpleQueue[tuple[float, Question]] = queue.SimpleQueue()
        self._on_snapshot = on_snapshot
        self._on_trouble = on_trouble
        self._on_answer = on_answer
        self._on_history = on_history
        self._watcher = Watcher()
        self._story: TableKey | None = None

    def set(self, interval_s: float, paused: bool, story: TableKey | None = None) -> None:
        """Change interval (seconds), whether anything is read at all, and whose history is."""
        self._interval_s, self._paused, self._story = interval_s, paused, story

    def read_now(self) -> None:
        """Read without waiting for the end of the interval."""
        self._wake.set()

    def act(self, question: Question) -> None:
        """Have something done to a vacuum, now or never. The answer comes by on_answer."""
        self._asked.put((time.monotonic(), question))
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
                # The reader knows where it failed to connect. The reason follows that in the
                # message.
                why = " ".join(exc.message.split()).rpartition(" failed: ")[2]
                self._on_trouble(f"no data, retrying: {why}")
                if not self._kept.is_open:
                    self._refuse()
                wait_s = max(wait_s, RETRY_S)
            self._wake.wait(wait_s)
            self._wake.clear()
        self._kept.close()

    def _step(self) -> None:
        if not self._kept.is_open:
            self._kept.do(lambda _session: None)
            self._refuse()
        while not self._asked.empty():
            at, asked = self._asked.get()
            if time.monotonic() - at > PATIENCE_S:
                self._on_answer("nothing was done: the server was slow to answer")
            else:
                self._act_one(asked)
        if not self._paused:
            # What was just asked for comes first.
            if (key := self._story) is not None:
                self._on_history(self._history(key))
            self._on_snapshot(self._kept.do(self._watcher.snapshot))

    def _history(self, key: TableKey) -> TableHistory:
        """Return a table's history, or why it cannot be read. All else goes on."""
        try:
            return self._kept.do(lambda session: self._watcher.history(session, key))
        except errors.ConnectionLostError:
            raise
        except errors.DatabaseError as exc:
            return TableHistory(key, datetime.now(timezone.utc), notes=(exc.one_line(),))

    def _refuse(self) -> None:
        """Forget what was asked for while there was no connection, or no answer."""
        while not self._asked.empty():
            self._asked.get()
            self._on_answer("nothing was done: the server did not answer")

    def _act_one(self, asked: Question) -> None:
        try:
            done, said = self._kept.do(lambda session: _do(session, asked))
        except errors.ConnectionLostError:
            self._on_answer("the connection was lost: look whether it was done")
            raise
        except errors.PgsweepError as exc:
            self._on_answer(exc.one_line())
            return
        if done:
            self._on_answer(DONE[asked.verb].format(pid=asked.row.pid))
        else:
            self._on_answer(said or f"process {asked.row.pid} is not running a vacuum")
