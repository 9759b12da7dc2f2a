"""What nobody else remembers for a day: the budget, waiting users and checkpoints, by the minute.

The server has the governor's last steps only, and of checkpoints the last one. So these are noted
while `pgsweep serve` runs, in memory.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pgsweep.base import errors
from pgsweep.output.logs import LOGGER

if TYPE_CHECKING:
    from pgsweep.model import Step
    from pgsweep.output.web.desk import Desk
    from pgsweep.source.db import Session

SPAN = timedelta(hours=24)
MINUTE = timedelta(minutes=1)
LOOK_S = 15.0
PATIENCE_S = 10.0
# The governor has no more of them.
STEPS = 256


@dataclass(frozen=True)
class Minute:
    """What the governor measured and allowed in a minute, in MB/s of reads, dirtied pages and WAL.

    `used` and `waiting` are means. `allowed` is the least. None means that it is not known, or for
    `allowed` that everything was.
    """

    at: datetime
    used: float
    allowed: float | None
    waiting: float | None


@dataclass(frozen=True)
class Pulse:
    """One look at the server."""

    now: datetime
    steps: tuple[Step, ...]
    checkpoint_at: datetime | None


def read(session: Session) -> Pulse:
    """Read the governor's last steps and when the last checkpoint began."""
    steps = session.governor(STEPS) if session.views().budget else ()
    rows = session.dicts("core_checkpoint")
    return Pulse(session.server().now, steps, rows[0]["at"] if rows else None)


class Diary:
    """The notes of the last day."""

    def __init__(self) -> None:
        self._steps: deque[Step] = deque()
        self._minutes: deque[Minute] = deque()
        self._checkpoints: deque[datetime] = deque()
        self.since: datetime | None = None

    def note(self, pulse: Pulse) -> None:
        """Add what is new in a look. Steps of a minute that is over become its sums."""
        if self.since is None:
            self.since = pulse.now
        last = self._steps[-1].at if self._steps else None
        if last is None and self._minutes:
            last = self._minutes[-1].at + MINUTE
        for step in reversed(pulse.steps):
            if last is None or step.at > last:
                self._steps.append(step)
        begun = pulse.now.replace(second=0, microsecond=0)
        over = [step for step in self._steps if step.at < begun]
        for at in sorted({step.at.replace(second=0, microsecond=0) for step in over}):
            self._minutes.append(summed(at, [s for s in over if at <= s.at < at + MINUTE]))
        self._steps = deque(step for step in self._steps if step.at >= begun)
        new = pulse.checkpoint_at
        if new is not None and new >= self.since and new not in self._checkpoints:
            self._checkpoints.append(new)
        while self._minutes and self._minutes[0].at < pulse.now - SPAN:
            self._minutes.popleft()
        while self._checkpoints and self._checkpoints[0] < pulse.now - SPAN:
            self._checkpoints.popleft()

    def minutes(self) -> tuple[Minute, ...]:
        """Return the minutes of the last day in which the governor looked."""
        return tuple(self._minutes)

    def checkpoints(self) -> tuple[datetime, ...]:
        """Return when checkpoints began."""
        return tuple(self._checkpoints)


def summed(at: datetime, steps: Sequence[Step]) -> Minute:
    """Return what a minute's steps came to."""
    allowed = [step.allowed_mb_per_s for step in steps if step.allowed_mb_per_s is not None]
    waiting = [step.users_waiting for step in steps if step.users_waiting is not None]
    used = [
        (step.read_mb_per_s or 0) + (step.dirty_mb_per_s or 0) + (step.wal_mb_per_s or 0)
        for step in steps
    ]
    return Minute(
        at=at,
        used=sum(used) / len(used),
        allowed=min(allowed, default=None),
        waiting=sum(waiting) / len(waiting) if waiting else None,
    )


async def keep(diary: Diary, desk: Desk) -> None:
    """Look again and again. A server that does not answer leaves a gap."""
    while True:
        try:
            diary.note(await desk.look("pulse", read, 0, PATIENCE_S))
        except errors.PgsweepError:
            pass
        except Exception:
            # This is a bug. It is told, and the notes go on.
            LOGGER.exception("noting failed")
        await asyncio.sleep(LOOK_S)
