"""What one node said, frozen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from pgsweep.model import compute

if TYPE_CHECKING:
    from pgsweep.fleet.citus import Origin
    from pgsweep.fleet.node import Node
    from pgsweep.model import Blocker, DatabaseAge, RecoveryConflict, Server, Status

FARTHEST_DAYS = 36_500.0


@dataclass(frozen=True)
class NodeReading:
    """What one node said at one moment. None is what is not known there."""

    server: Server
    # None means that this database has no extension.
    status: Status | None = None
    due: int | None = None
    vacuums: int | None = None
    # what all running vacuums do together. Core's views do not know it.
    read_mb_per_s: float | None = None
    dirty_mb_per_s: float | None = None
    wal_mb_per_s: float | None = None
    oldest: DatabaseAge | None = None
    xids_per_s: float | None = None
    # the oldest holder of the horizon, and whose work it does
    blocker: Blocker | None = None
    origin: Origin | None = None
    # queries that were cancelled on this standby
    conflicts: int | None = None
    # the limit of the budget that binds
    binding: str | None = None
    # what this server could not be asked, with the reason
    missing: tuple[str, ...] = ()

    @property
    def mode(self) -> str:
        """Return the mode in effect, or "core" where there is no extension."""
        return "core" if self.status is None else (self.status.effective_mode or "unknown")

    @property
    def mb_per_s(self) -> float | None:
        """Return what vacuums read, dirty and log together."""
        parts = (self.read_mb_per_s, self.dirty_mb_per_s, self.wal_mb_per_s)
        known = [part for part in parts if part is not None]
        return sum(known) if known else None

    @property
    def xid_age(self) -> int | None:
        """Return the age of the oldest database."""
        return self.oldest.xid_age if self.oldest else None

    @property
    def horizon_age(self) -> int:
        """Return the age of the oldest holder of the horizon. Without one it is 0."""
        return (self.blocker.age or 0) if self.blocker else 0

    @property
    def days_left(self) -> float | None:
        """Return the days until the server stops writing, at the present rate."""
        if self.oldest is None or not self.xids_per_s or self.xids_per_s <= 0:
            return None
        days = max(0, compute.STOP_AGE - self.oldest.xid_age) / self.xids_per_s / 86400
        return days if days <= FARTHEST_DAYS else None

    @property
    def held_for(self) -> timedelta | None:
        """Return how long the oldest holder has been there."""
        since = compute.held_since(self.blocker) if self.blocker else None
        return None if since is None else max(timedelta(0), self.server.now - since)


@dataclass(frozen=True)
class Row:
    """A node, and what came of asking it."""

    node: Node
    # how long it took. None means that it was not asked.
    seconds: float | None = None
    reading: NodeReading | None = None
    # why there is no reading. It is empty while the node is being asked.
    trouble: str = ""
    # when it answered last, by the clock of asking.py. None means never.
    answered_at: float | None = None

    @property
    def is_silent(self) -> bool:
        """Tell whether it was asked, and has not answered."""
        return self.reading is None and bool(self.trouble) and not self.node.unasked

    @property
    def role(self) -> str:
        """Return the provider's word for its role, or what the server says of itself."""
        if self.node.role:
            return self.node.role
        if self.reading is None:
            return ""
        return "standby" if self.reading.server.in_recovery else "primary"


def oldest_of(blockers: Iterable[Blocker]) -> Blocker | None:
    """Return the holder that holds the horizon back the most."""
    return max(blockers, key=lambda row: row.age or 0, default=None)


def cancelled(conflicts: Iterable[RecoveryConflict]) -> int:
    """Return how many queries were cancelled on a standby."""
    return sum(row.cancelled or 0 for row in conflicts)
