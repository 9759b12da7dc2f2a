"""The plots of the diary: MB/s against the budget with the checkpoints, and users who waited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from pgsweep.base import text
from pgsweep.output.report.live_plots import milliseconds, time_axis
from pgsweep.output.report.palette import variable
from pgsweep.output.report.svg import NARROW_PX, draw
from pgsweep.output.web.diary import MINUTE

if TYPE_CHECKING:
    from pgsweep.model import Day
    from pgsweep.output.report.svg import Plot, Spec
    from pgsweep.output.web.diary import Minute

USED, ALLOWED, CHECKPOINT = "used", "allowed", "checkpoint"
COLOURS = {USED: variable("sweep"), ALLOWED: variable("worse"), CHECKPOINT: variable("line")}
# Where everything was allowed there is no line. Far more than was used would flatten what was.
MOST_TIMES = 4


@dataclass(frozen=True)
class Notes:
    """What was noted, as far as it is in the day that is shown."""

    minutes: tuple[Minute, ...]
    checkpoints: tuple[datetime, ...]


def _axis(title: str) -> Spec:
    return {"title": title, "domain": False, "ticks": False, "tickCount": 5, "minExtent": 30}


def _pieces(minutes: Sequence[Minute]) -> list[list[Minute]]:
    """Return the stretches without a gap."""
    pieces: list[list[Minute]] = []
    for minute in minutes:
        if not pieces or minute.at - pieces[-1][-1].at > MINUTE:
            pieces.append([])
        pieces[-1].append(minute)
    return pieces


def budget(day: Day, notes: Notes) -> Plot:
    """Return MB/s that vacuums used and might have used, and when checkpoints began."""
    most = max(minute.used for minute in notes.minutes)
    top = max(most * MOST_TIMES, 1.0)
    values = []
    for number, piece in enumerate(_pieces(notes.minutes)):
        for minute in piece:
            for kind, value in ((USED, minute.used), (ALLOWED, minute.allowed)):
                if value is not None:
                    values.append(
                        {
                            "at": milliseconds(minute.at),
                            "kind": kind,
                            "piece": f"{kind} {number}",
                            "rate": round(min(value, top), 3),
                        }
                    )
    marks = [{"at": milliseconds(at), "kind": CHECKPOINT} for at in notes.checkpoints]

    def plan(width: int) -> Spec:
        narrow = width <= NARROW_PX
        colour = {
            "field": "kind",
            "type": "nominal",
            "scale": {"domain": list(COLOURS), "range": list(COLOURS.values())},
        }
        x = {"field": "at", **time_axis(day, narrow)}
        return {
            "height": 160 if narrow else 200,
            "layer": [
                {
                    "data": {"values": marks},
                    "mark": {"type": "rule", "strokeWidth": 1},
                    "encoding": {"x": x, "color": colour},
                },
                {
                    "data": {"values": values},
                    "mark": {"type": "line", "interpolate": "step-after"},
                    "encoding": {
                        "x": x,
                        "y": {"field": "rate", "type": "quantitative", "axis": _axis("MB/s")},
                        "color": colour,
                        "detail": {"field": "piece"},
                    },
                },
            ],
        }

    description = (
        f"at most {most:.1f} MB/s used in a minute; {len(notes.checkpoints)} checkpoints, "
        f"the last at {text.clock(notes.checkpoints[-1])}"
        if notes.checkpoints
        else f"at most {most:.1f} MB/s used in a minute; no checkpoint"
    )
    return draw(plan, "What vacuums used and might have used", description, "budget")


def waiting(day: Day, notes: Notes) -> Plot:
    """Return how many users waited for I/O and WAL, by the minute."""
    values = [
        {"at": milliseconds(m.at), "piece": str(number), "users": round(m.waiting, 3)}
        for number, piece in enumerate(_pieces(notes.minutes))
        for m in piece
        if m.waiting is not None
    ]

    def plan(width: int) -> Spec:
        narrow = width <= NARROW_PX
        return {
            "height": 100 if narrow else 120,
            "data": {"values": values},
            "mark": {"type": "line", "interpolate": "step-after", "color": variable("stock")},
            "encoding": {
                "x": {"field": "at", **time_axis(day, narrow)},
                "y": {"field": "users", "type": "quantitative", "axis": _axis("users")},
                "detail": {"field": "piece"},
            },
        }

    most = max((float(str(value["users"])) for value in values), default=0.0)
    description = f"at most {most:.1f} users waited on average in a minute"
    return draw(plan, "Users that waited while a vacuum ran", description, "waiting")
