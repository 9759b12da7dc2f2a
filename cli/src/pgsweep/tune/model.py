"""What a limit does, as measured or reckoned. All of it is frozen."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Point:
    """What vacuums came to at one cost limit.

    MB are MiB, as in the seed. None means that a figure is not known.
    """

    limit: int
    rows_per_s: float
    # in percent of one processor
    cpu_percent: float | None = None
    read_mb_per_s: float | None = None
    # pages dirtied
    write_mb_per_s: float | None = None
    wal_mb_per_s: float | None = None
    # everything that the device took, WAL included
    device_write_mb_per_s: float | None = None
    device_percent: float | None = None
    # The credits that were spent, as a share of what limit and delay allow when nothing else
    # takes time.
    budget_percent: float | None = None
    rows: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Measured:
    """Everything an experiment, or the past, says about this server."""

    # "experiment" or "history"
    how: str
    delay_ms: float
    points: tuple[Point, ...]
    # each run of an experiment, in its order
    runs: tuple[Point, ...] = ()
    # credits per dead row
    cost_per_row: float = 0.0
    # where the figures of a column come from, and which could not be had
    notes: tuple[str, ...] = ()


def median(points: Sequence[Point]) -> Point:
    """Return the median of each figure of several runs at one limit."""
    if len({point.limit for point in points}) != 1:
        raise ValueError("not one limit")
    values = {}
    for field in fields(Point):
        found = [getattr(point, field.name) for point in points]
        known = [value for value in found if value is not None]
        values[field.name] = statistics.median(known) if known else None
    return Point(**{**values, "limit": points[0].limit, "rows": int(values["rows"] or 0)})  # type: ignore[arg-type]


def medians(runs: Sequence[Point]) -> tuple[Point, ...]:
    """Return a point for each limit, the greatest limit first."""
    found = sorted({run.limit for run in runs}, reverse=True)
    return tuple(median([run for run in runs if run.limit == limit]) for limit in found)
