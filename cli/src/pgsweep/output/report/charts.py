"""What a chart shows, as data. The browser draws it (static/charts.js), and a table says the same.

Times are in seconds, given as if the local time were UTC's, so that no zone is applied again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from importlib import resources

from markupsafe import Markup

from pgsweep.base import text

PACKAGE = "pgsweep.output.report"
# Made by tools/charts: https://github.com/leeoniya/uPlot, MIT
LIBRARY = ("vendor/uPlot.iife.min.js", "vendor/uPlot.min.css")
# A table of more rows is no help to anybody.
MOST_ROWS = 48


def seconds(when: datetime) -> int:
    """Return the local time as a chart takes it."""
    local = when.astimezone()
    return round(local.timestamp() + (local.utcoffset() or timedelta(0)).total_seconds())


@cache
def file(name: str) -> str:
    """Return a file of the package, or nothing where it is not there."""
    found = resources.files(PACKAGE).joinpath(name)
    return found.read_text("utf-8") if found.is_file() else ""


def drawn() -> bool:
    """Return whether the library that draws is there. Without it there are tables."""
    return all(file(name) for name in LIBRARY)


def script() -> str:
    """Return the library and what calls it."""
    return f"{file(LIBRARY[0])}\n{file('static/charts.js')}" if drawn() else ""


def style() -> str:
    """Return the style sheet of charts."""
    return file(LIBRARY[1]) + file("static/charts.css")


@dataclass(frozen=True)
class Span:
    """A stretch of time of which something is said."""

    begin: datetime
    end: datetime
    about: str = ""

    def document(self) -> list[object]:
        """Return it for the browser."""
        return [seconds(self.begin), seconds(self.end), self.about]


@dataclass(frozen=True)
class Grid:
    """A table with a head."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Series:
    """A line. Each value holds from its time to the next one's. None: nothing is known."""

    label: str
    colour: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Chart:
    """Lines over time, or stacked areas."""

    name: str
    title: str
    description: str
    shown: Span
    times: tuple[datetime, ...]
    series: tuple[Series, ...]
    unit: str
    stacked: bool = False
    # moments, and what they are
    marks: tuple[datetime, ...] = ()
    marked: str = ""
    unknown: tuple[Span, ...] = ()
    kind: str = field(default="lines", init=False)

    @property
    def json(self) -> Markup:
        """Return what the browser draws."""
        return _json(
            {
                "kind": "stack" if self.stacked else "lines",
                "shown": self.shown.document(),
                "unit": self.unit,
                "times": [seconds(at) for at in self.times],
                "series": [[s.label, s.colour, s.values] for s in self.series],
                "marks": [seconds(at) for at in self.marks],
                "marked": self.marked,
                "unknown": [span.document() for span in self.unknown],
            }
        )

    @property
    def table(self) -> Grid:
        """Return the same in numbers: the most of each stretch, where there are many."""
        step = max(1, -(-len(self.times) // MOST_ROWS))
        rows = []
        for first in range(0, len(self.times), step):
            parts = [
                [value for value in one.values[first : first + step] if value is not None]
                for one in self.series
            ]
            if any(parts):
                cells = (f"{max(part):,.2f}" if part else "" for part in parts)
                rows.append((text.short(self.times[first]), *cells))
        titles = (f"{one.label}, {self.unit}" for one in self.series)
        return Grid(("from", *titles), tuple(rows))


@dataclass(frozen=True)
class Bar:
    """A stretch in a row of a timeline."""

    row: int
    span: Span
    colour: str


@dataclass(frozen=True)
class Timeline:
    """Rows of bars over time."""

    name: str
    title: str
    description: str
    shown: Span
    # the name of each row, and what stands at its end
    rows: tuple[tuple[str, str], ...]
    bars: tuple[Bar, ...]
    # what the colours mean
    legend: tuple[tuple[str, str], ...]
    table: Grid
    unknown: tuple[Span, ...] = ()
    kind: str = field(default="timeline", init=False)

    @property
    def json(self) -> Markup:
        """Return what the browser draws."""
        return _json(
            {
                "kind": "timeline",
                "shown": self.shown.document(),
                "rows": self.rows,
                "bars": [[bar.row, *bar.span.document(), bar.colour] for bar in self.bars],
                "unknown": [span.document() for span in self.unknown],
            }
        )


@dataclass(frozen=True)
class Shares:
    """Rows of bars that are parts of the largest, drawn without a script."""

    name: str
    title: str
    # name, what stands at the end, and the parts: colour, begin and width in per cent, words
    rows: tuple[tuple[str, str, tuple[tuple[str, float, float, str], ...]], ...]
    legend: tuple[tuple[str, str], ...]
    kind: str = field(default="shares", init=False)


def shares(
    name: str,
    title: str,
    rows: Sequence[tuple[str, str, Sequence[tuple[str, float, str]]]],
    legend: tuple[tuple[str, str], ...],
) -> Shares:
    """Return bars of rows: a name, a note, and parts with colour, size and words."""
    most = max((sum(size for _, size, _ in parts) for _, _, parts in rows), default=0) or 1
    found = []
    for label, note, parts in rows:
        begin = 0.0
        bars = []
        for colour, size, about in parts:
            width = 100 * size / most
            bars.append((colour, round(begin, 3), round(width, 3), about))
            begin += width
        found.append((label, note, tuple(bars)))
    return Shares(name, title, tuple(found), legend)


def _json(document: dict[str, object]) -> Markup:
    # "</script>" in a name must not end the element.
    written = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    for sign in "<>&":
        written = written.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(written)
