"""What follows for a fleet as a whole. All of it is pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgsweep.fleet.node import PRIMARIES
from pgsweep.model import compute
from pgsweep.model.compute import described

if TYPE_CHECKING:
    from pgsweep.fleet.reading import NodeReading, Row


@dataclass(frozen=True)
class Skew:
    """How far the largest of a figure is from the median of all nodes that have it."""

    node: str
    largest: float
    median: float

    @property
    def times(self) -> float | None:
        """Return how many times the median the largest is. None means that the median is 0."""
        return self.largest / self.median if self.median > 0 else None


@dataclass(frozen=True)
class Summary:
    """All that is said below the nodes."""

    nodes: int
    machines: int
    answered: int
    asked: int
    # the node that took longest to answer
    slowest: Row | None
    due: Skew | None
    mb_per_s: Skew | None
    # the node whose horizon is held by the oldest holder
    held: Row | None
    # the node whose oldest row is the oldest
    wraparound: Row | None
    # node and problem, the worst first
    problems: tuple[tuple[str, str], ...]

    @property
    def code(self) -> int:
        """Return the exit code: 0 well, 1 needs attention, 2 cannot be told."""
        if not self.answered:
            return 2
        return 1 if self.problems else 0


def summary(rows: Sequence[Row]) -> Summary:
    """Return what follows from what the nodes said."""
    read = [row for row in rows if row.reading is not None]
    held = [row for row in read if row.reading and row.reading.blocker]
    aged = [row for row in read if row.reading and row.reading.oldest]
    return Summary(
        nodes=len(rows),
        machines=len({row.node.host_id or row.node.name for row in rows}),
        answered=len(read),
        asked=sum(not row.node.unasked for row in rows),
        slowest=max(read, key=lambda row: row.seconds or 0.0, default=None),
        due=_skew(read, lambda reading: reading.due),
        mb_per_s=_skew(read, lambda reading: reading.mb_per_s),
        held=max(held, key=lambda row: _read(row).horizon_age, default=None),
        wraparound=max(aged, key=lambda row: _read(row).xid_age or 0, default=None),
        problems=_problems(rows),
    )


def _read(row: Row) -> NodeReading:
    assert row.reading is not None
    return row.reading


def _skew(rows: Sequence[Row], figure: Callable[[NodeReading], float | None]) -> Skew | None:
    """Return the skew of a figure. One node alone has none.

    A standby counts nothing of its own, so only servers that take writes are compared.
    """
    known = [
        (value, row.node.name)
        for row in rows
        if not _read(row).server.in_recovery and (value := figure(_read(row))) is not None
    ]
    return skew(known)


def skew(known: Sequence[tuple[float, str]]) -> Skew | None:
    """Return the skew of figures and their nodes. One node alone has none."""
    if len(known) < 2:
        return None
    largest, node = max(known, key=lambda item: item[0])
    return Skew(node, largest, statistics.median(value for value, _ in known))


def wraparound_pct(age: int) -> float:
    """Return how far an age is on the way to where the server stops writing."""
    return 100.0 * age / compute.STOP_AGE


def _problems(rows: Sequence[Row]) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for row in rows:
        name = row.node.name
        if row.is_silent:
            found.append((name, row.trouble))
        if row.node.state:
            found.append((name, f"{row.node.provider} says: {row.node.state}"))
    for row in rows:
        if row.reading is not None:
            found += [(row.node.name, text) for text in node_problems(row)]
    return tuple(found)


def node_problems(row: Row) -> tuple[str, ...]:
    """Return what needs attention on a node that answered, as `status` would say it."""
    reading = _read(row)
    found = list(_role_problems(row, reading))
    if reading.status is not None:
        found += compute.server_problems(
            reading.server, reading.status, reading.oldest, reading.blocker
        )
        if reading.status.overdue:
            count = compute.plural(reading.status.overdue, "table")
            waited = "has" if reading.status.overdue == 1 else "have"
            found.append(f"{count} {waited} waited longer than five minutes")
        return tuple(found)
    server, oldest, blocker = reading.server, reading.oldest, reading.blocker
    if oldest is not None:
        pct = compute.xid_pct(oldest.xid_age, server.freeze_max_age)
        if pct >= compute.XID_WARN_PCT:
            found.append(
                f'database "{oldest.datname}" is at {pct:.0f} % of autovacuum_freeze_max_age'
            )
    if blocker is not None and compute.is_old(blocker, server.now):
        found.append(
            f"horizon held by {described(blocker, server.dbname)}"
            f"{compute.held_for(blocker, server.now)}"
        )
    if not server.autovacuum:
        found.append("autovacuum is off: tables are vacuumed for their age only")
    return tuple(found)


def _role_problems(row: Row, reading: NodeReading) -> Sequence[str]:
    """Return where provider and server disagree: a failover that is not known yet, or worse."""
    role = row.node.role
    if role in PRIMARIES and reading.server.in_recovery:
        return (f"it is a standby, although {row.node.provider} says that it is {role}",)
    if role in ("replica", "sync_standby", "quorum_standby") and not reading.server.in_recovery:
        return (f"it takes writes, although {row.node.provider} says that it is {role}",)
    return ()
