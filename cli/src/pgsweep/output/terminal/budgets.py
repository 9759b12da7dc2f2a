"""What `budget` prints for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from pgsweep.base import text
from pgsweep.model import Limit
from pgsweep.model.compute import Stretch
from pgsweep.output.terminal import grid
from pgsweep.output.terminal.grid import Column

SENSOR_STYLE = {"broken": "bold red", "absent": "yellow"}
DECISION_STYLE = {"back off": "yellow", "at the floor": "bold yellow", "sensor lost": "bold red"}
STRETCHES = 12


def _name(limit: Limit) -> Text:
    style = "bold green" if limit.binding else SENSOR_STYLE.get(limit.sensor, "")
    return Text(("▶ " if limit.binding else "  ") + limit.name, style=style)


def _detail(limit: Limit) -> str:
    if limit.sensor in SENSOR_STYLE:
        return f"sensor {limit.sensor}: {limit.detail or ''}"
    return limit.detail or ""


COLUMNS = (
    Column[Limit]("  LIMIT", _name, 20),
    Column[Limit]("SET TO", lambda limit: text.figure(limit.configured), 7, right=True),
    Column[Limit]("MEASURED", lambda limit: text.figure(limit.measured), 8, right=True),
    Column[Limit]("UNIT", lambda limit: limit.unit or "", 13, priority=2),
    Column[Limit]("LEAVES MB/s", lambda limit: text.figure(limit.allowed_mb_per_s), 11, True, 1),
    Column[Limit]("DETAIL", _detail, 20, False, 3, True, 100),
)


def lines(limits: Sequence[Limit], stretches: Sequence[Stretch], width: int) -> list[Text]:
    """Return the limits, and what the governor decided below them."""
    return [*limit_lines(limits, width), *step_lines(stretches, width)]


def limit_lines(limits: Sequence[Limit], width: int) -> list[Text]:
    """Return a line for each limit. The one that binds is marked."""
    if not limits:
        return [Text("the governor has not published a budget", style="bold red")]
    layout = grid.fit(COLUMNS, width)
    return [grid.header(layout), *(grid.row(layout, limit) for limit in limits)]


def _decision(stretch: Stretch) -> Text:
    step = stretch.last
    return Text(step.decision, style=DECISION_STYLE.get(step.decision, ""))


STEP_COLUMNS = (
    Column[Stretch]("FROM", lambda s: text.clock(s.first.at), 8),
    Column[Stretch]("FOR", lambda s: text.duration(s.last.at - s.first.at), 8, right=True),
    Column[Stretch]("DECISION", _decision, 13),
    Column[Stretch]("READ", lambda s: text.figure(s.last.read_mb_per_s), 6, True, 3),
    Column[Stretch]("DIRTY", lambda s: text.figure(s.last.dirty_mb_per_s), 6, True, 3),
    Column[Stretch]("WAL", lambda s: text.figure(s.last.wal_mb_per_s), 6, True, 3),
    Column[Stretch]("ALLOWED", lambda s: text.figure(s.last.allowed_mb_per_s), 7, True, 1),
    Column[Stretch]("WHY", lambda s: s.last.reason or "", 20, False, 2, True, 100),
)


def step_lines(stretches: Sequence[Stretch], width: int) -> list[Text]:
    """Return what the governor decided, the latest first.

    Rates are MB/s at a stretch's end.
    """
    if not stretches:
        return []
    layout = grid.fit(STEP_COLUMNS, width)
    shown = stretches[:STRETCHES]
    return [Text(), grid.header(layout), *(grid.row(layout, stretch) for stretch in shown)]
