"""The charts of the diary: MB/s against the budget with the checkpoints, and users who waited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from pgsweep.base import text
from pgsweep.output.report import live_plots
from pgsweep.output.report.charts import Chart, Series
from pgsweep.output.web.diary import MINUTE

if TYPE_CHECKING:
    from pgsweep.model import Day
    from pgsweep.output.web.diary import Minute

# Where everything was allowed there is no line. Far more than was used would flatten what was.
MOST_TIMES = 4


@dataclass(frozen=True)
class Notes:
    """What was noted, as far as it is in the day that is shown."""

    minutes: tuple[Minute, ...]
    checkpoints: tuple[datetime, ...]


def _lines(
    minutes: Sequence[Minute], of: Sequence[tuple[str, str, Callable[[Minute], float | None]]]
) -> tuple[tuple[datetime, ...], tuple[Series, ...]]:
    """Return times and lines, with nothing where minutes are missing."""
    times: list[datetime] = []
    shown: list[Minute | None] = []
    for minute in minutes:
        if times and minute.at - times[-1] > MINUTE:
            times.append(times[-1] + MINUTE)
            shown.append(None)
        times.append(minute.at)
        shown.append(minute)
    if times:
        # The last value holds for its minute.
        times.append(times[-1] + MINUTE)
        shown.append(shown[-1])
    series = []
    for label, colour, value in of:
        found = [None if minute is None else value(minute) for minute in shown]
        values = tuple(None if each is None else round(each, 3) for each in found)
        series.append(Series(label, colour, values))
    return tuple(times), tuple(series)


def budget(day: Day, notes: Notes) -> Chart:
    """Return MB/s that vacuums used and might have used, and when checkpoints began."""
    most = max(minute.used for minute in notes.minutes)
    top = max(most * MOST_TIMES, 1.0)

    def allowed(minute: Minute) -> float | None:
        return None if minute.allowed is None else min(minute.allowed, top)

    times, series = _lines(
        notes.minutes,
        (("used", "sweep", lambda minute: minute.used), ("allowed", "worse", allowed)),
    )
    description = (
        f"at most {most:.1f} MB/s used in a minute; {len(notes.checkpoints)} checkpoints, "
        f"the last at {text.clock(notes.checkpoints[-1])}"
        if notes.checkpoints
        else f"at most {most:.1f} MB/s used in a minute; no checkpoint"
    )
    return Chart(
        name="budget",
        title="What vacuums used and might have used",
        description=description,
        shown=live_plots.shown(day),
        times=times,
        series=series,
        unit="MB/s",
        marks=notes.checkpoints,
        marked="checkpoint",
    )


def waiting(day: Day, notes: Notes) -> Chart:
    """Return how many users waited for I/O and WAL, by the minute."""
    times, series = _lines(notes.minutes, (("waiting", "stock", lambda minute: minute.waiting),))
    most = max((value for value in series[0].values if value is not None), default=0.0)
    return Chart(
        name="waiting",
        title="Users that waited while a vacuum ran",
        description=f"at most {most:.1f} users waited on average in a minute",
        shown=live_plots.shown(day),
        times=times,
        series=series,
        unit="users",
    )
