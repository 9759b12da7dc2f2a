"""How fast transaction ids are used, from readings of the next one. All of it is pure."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta

STEP = timedelta(minutes=1)
SPAN = timedelta(hours=1)


@dataclass
class XidSamples:
    """One reading a minute, for an hour."""

    _samples: deque[tuple[datetime, int]] = field(default_factory=deque)
    _last: tuple[datetime, int] | None = None

    def add(self, at: datetime, next_xid: int) -> None:
        """Take a reading. One that goes back, in time or in number, is another server's."""
        if self._last is not None and (at < self._last[0] or next_xid < self._last[1]):
            self._samples.clear()
        self._last = (at, next_xid)
        if not self._samples or at - self._samples[-1][0] >= STEP:
            self._samples.append(self._last)
        while at - self._samples[0][0] > SPAN:
            self._samples.popleft()

    def per_s(self) -> float | None:
        """Return transaction ids per second, or None before a minute has passed."""
        if self._last is None:
            return None
        passed = self._last[0] - self._samples[0][0]
        if passed < STEP:
            return None
        return (self._last[1] - self._samples[0][1]) / passed.total_seconds()
