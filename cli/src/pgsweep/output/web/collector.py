"""Reads the server for whoever asks over HTTP, in one thread and one connection.

Those that ask at the same time share a reading, and one that is young enough serves again. None
of them waits longer than it said. The thread goes on then, and the next one gets what it finds.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from pgsweep.base import errors
from pgsweep.output.logs import LOGGER, say
from pgsweep.output.prometheus.reader import failed
from pgsweep.output.prometheus.reading import Health, Outcome
from pgsweep.output.web.worker import Worker
from pgsweep.source.kept_session import KeptSession

if TYPE_CHECKING:
    from pgsweep.output.prometheus.reader import Reader
    from pgsweep.source.db import Session

Open = Callable[[], "Session"]


class Collector:
    """What was read last, and the thread that reads it. All but `_read` runs in the event loop."""

    def __init__(
        self, open_session: Open, reader: Reader, max_age_s: float, session: Session | None = None
    ) -> None:
        self.health = Health()
        self._max_age_s = max_age_s
        self._last: tuple[float, Outcome] | None = None
        self._pending: asyncio.Future[Outcome] | None = None
        self._source = _Source(open_session, reader, session)
        self._worker = Worker("pgsweep-collect", self._source.close)

    async def stop(self, patience_s: float) -> None:
        """End the session, unless the server takes longer than that to let go of it."""
        await self._worker.stop(patience_s)

    async def outcome(self, timeout_s: float) -> Outcome:
        """Return the last reading if it is young, else a new one."""
        self.health = replace(self.health, scrapes=self.health.scrapes + 1)
        if self._last is not None and time.monotonic() - self._last[0] < self._max_age_s:
            return self._last[1]
        if self._pending is None:
            self._pending = self._worker.do(self._read)
            self._pending.add_done_callback(self._took)
        try:
            # Another scrape may wait for the same reading.
            return await asyncio.wait_for(asyncio.shield(self._pending), timeout_s)
        except asyncio.TimeoutError:
            self.health = replace(self.health, up=False, timeouts=self.health.timeouts + 1)
            return Outcome(error=f"the server did not answer within {timeout_s:g} s")

    def _read(self) -> Outcome:
        begin = time.monotonic()
        try:
            outcome = self._source.read()
        except Exception as exc:
            # This is a bug. It is told and counted, and later scrapes are answered.
            LOGGER.exception("reading failed")
            outcome = Outcome(error=f"{type(exc).__name__}: {exc}")
        return replace(outcome, took_s=time.monotonic() - begin)

    def _took(self, done: asyncio.Future[Outcome]) -> None:
        """Take what was read."""
        outcome, now = done.result(), time.monotonic()
        before = self.health
        self._pending, self._last = None, (now, outcome)
        count = dict(before.part_failures)
        for name in outcome.parts:
            count[name] = count.get(name, 0) + (name in failed(outcome))
        self.health = replace(
            before,
            up=outcome.reading is not None,
            readings=before.readings + 1,
            failures=before.failures + (outcome.reading is None),
            parts={name: why is None for name, why in outcome.parts.items()},
            part_failures=count,
            last_took_s=outcome.took_s,
            last_ended_at=time.time(),
        )


class _Source:
    """The session and its reader. It says when something begins to fail, and ends."""

    def __init__(self, open_session: Open, reader: Reader, session: Session | None) -> None:
        # The reader looks up by itself which views there are.
        self._kept, self._reader = KeptSession(open_session, session, math.inf), reader
        self._was: dict[str, str] = {}

    def read(self) -> Outcome:
        """Read everything, on a new connection if the old one is lost."""
        try:
            outcome = self._kept.read(self._reader.read)
        except errors.PgsweepError as exc:
            outcome = Outcome(error=exc.one_line())
        troubles = dict(failed(outcome))
        if outcome.error is not None:
            troubles["server"] = outcome.error
        if troubles:
            # A new session forgets the plans of what may not be there any more.
            self.close()
        self._tell(troubles)
        return outcome

    def close(self) -> None:
        """End the session, if there is one."""
        self._kept.close()

    def _tell(self, troubles: dict[str, str]) -> None:
        """Say what has changed since the last reading."""
        for name, why in troubles.items():
            if name not in self._was:
                say(logging.ERROR, "cannot read", part=name, error=why)
        for name in self._was.keys() - troubles.keys():
            say(logging.INFO, "reads again", part=name)
        self._was = troubles
