"""What the agent may do, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pgsweep.agent.act import KINDS


@dataclass(frozen=True)
class Rules:
    """What the agent may do."""

    act: bool = False
    kinds: frozenset[str] = frozenset(KINDS)
    # pages read and dirtied by a VACUUM, together
    mb_per_s: float = 20.0
    # minutes of the local day in which rebuilds and freezing ahead may begin: (from, until)
    window: tuple[int, int] | None = None
    # bytes, of the server's data and WAL
    disk_size: int | None = None
    every_s: float = 60.0
    exclude: frozenset[str] = frozenset()

    def is_open(self, at: datetime) -> bool:
        """Tell whether the window is open."""
        if self.window is None:
            return True
        minute, (begin, end) = at.hour * 60 + at.minute, self.window
        return begin <= minute < end if begin <= end else minute >= begin or minute < end
